# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport KernelContract
from colk._engine.simd cimport loops

cdef Py_ssize_t _TURN

cdef class Kernel(KernelContract):
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
    cdef int add_frequency(self, unsigned long long seed, double[::1] out) except -1 nogil

cdef class FormulaKernel(Kernel):
    cdef loops.Columns loop
    cdef double constant
    cdef Py_ssize_t n_bound
    cdef const double[::1] scales
    cdef object bound_formula
    cdef inline int check_bound(self, Py_ssize_t n_features) except -1 nogil
    cdef int columns_by_formula(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil

@cython.locals(b="Py_ssize_t", j="Py_ssize_t", panel="double[:, ::1]", size="Py_ssize_t", start="Py_ssize_t")
cpdef int tabulate(Kernel kernel, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] X, double[:, ::1] out) except -1
