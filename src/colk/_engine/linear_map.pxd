# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport loops

@cython.locals(i="Py_ssize_t")
cdef int write_transformed(const double[:, ::1] X, const double[:, ::1] rows, double[:, ::1] out) except -1
