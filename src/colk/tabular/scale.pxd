cimport cython
from colk._engine.simd cimport maths as math

cdef class RunningScales:
    cdef readonly double count
    cdef double[::1] _means, _squares
    @cython.locals(
        i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t,
        gap=double, left=double, share=double, unit=double,
    )
    cpdef int absorb(self, double[:, ::1] X) except -1
    @cython.locals(i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t, units="double[::1]")
    cpdef int scale(self, double[:, ::1] X) except -1
