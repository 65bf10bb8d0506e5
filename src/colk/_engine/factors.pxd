# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport lapack

@cython.locals(failed="int")
cpdef bint factorise(double[:, ::1] A) except -1
cpdef int invert_factor(double[:, ::1] L) except -1
cpdef int invert_triangle(double[:, ::1] L) except -1
cpdef int whiten(double[:, ::1] triangle, double[:, ::1] rows) except -1
