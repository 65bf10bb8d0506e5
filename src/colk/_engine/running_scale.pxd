cimport cython
from colk._engine.simd cimport maths as math

cdef double ROUNDING

cdef class RunningScale:
    cdef readonly double total
    cdef double[::1] _means, _deviations, _units
    cdef double _total_before, _mean_before, _deviation_before, _unit_before
    @cython.locals(
        total=double, share=double, gap=double, mean=double, deviation=double, unit=double
    )
    cpdef double update(self, double value, double weight) except? -1.5e300
    cpdef int undo(self) except -1
    cpdef double unscaled_one(self, double score) noexcept
    @cython.locals(
        i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t, weight=double, share=double,
        kept=double, moved=double, gap=double,
    )
    cpdef int absorb(self, double[:, ::1] X, double[::1] weights=*) except -1
    @cython.locals(i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t)
    cpdef int scale(self, double[:, ::1] X) except -1

cdef double unit_of(double mean, double deviation) noexcept
