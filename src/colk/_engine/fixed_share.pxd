# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math

@cython.final
cdef class FixedShare:
    cdef readonly double[::1] weights
    cdef readonly double[::1] lost
    cdef double[::1] returned
    cdef readonly Py_ssize_t n
    cdef readonly double share
    @cython.locals(e="Py_ssize_t", total="double")
    cpdef int update(self) noexcept nogil
