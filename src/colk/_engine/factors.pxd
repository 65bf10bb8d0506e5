# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport lapack

@cython.locals(failed="int")
cpdef bint factorise(double[:, ::1] A) except -1
cpdef int invert_factor(double[:, ::1] L) except -1
cpdef int invert_triangle(double[:, ::1] L) except -1
cpdef int whiten(double[:, ::1] triangle, double[:, ::1] rows) except -1
cpdef int weigh_and_square(double[:, ::1] rows, const double[::1] roots, double[:, ::1] square) except -1
@cython.locals(failed="int")
cpdef bint ridge_triangle(double[:, ::1] A, const double[:, ::1] K, double ridge, double jitter) except -1
cpdef int whiten_and_sum(double[:, ::1] triangle, double[:, ::1] rows, const double[:, ::1] targets, double[:, ::1] sums) except -1
cpdef int lengths_and_values(const double[:, ::1] rows, Py_ssize_t size, const double[:, ::1] weights, double[::1] lengths, double[:, ::1] values) except -1
