cimport cython
from colk._engine cimport counter_rng
from colk._engine.counter_rng cimport uniform
from colk._engine.simd cimport maths as math

cdef Py_ssize_t CAPACITY, FEWEST
cdef double FAR, WIDEST
cdef unsigned long long _SEED

cdef class SortedSample:
    cdef readonly double level
    cdef readonly Py_ssize_t n_seen, size
    cdef double[:, ::1] values, weights, keys, limits
    cdef double _normal, _half, _key, _largest
    cdef bint _is_full
    cpdef bint takes_next(self) noexcept
    @cython.locals(place=Py_ssize_t)
    cpdef void insert(self, Py_ssize_t column, double value, double weight) noexcept
    @cython.locals(i=Py_ssize_t)
    cdef void _draw_keys(self, double[::1] keys) noexcept
    @cython.locals(place=Py_ssize_t)
    cdef Py_ssize_t _leaving(self, Py_ssize_t column) noexcept
    @cython.locals(i=Py_ssize_t, largest=double)
    cdef void _find_largest(self) noexcept
    @cython.final
    cdef inline void _move(self, Py_ssize_t column, Py_ssize_t source, Py_ssize_t target) noexcept
    cpdef bint is_complete(self, Py_ssize_t n_seen) noexcept
    cpdef void uncount(self) noexcept
    cpdef double low(self, Py_ssize_t column) noexcept
    cpdef double high(self, Py_ssize_t column) noexcept
    cpdef double widest(self, Py_ssize_t column) noexcept
    @cython.locals(is_low=bint)
    cpdef bint has_outliers(self, Py_ssize_t column) noexcept
    @cython.locals(
        i=Py_ssize_t, middle=Py_ssize_t, total=double, below=double, median=double, spread=double,
        typical=double, apart=double,
    )
    cdef void _limit(self, Py_ssize_t column) noexcept
    @cython.locals(i=Py_ssize_t, total=double)
    cdef double _weight_at(self, Py_ssize_t column, double value) noexcept
    @cython.locals(
        left=Py_ssize_t, right=Py_ssize_t, median=double, reached=double, found=double,
        below=double, above=double,
    )
    cdef double _deviation(self, Py_ssize_t column, Py_ssize_t middle, double wanted, double skipped) noexcept
    @cython.locals(i=Py_ssize_t, total=double, mean=double)
    cpdef double mean(self, Py_ssize_t column) noexcept
    @cython.locals(i=Py_ssize_t, total=double, deviation=double, share=double, gap=double)
    cpdef double deviation(self, Py_ssize_t column, double mean) noexcept
    @cython.locals(value=double)
    cdef double _clipped(self, Py_ssize_t column, Py_ssize_t i) noexcept
    cpdef void copy_from(self, SortedSample other) noexcept

cdef class LatestRows:
    cdef double[:, ::1] _values
    cdef double[::1] _replaced
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t _block
    cpdef int begin_row(self) except -1
    @cython.locals(place=Py_ssize_t)
    cpdef int set(self, Py_ssize_t j, double value) except -1
    @cython.locals(place=Py_ssize_t, j=Py_ssize_t)
    cpdef int undo(self) except -1
    cpdef bint is_off(self, Py_ssize_t j, double unit, double rounding) except -1
