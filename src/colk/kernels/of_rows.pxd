# Made from the .py file by tools/declarations.py.
from colk._engine.simd cimport sparse_rows
from colk.kernels.base cimport Kernel

cdef class OfRows(Kernel):
    cdef readonly Kernel kernel
    cdef readonly object rows
    cdef const Py_ssize_t[::1] starts
    cdef const Py_ssize_t[::1] places
    cdef const double[::1] values
    cdef const double[::1] norms
    cdef const double[::1] tails
    cdef Py_ssize_t n_columns
    cdef int profile
    cdef double scale
    cdef double constant
    cdef Py_ssize_t degree
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
