# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math

cdef double _LARGEST_EXPONENT

cdef double positive_part(double u, double smoothing) noexcept nogil
cdef double positive_part_slope(double u, double smoothing) noexcept nogil
cdef double power(double base, double exponent) noexcept nogil
cdef double growth(double exponent) noexcept nogil
@cython.locals(_="Py_ssize_t", total="double")
cdef double powers(double u, Py_ssize_t order) noexcept nogil
@cython.locals(k="Py_ssize_t", total="double")
cdef double powers_slope(double u, Py_ssize_t order) noexcept nogil
