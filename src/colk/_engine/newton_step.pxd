cimport cython
from colk._engine cimport gradient_step, inverse_curvature, lookahead
from colk._engine.simd cimport loops, maths as math
from colk._engine.lookahead cimport Ahead
from colk.compressors cimport pursuit
from colk.compressors.pursuit cimport KOMP
from colk._engine.inverse_curvature cimport Covariance
from colk._engine.gradient_step cimport KernelStream

cdef Py_ssize_t LATEST
cdef double TAIL, TAIL_RATE, SHARE_RATE, MOST_BEYOND

cdef class NewtonStream(KernelStream):
    cdef KOMP rule
    cdef readonly Covariance P
    cdef Ahead ahead
    cdef readonly double trust, late
    cdef readonly bint is_kinked, restart
    cdef public double level, spread, distance, tail_loss, beyond, squared_slope, mean_curvature
    cdef public Py_ssize_t restarts, rested_until
    cdef Py_ssize_t last
    cdef bint owing
    cdef double[::1] owed, noise
    cdef int make_room(self) except -1
    @cython.locals(before=Py_ssize_t, eps=double, error=double)
    cdef int step(self) except -1 nogil
    cdef int review(self, Py_ssize_t steps) except -1 nogil
    @cython.final
    @cython.locals(loss=double, gap=double, share=double, columns=Py_ssize_t)
    cdef void follow_spreads(self, double rate) noexcept nogil
    @cython.final
    @cython.locals(above=double, loss=double)
    cdef bint has_changed(self) noexcept nogil
    cdef int curve_window(self) except -1 nogil
    @cython.final
    @cython.locals(width=double, least=double, reach=double)
    cdef int curve(self) except -1 nogil
    @cython.final
    @cython.locals(squares=double)
    cdef double length(self, Py_ssize_t b) noexcept nogil
    cdef int foresee(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int lay_columns(self) except -1 nogil
    @cython.final
    cdef void halve(self, Py_ssize_t b) noexcept nogil
    @cython.final
    cdef void spread_last(self) noexcept nogil
    @cython.locals(amount=double, n=Py_ssize_t)
    cdef void catch_up(self) noexcept nogil
    cdef int rest(self) except -1 nogil
    @cython.locals(enters=bint, bend=double, own=double, variance=double, novelty=double, gain=double, error=double, prior=double)
    cdef double take(self, Py_ssize_t b, double eps) except? -1.5e300 nogil
    @cython.final
    cdef double fresh_prior(self) noexcept nogil
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.final
    cdef void append(self, Py_ssize_t b, double novelty) noexcept nogil
    @cython.final
    cdef void note_length(self, double square) noexcept nogil
    @cython.final
    cdef void note_noise(self, Py_ssize_t b, double gain, double length, double bend) noexcept nogil
    @cython.final
    @cython.locals(crowded=bint, spent=double, moved=double)
    cdef double prune(self, double eps) noexcept nogil
    cdef double hand_over(self, Py_ssize_t j) noexcept nogil
    cdef double price(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t cheapest(self) noexcept nogil
    cdef double drop(self, Py_ssize_t j) noexcept nogil
