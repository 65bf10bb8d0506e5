cimport cython
from colk._engine cimport gradient_step, inverse_curvature
from colk._engine.simd cimport loops, maths as math
from colk._engine.newton_step cimport NewtonStream

cdef Py_ssize_t SECOND, HASTY, FIRST, EXPERTS
cdef double MOST_LOSS, RATE, SHARE, HASTY_LAPSE, FIRST_LAPSE, HASTE

cdef class ExpertStream(NewtonStream):
    cdef readonly double first_step
    cdef double[:, ::1] predictions, slopes, bends, lacks, gains
    cdef readonly double[::1] says
    cdef double[::1] lost, mixed
    @cython.final
    cdef Py_ssize_t row_of(self, Py_ssize_t e) noexcept nogil
    cdef int curve_window(self) except -1 nogil
    @cython.final
    cdef void evaluate_expert(self, Py_ssize_t e) noexcept nogil
    @cython.final
    @cython.locals(place=Py_ssize_t, sound=bint, slope=double)
    cdef void note_expert(self, Py_ssize_t e) noexcept nogil
    @cython.final
    @cython.locals(unit=double, total=double, counted=double)
    cdef double counted_loss(self) noexcept nogil
    @cython.final
    @cython.locals(least=double, total=double)
    cdef void weigh_experts(self) noexcept nogil
    cdef void catch_up(self) noexcept nogil
    @cython.final
    cdef void give(self, Py_ssize_t e) noexcept nogil
    @cython.locals(enters=bint, bend=double, own=double, variance=double, novelty=double, gain=double, error=double, price=double, cost=double, squares=double)
    cdef double take(self, Py_ssize_t b, double eps) except? -1.5e300 nogil
    @cython.final
    @cython.locals(bend=double, most=double, haste=double)
    cdef double gain(self, Py_ssize_t e, Py_ssize_t b, double variance) noexcept nogil
    @cython.final
    @cython.locals(moved=double, amount=double, gain=double, place=Py_ssize_t)
    cdef void move(self, Py_ssize_t b, Py_ssize_t entered, double squares, double first_squares) noexcept nogil
    @cython.final
    @cython.locals(squares=double)
    cdef double length_of(self, Py_ssize_t e, Py_ssize_t b) noexcept nogil
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.locals(squares=double, w=double)
    cdef double price(self, Py_ssize_t j) noexcept nogil
    @cython.locals(least=double, best=Py_ssize_t)
    cdef Py_ssize_t cheapest(self) noexcept nogil
    @cython.locals(hidden=double, cost=double)
    cdef double drop(self, Py_ssize_t j) noexcept nogil
