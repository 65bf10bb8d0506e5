from colk._engine.simd cimport sparse_rows
from colk.kernels.base cimport Kernel

cdef class OfRows(Kernel):
    cdef readonly Kernel kernel
    cdef readonly object rows
    cdef const Py_ssize_t[::1] starts, places
    cdef const double[::1] values, norms, tails
    cdef Py_ssize_t n_columns, degree
    cdef int profile
    cdef double scale, constant
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
