# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport KernelContract
from colk._engine.simd cimport loops

cdef Py_ssize_t PANEL

@cython.locals(b="Py_ssize_t", c="Py_ssize_t", panel="double[:, ::1]", size="Py_ssize_t", start="Py_ssize_t")
cpdef int evaluate(KernelContract kernel, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] weights, Py_ssize_t row, const double[:, ::1] X, double[:, ::1] out) except -1
