from colk._engine.simd cimport maths as math

cdef double _LARGEST_EXPONENT
cdef double positive_part(double u, double smoothing) noexcept nogil
cdef double positive_part_slope(double u, double smoothing) noexcept nogil
cdef double power(double base, double exponent) noexcept nogil
cdef double growth(double exponent) noexcept nogil
cdef double powers(double u, Py_ssize_t order) noexcept nogil
cdef double powers_slope(double u, Py_ssize_t order) noexcept nogil
