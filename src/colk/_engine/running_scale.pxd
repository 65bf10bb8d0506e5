cimport cython
from colk._engine.simd cimport maths as math
from colk._engine.sorted_sample cimport LatestRows, SortedSample

cdef double ROUNDING

cdef class RunningScale:
    cdef readonly double total, level
    cdef double[::1] _means, _deviations, _centers, _units, _before
    cdef readonly SortedSample sample
    cdef SortedSample _sample_before
    cdef bint _was_kept, _watches
    cdef double[:, ::1] _held
    cdef readonly bint is_stale
    cdef public bint holds
    cdef readonly LatestRows latest
    @cython.locals(is_kept=bint)
    cpdef double update(self, double value, double weight) except? -1.5e300
    @cython.locals(before=double[::1], j=Py_ssize_t)
    cdef void _remember(self, bint is_kept) noexcept
    @cython.locals(before=double[::1], j=Py_ssize_t)
    cpdef int undo(self) except -1
    @cython.locals(moved=double, share=double, gap=double)
    cdef int _update_column(self, Py_ssize_t j, double value, double weight, bint is_kept) except -1
    cdef int _begin_row(self) except -1
    @cython.locals(mean=double, deviation=double, n_seen=Py_ssize_t)
    cdef int _use(self, Py_ssize_t j) except -1
    cpdef double unscaled_one(self, double score) noexcept
    @cython.locals(
        i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t, weight=double, is_kept=bint
    )
    cpdef int absorb(self, double[:, ::1] X, double[::1] weights=*) except -1
    @cython.locals(i=Py_ssize_t, j=Py_ssize_t, n=Py_ssize_t, width=Py_ssize_t)
    cpdef int scale(self, double[:, ::1] X) except -1

cdef double unit_of(double mean, double deviation) noexcept
