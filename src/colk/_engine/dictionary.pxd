cimport cython
from colk._engine.contracts cimport KernelContract, Scratch
from colk._engine.simd cimport loops, maths as math

@cython.final
cdef class Dictionary:
    cdef readonly KernelContract kernel
    cdef readonly Py_ssize_t n_features, n_rows, n_priced, n_fitted, block, capacity
    cdef readonly Py_ssize_t size, n_ghosts, added, dropped
    cdef readonly bint has_factor
    cdef double[:, ::1] atoms_t, weights_t, factor, ghosts, ghost_atoms, ghost_columns
    cdef double[:, ::1] points, amounts, columns, gram
    cdef double[::1] own, diagonal, carry, spent
    cdef double squared_move, peak
    cdef Py_ssize_t[::1] order
    cdef readonly Scratch scratch
    @cython.locals(atoms="double[:, ::1]", weights="double[:, ::1]", factor="double[:, ::1]",
                   ghosts="double[:, ::1]", ghost_atoms="double[:, ::1]", columns="double[:, ::1]",
                   ghost_columns="double[:, ::1]", own="double[::1]", diagonal="double[::1]",
                   carry="double[::1]")
    cdef _resize(self, Py_ssize_t wanted)
    cdef int evaluate_columns(self, const double[:, ::1] points, Py_ssize_t size, bint ghosts) except -1 nogil
    cdef int evaluate_at(self, const double[:, ::1] point) except -1 nogil
    cdef double combine(self, Py_ssize_t row) noexcept nogil
    cdef void append_row(self, Py_ssize_t b, double[:, ::1] solutions, Py_ssize_t row, double novelty) noexcept nogil
    cdef void append_second_row(self, Py_ssize_t b, double[:, ::1] solutions, double novelty, double shared) noexcept nogil
    cdef void append(self, Py_ssize_t b) noexcept nogil
    @cython.locals(least=double, price=double)
    cdef Py_ssize_t cheapest(self) noexcept nogil
    @cython.locals(largest=double)
    cdef Py_ssize_t near_dependent(self) noexcept nogil
    @cython.locals(squares=double)
    cdef double price(self, Py_ssize_t j) noexcept nogil
    @cython.locals(amount=double, share=double, charge=double)
    cdef double drop_atom(self, Py_ssize_t j) noexcept nogil
    cdef void remove(self, Py_ssize_t j) noexcept nogil
    cdef void scale_rows(self, Py_ssize_t first, Py_ssize_t count, double factor) noexcept nogil
    cdef void begin_step(self) noexcept nogil
