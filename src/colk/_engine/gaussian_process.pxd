# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport processes

cpdef int matern_tables(const double[:, ::1] Z, double[:, ::1] table, double[:, ::1] slopes) except -1
cpdef int matern_gradient(const double[:, ::1] Z, const double[:, ::1] outer, double[:, ::1] slopes, double[:, ::1] product, double[::1] sums, double[::1] out) except -1
@cython.locals(failed="int")
cpdef bint likelihood(const double[:, ::1] table, const double[:, ::1] Y, const double[::1] weight, double variance, double noise, double[:, ::1] outer, double[:, ::1] solved, double[::1] out) except -1
