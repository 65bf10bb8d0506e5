cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.dictionary cimport Dictionary
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.simd cimport loops, maths as math
from colk._engine.window cimport Window

cdef class NewtonIterate:
    cdef Dictionary dictionary
    cdef Window window
    cdef readonly InverseCurvature P
    cdef Py_ssize_t n_outputs, last, first_beside
    cdef bint is_pending
    cdef double[::1] pending, beside
    cdef double length, curvature, gain, wide_gain, new_price
    cdef int bring_up_to_date(self) noexcept nogil
    cdef void spread_pending(self) noexcept nogil
    @cython.locals(amount=double, n=Py_ssize_t)
    cdef void add_pending(self) noexcept nogil
    @cython.final
    cdef void add_beside(self) noexcept nogil
    @cython.final
    @cython.locals(own=double)
    cdef void take_weights_beside(self, Py_ssize_t j, double variance) noexcept nogil
    @cython.final
    cdef void whiten_atom(self, Py_ssize_t j) noexcept nogil
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.locals(squares=double)
    cdef double length_of(self, Py_ssize_t b) noexcept nogil
    @cython.locals(price=double, inside=double)
    cdef double plan(self, Py_ssize_t b, double variance, double extended, double squares, double beyond, double prior) noexcept nogil
    cdef double move(self, Py_ssize_t b, Py_ssize_t h, bint enters, double squares, double novelty) noexcept nogil
    cdef double price(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t cheapest(self) noexcept nogil
    cdef double drop(self, Py_ssize_t j) noexcept nogil
