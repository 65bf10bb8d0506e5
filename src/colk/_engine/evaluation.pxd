cimport cython
from colk._engine.contracts cimport KernelContract
from colk._engine.simd cimport loops

cdef Py_ssize_t PANEL

@cython.locals(start=Py_ssize_t, size=Py_ssize_t, panel=double[:, ::1], b=Py_ssize_t, c=Py_ssize_t)
cpdef int evaluate(KernelContract kernel, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] weights, Py_ssize_t row, const double[:, ::1] X, double[:, ::1] out) except -1
