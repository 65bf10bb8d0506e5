cimport cython
from colk._engine.simd cimport loops, maths as math
from colk.kernels.base cimport Kernel

@cython.final
cdef class Dictionary:
    cdef readonly Kernel kernel
    cdef readonly Py_ssize_t n_features, n_rows, n_priced, n_fitted, block, capacity
    cdef readonly Py_ssize_t size, n_ghosts, added
    cdef readonly bint has_factor, merges_in_closed_form
    cdef double[:, ::1] atoms_t, weights_t, factor, points, amounts, columns, solutions, halves
    cdef double[:, ::1] ghosts, ghost_atoms, ghost_columns, gram, scratch, trial, origin
    cdef double[:, ::1] schur, lower, inverse, small_factor, carries, given, shares
    cdef double[::1] own, diagonal, carry, sums, spent, novelty, prices, charges, small_diagonal, small_carry
    cdef double least, squared_move
    cdef Py_ssize_t[::1] order, labels
    cdef int evaluate_columns(self, const double[:, ::1] points, Py_ssize_t size, bint ghosts) except -1 nogil
    cdef int evaluate_at(self, const double[:, ::1] point) except -1 nogil
    cdef double combine(self, Py_ssize_t row) noexcept nogil
    cdef void append_row(self, Py_ssize_t b, double novelty) noexcept nogil
    cdef void append_second_row(self, Py_ssize_t b, double novelty, double shared) noexcept nogil
    cdef void take_in(self, Py_ssize_t b) noexcept nogil
    @cython.locals(squares=double)
    cdef double price(self, Py_ssize_t j) noexcept nogil
    @cython.locals(amount=double, share=double, charge=double)
    cdef double drop_atom(self, Py_ssize_t j) noexcept nogil
    cdef void take_out(self, Py_ssize_t j) noexcept nogil
    cdef void scale_rows(self, Py_ssize_t first, Py_ssize_t count, double factor) noexcept nogil
    cdef void forget(self) noexcept nogil
