cimport cython
from colk._engine.simd cimport loops, maths as math
from colk._engine.dictionary cimport Dictionary

cdef Py_ssize_t HALF, SOLUTION, FIRST, MOST_PENDING, FORMER, HALVES, PRODUCTS, ROWS, ATOMS_PENDING
cdef double LEAST_VARIANCE

@cython.locals(top=double, side=double, length=double)
cdef void find_turns(Dictionary d, Py_ssize_t j, double[:, ::1] turns) noexcept nogil

@cython.final
cdef class Covariance:
    cdef readonly double prior, forgetting
    cdef readonly Py_ssize_t pending, expected, place
    cdef bint multiplied
    cdef double[:, ::1] matrix, rows, turns
    cdef double[::1] amounts
    cdef Py_ssize_t room(self) noexcept nogil
    cdef void expect(self, Py_ssize_t count) noexcept nogil
    cdef void turn_to(self, Py_ssize_t place, Py_ssize_t n) noexcept nogil
    @cython.locals(shared=double, count=Py_ssize_t, columns=Py_ssize_t)
    cdef Py_ssize_t multiply(self, Py_ssize_t n) noexcept nogil
    cdef void settle(self, Py_ssize_t n, Py_ssize_t count, Py_ssize_t z, Py_ssize_t h, Py_ssize_t columns) noexcept nogil
    cdef void extend(self, Py_ssize_t n, Py_ssize_t h, double novelty, double prior) noexcept nogil
    cdef void keep_half(self, Py_ssize_t n, double entry) noexcept nogil
    cdef void remember(self, double forgetting) noexcept nogil
    @cython.locals(amount=double, most=double, lapse=double)
    cdef void shrink(self, double bend, double usual, double gain, double variance, double own) noexcept nogil
    cdef void note(self, double amount) noexcept nogil
    cdef void start_anew(self, Py_ssize_t n) noexcept nogil
    cdef void turn_out(self, Dictionary d, Py_ssize_t j) noexcept nogil
    @cython.locals(leaving=double, below=double, c=double, s=double)
    cdef void turn_row(self, Py_ssize_t row, Py_ssize_t j, Py_ssize_t last) noexcept nogil
    cpdef dense(self, Dictionary d)
    cpdef raw(self, Py_ssize_t n)
