cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.fixed_share cimport FixedShare
from colk._engine.newton_iterate cimport NewtonIterate
from colk._engine.simd cimport loops, maths as math

cdef Py_ssize_t SECOND, FAST, FIRST, EXPERTS
cdef double MOST_LOSS, RATE, SHARE, FAST_LAPSE, FIRST_LAPSE, SPEED

cdef class ExpertMixture(NewtonIterate):
    cdef readonly double first_step
    cdef double[:, ::1] predictions, slopes, curvatures, multiples, gains
    cdef FixedShare mixture
    cdef readonly double[::1] mixture_weights
    cdef double[::1] lost, mixed
    cdef Py_ssize_t row_of(self, Py_ssize_t e) noexcept nogil
    cdef void keep_mixed_losses(self) noexcept nogil
    cdef void show(self, Py_ssize_t e) noexcept nogil
    @cython.locals(place=Py_ssize_t, is_finite=bint, slope=double)
    cdef void note(self, Py_ssize_t e, double lost) noexcept nogil
    cdef void mix_predictions(self) noexcept nogil
    @cython.locals(least=double)
    cdef void update_weights(self) noexcept nogil
    cdef void add_pending(self) noexcept nogil
    cdef void add_multiple(self, Py_ssize_t e) noexcept nogil
    @cython.locals(gain=double, wide_gain=double, length=double, outer=double, inner=double, price=double, cost=double, wide=double)
    cdef double plan(self, Py_ssize_t b, double variance, double extended, double squares, double beyond, double prior) noexcept nogil
    @cython.locals(curvature=double, most=double, speed=double)
    cdef double gain_of(self, Py_ssize_t e, Py_ssize_t b, double variance) noexcept nogil
    @cython.locals(moved=double, amount=double, gain=double, place=Py_ssize_t, first_squares=double, own=double, entered=Py_ssize_t, n=Py_ssize_t)
    cdef double move(self, Py_ssize_t b, Py_ssize_t h, bint enters, double squares, double novelty) noexcept nogil
    @cython.locals(squares=double)
    cdef double expert_length(self, Py_ssize_t e, Py_ssize_t b) noexcept nogil
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.locals(squares=double, w=double)
    cdef double price(self, Py_ssize_t j) noexcept nogil
    @cython.locals(least=double, best=Py_ssize_t)
    cdef Py_ssize_t cheapest(self) noexcept nogil
    @cython.locals(hidden=double, cost=double)
    cdef double drop(self, Py_ssize_t j) noexcept nogil
