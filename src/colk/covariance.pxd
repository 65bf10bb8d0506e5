cimport cython
from colk cimport lanes, maths as math
from colk.dictionary cimport Dictionary

cdef Py_ssize_t HALF, SOLUTION, FIRST, MOST_PENDING, FORMER, ATOMS_PENDING, TILE
cdef double LEAST_VARIANCE

@cython.final
cdef class Covariance:
    cdef readonly double prior, forgetting
    cdef readonly Py_ssize_t pending
    cdef double[:, ::1] matrix, rows, turns
    cdef double[::1] amounts
    @cython.locals(shared=double, count=Py_ssize_t)
    cdef Py_ssize_t multiply(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t extend(self, Py_ssize_t n, Py_ssize_t h, double novelty) noexcept nogil
    cdef void keep_half(self, Py_ssize_t n, double entry) noexcept nogil
    cdef void remember(self, double forgetting) noexcept nogil
    @cython.locals(amount=double, most=double, lapse=double)
    cdef void shrink(self, double bend, double usual, double gain, double variance, double own) noexcept nogil
    cdef void settle(self, Py_ssize_t n) noexcept nogil
    cdef void start_anew(self, Py_ssize_t n) noexcept nogil
    @cython.locals(top=double, side=double, length=double)
    cdef void turn_out(self, Dictionary d, Py_ssize_t j) noexcept nogil
    cpdef dense(self, Dictionary d)

@cython.locals(band=Py_ssize_t, tile=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t)
cdef void mirror(double[:, ::1] P, Py_ssize_t n) noexcept nogil
@cython.locals(band=Py_ssize_t, tile=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t, kept=double)
cdef void transpose(double[:, ::1] P, Py_ssize_t n) noexcept nogil
