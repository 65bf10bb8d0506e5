from colk._engine cimport inverse_curvature
from colk._engine.simd cimport loops
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.dictionary cimport Dictionary
cimport cython

cdef Py_ssize_t FEW, MOST, FEWEST_ATOMS

@cython.final
cdef class Lookahead:
    cdef Dictionary dictionary
    cdef InverseCurvature P
    cdef Py_ssize_t row, ready, first, reach
    cpdef void forget(self) noexcept nogil
    cdef int proceed(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int prepare(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int move_to_front(self) noexcept nogil
    cdef void whiten(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef bint find(self, Py_ssize_t b, Py_ssize_t size) noexcept nogil

cdef void move_to_front(Dictionary d, Py_ssize_t row) noexcept nogil
