# What `math` is to compiled code.
cdef extern from "<math.h>" nogil:
    double sqrt(double), exp(double), expm1(double), log(double), log1p(double), floor(double)
    double cos(double), tan(double), tanh(double), sinh(double)
    double pow(double, double), hypot(double, double)
    bint isfinite(double), isnan(double)
    double inf "INFINITY", nan "NAN", pi "3.141592653589793"
