# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.dictionary cimport Dictionary
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.window cimport Window

cdef class NewtonIterate:
    cdef readonly InverseCurvature P
    cdef double[::1] pending
    cdef bint is_pending
    cdef Py_ssize_t last
    cdef double[::1] beside
    cdef Py_ssize_t first_beside
    cdef double length
    cdef double curvature
    cdef double gain
    cdef double wide_gain
    cdef double new_price
    cdef Dictionary dictionary
    cdef Window window
    cdef Py_ssize_t n_outputs
    cdef int bring_up_to_date(self) noexcept nogil
    cdef void spread_pending(self) noexcept nogil
    @cython.locals(amount="double", c="Py_ssize_t", n="Py_ssize_t")
    cdef void add_pending(self) noexcept nogil
    @cython.final
    @cython.locals(i="Py_ssize_t")
    cdef void add_beside(self) noexcept nogil
    @cython.final
    @cython.locals(i="Py_ssize_t", own="double")
    cdef void take_weights_beside(self, Py_ssize_t j, double variance) noexcept nogil
    @cython.final
    @cython.locals(i="Py_ssize_t")
    cdef void whiten_atom(self, Py_ssize_t j) noexcept nogil
    @cython.locals(c="Py_ssize_t")
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.locals(c="Py_ssize_t", squares="double")
    cdef double length_of(self, Py_ssize_t b) noexcept nogil
    @cython.locals(inside="double", price="double")
    cdef double plan(self, Py_ssize_t b, double variance, double extended, double squares, double beyond, double prior) noexcept nogil
    @cython.locals(c="Py_ssize_t")
    cdef double move(self, Py_ssize_t b, Py_ssize_t h, bint enters, double squares, double novelty) noexcept nogil
    cdef double price(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t cheapest(self) noexcept nogil
    cdef double drop(self, Py_ssize_t j) noexcept nogil
