from colk.terms cimport Term

cdef class Kernel(Term):
    cdef readonly Py_ssize_t depth
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points,
                     Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
    cdef int add_frequency(self, Py_ssize_t seed, double[::1] out) except -1 nogil

cpdef int evaluate(Kernel kernel, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] weights,
                   Py_ssize_t row, const double[:, ::1] X, double[:, ::1] out) except -1
