cimport cython
from colk._engine.simd cimport loops, maths as math
from colk._engine.dictionary cimport Dictionary

cdef Py_ssize_t WHITENED, PRODUCT, FIRST, MOST_PENDING, FORMER, WHITENED_AHEAD, PRODUCTS_AHEAD, ROWS, ATOMS_PENDING
cdef double LEAST_VARIANCE

@cython.locals(top=double, side=double, length=double)
cdef void find_rotations(Dictionary d, Py_ssize_t j, double[:, ::1] rotations) noexcept nogil

@cython.final
cdef class InverseCurvature:
    cdef readonly double prior, forgetting
    cdef readonly Py_ssize_t pending, expected, place
    cdef bint multiplied
    cdef double[:, ::1] matrix, rows, rotations
    cdef double[::1] amounts
    cdef Py_ssize_t room(self) noexcept nogil
    cdef void expect(self, Py_ssize_t count) noexcept nogil
    cdef void select(self, Py_ssize_t place, Py_ssize_t n) noexcept nogil
    @cython.locals(count=Py_ssize_t, columns=Py_ssize_t)
    cdef Py_ssize_t multiply(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t multiply_only(self, Py_ssize_t n) noexcept nogil
    @cython.locals(shared=double)
    cdef void correct(self, Py_ssize_t n, Py_ssize_t h) noexcept nogil
    cdef void catch_up_and_multiply(self, Py_ssize_t n, Py_ssize_t count, Py_ssize_t z, Py_ssize_t h, Py_ssize_t columns) noexcept nogil
    cdef void extend(self, Py_ssize_t n, Py_ssize_t h, double novelty, double prior) noexcept nogil
    cdef void keep_whitened(self, Py_ssize_t n, double entry) noexcept nogil
    cdef void set_forgetting(self, double forgetting) noexcept nogil
    @cython.locals(amount=double, most=double, lapse=double)
    cdef void add_curvature(self, double curvature, double usual, double gain, double variance, double own) noexcept nogil
    cdef void subtract(self, double amount) noexcept nogil
    cdef void restart(self, Py_ssize_t n) noexcept nogil
    cdef void drop(self, Dictionary d, Py_ssize_t j) noexcept nogil
    @cython.locals(leaving=double, below=double, c=double, s=double)
    cdef void rotate_row(self, Py_ssize_t row, Py_ssize_t j, Py_ssize_t last) noexcept nogil
    cpdef dense(self, Dictionary d)
    cpdef raw(self, Py_ssize_t n)
