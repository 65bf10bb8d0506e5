cimport cython
from colk._engine.simd cimport maths as math

@cython.final
cdef class FixedShare:
    cdef readonly Py_ssize_t n
    cdef readonly double share
    cdef readonly double[::1] first, weights, lost
    cdef double[::1] returned
    @cython.locals(total=double)
    cpdef int update(self) noexcept nogil
