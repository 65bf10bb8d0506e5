# Made from the .py file by tools/declarations.py.
cimport cython
from colk.kernels.base cimport FormulaKernel
from colk.kernels.base cimport Kernel

cdef class Polynomial(FormulaKernel):
    cdef readonly Py_ssize_t degree
    cdef readonly double offset

cdef class Linear(FormulaKernel):
    pass

cdef class Constant(Kernel):
    cdef readonly double value
    @cython.locals(j="Py_ssize_t", row="Py_ssize_t")
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
