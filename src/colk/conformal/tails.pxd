# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.fixed_share cimport FixedShare
from colk._engine.simd cimport maths as math

cdef double KEPT
cdef double RATE
cdef double MOST_LOSS
cdef double LEVEL
cdef double SHARE
cdef double CORRECTION
cdef double EXCESS
cdef double LEAST
cdef double LARGEST
cdef double FULL_ROUND

@cython.final
cdef class RecentValues:
    cdef readonly tuple sizes
    cdef readonly Py_ssize_t n_views
    cdef Py_ssize_t n_sizes
    cdef readonly Py_ssize_t window
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t place
    cdef Py_ssize_t room
    cdef Py_ssize_t[::1] lengths
    cdef double[:, ::1] ring
    cdef double[:, ::1] ordered
    @cython.locals(memory="Py_ssize_t", view="Py_ssize_t")
    cpdef int add_row(self, const double[:, ::1] rows, Py_ssize_t i) except -1
    cdef inline Py_ssize_t _next_place(self) noexcept nogil
    @cython.locals(free="Py_ssize_t", last="Py_ssize_t", length="Py_ssize_t", n="Py_ssize_t", oldest="Py_ssize_t", row="Py_ssize_t")
    cdef Py_ssize_t _replace(self, Py_ssize_t view, Py_ssize_t memory, double value) noexcept nogil
    @cython.locals(high="Py_ssize_t", low="Py_ssize_t", middle="Py_ssize_t")
    cdef Py_ssize_t _rank(self, Py_ssize_t row, Py_ssize_t n, double value) noexcept nogil
    cdef inline Py_ssize_t _known(self, Py_ssize_t memory) noexcept nogil
    @cython.locals(after="Py_ssize_t", before="Py_ssize_t", found="double", last="Py_ssize_t", low="double", place="double", row="Py_ssize_t")
    cpdef double quantile(self, Py_ssize_t view, Py_ssize_t memory, double share) noexcept nogil
    @cython.locals(apart="double", high="Py_ssize_t", last="Py_ssize_t", low="Py_ssize_t", row="Py_ssize_t")
    cpdef double unit(self, Py_ssize_t view, Py_ssize_t memory) noexcept nogil

@cython.final
cdef class Tail:
    cdef readonly double share
    cdef readonly Py_ssize_t n_views
    cdef Py_ssize_t n_memories
    cdef readonly double excess
    cdef double level
    cdef Py_ssize_t seen
    cdef readonly double distance
    cdef readonly double unit
    cdef readonly double[::1] views
    cdef double[::1] steps
    cdef double[::1] bases
    cdef double[::1] spreads
    cdef FixedShare mixture
    @cython.locals(k="Py_ssize_t", memory="Py_ssize_t", moving="double", view="Py_ssize_t", weight="double")
    cdef Py_ssize_t _mix(self, RecentValues recent) noexcept nogil
    cdef double _corrected(self, RecentValues recent) noexcept nogil
    cpdef double correction(self) noexcept nogil
    @cython.locals(moved="double")
    cpdef int judge(self, Py_ssize_t n_beyond, Py_ssize_t n) except -1
    cdef inline double _loss(self, double residual) noexcept nogil
    @cython.locals(alone="double", k="Py_ssize_t", loss="double", mixed="double", moved="double", unit="double", view="Py_ssize_t")
    cpdef int learn(self, const double[:, ::1] rows, Py_ssize_t i, RecentValues recent) except -1
