# The functions of `math` for compiled code.
cdef extern from "<math.h>" nogil:
    double sqrt(double x)
    double exp(double x)
    double expm1(double x)
    double log(double x)
    double log1p(double x)
    double cos(double x)
    double tan(double x)
    double tanh(double x)
    double sinh(double x)
    double pow(double x, double y)
    double hypot(double x, double y)
    bint isfinite(double x)
    double inf "INFINITY", nan "NAN", pi "3.141592653589793"
