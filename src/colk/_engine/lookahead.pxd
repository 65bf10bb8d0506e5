# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.dictionary cimport Dictionary
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.simd cimport loops

cdef Py_ssize_t FEW, MOST
cdef Py_ssize_t FEWEST_ATOMS

@cython.final
cdef class Lookahead:
    cdef Py_ssize_t row
    cdef Py_ssize_t ready
    cdef Py_ssize_t first
    cdef Py_ssize_t reach
    cdef Dictionary dictionary
    cdef InverseCurvature P
    cpdef void forget(self) noexcept nogil
    cdef int proceed(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    @cython.locals(k="Py_ssize_t")
    cdef int prepare(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int move_to_front(self) noexcept nogil
    cdef void whiten(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef bint find(self, Py_ssize_t b, Py_ssize_t size) noexcept nogil

@cython.locals(k="Py_ssize_t")
cdef void move_to_front(Dictionary d, Py_ssize_t row) noexcept nogil
