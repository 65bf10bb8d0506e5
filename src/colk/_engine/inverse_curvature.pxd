# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math

cdef Py_ssize_t WHITENED, PRODUCT, FIRST
cdef Py_ssize_t MOST_PENDING
cdef Py_ssize_t FORMER
cdef Py_ssize_t WHITENED_AHEAD
cdef Py_ssize_t PRODUCTS_AHEAD
cdef Py_ssize_t ROWS
cdef Py_ssize_t ATOMS_PENDING
cdef double LEAST_VARIANCE

@cython.final
cdef class InverseCurvature:
    cdef readonly double prior
    cdef readonly double forgetting
    cdef double[:, ::1] matrix
    cdef double[:, ::1] rows
    cdef double[::1] amounts
    cdef readonly Py_ssize_t pending
    cdef readonly Py_ssize_t expected
    cdef readonly Py_ssize_t place
    cdef bint multiplied
    cdef double[:, ::1] rotations
    cdef Py_ssize_t room(self) noexcept nogil
    cdef void expect(self, Py_ssize_t count) noexcept nogil
    cdef void select(self, Py_ssize_t place, Py_ssize_t n) noexcept nogil
    @cython.locals(columns="Py_ssize_t", count="Py_ssize_t")
    cdef Py_ssize_t multiply(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t multiply_only(self, Py_ssize_t n) noexcept nogil
    @cython.locals(r="Py_ssize_t", shared="double")
    cdef void correct(self, Py_ssize_t n, Py_ssize_t h) noexcept nogil
    cdef void catch_up_and_multiply(self, Py_ssize_t n, Py_ssize_t count, Py_ssize_t z, Py_ssize_t h, Py_ssize_t columns) noexcept nogil
    @cython.locals(i="Py_ssize_t", row="Py_ssize_t")
    cdef void extend(self, Py_ssize_t n, Py_ssize_t h, double novelty, double prior) noexcept nogil
    @cython.locals(i="Py_ssize_t")
    cdef void keep_whitened(self, Py_ssize_t n, double entry) noexcept nogil
    cdef void set_forgetting(self, double forgetting) noexcept nogil
    @cython.locals(amount="double", lapse="double", most="double")
    cdef void add_curvature(self, double curvature, double usual, double gain, double variance, double own) noexcept nogil
    cdef void subtract(self, double amount) noexcept nogil
    @cython.locals(i="Py_ssize_t", j="Py_ssize_t")
    cdef void restart(self, Py_ssize_t n) noexcept nogil
    @cython.locals(i="Py_ssize_t", row="Py_ssize_t")
    cdef void drop(self, Dictionary d, Py_ssize_t j) noexcept nogil
    @cython.locals(below="double", c="double", i="Py_ssize_t", leaving="double", s="double")
    cdef void rotate_row(self, Py_ssize_t row, Py_ssize_t j, Py_ssize_t last) noexcept nogil
    cpdef dense(self, Dictionary d)
    @cython.locals(r="Py_ssize_t")
    cpdef raw(self, Py_ssize_t n)

@cython.locals(i="Py_ssize_t", length="double", side="double", top="double")
cdef void find_rotations(Dictionary d, Py_ssize_t j, double[:, ::1] rotations) noexcept nogil
