# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.user_functions cimport addresses

cdef class Function:
    cdef readonly object given
    cdef readonly object signature
    cdef readonly object role
    cdef object plain
    cdef object machine_code
    cdef size_t address
    cdef bint ready
    cdef inline size_t found(self) except? 0 nogil
    cdef int resolve(self) except -1

cdef class OfNumbers(Function):
    cdef double at(self, double a, double b) except? -1.5e300 nogil

cdef class OfPoints(Function):
    @cython.locals(answered="bint", b="Py_ssize_t", j="Py_ssize_t")
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
    @cython.locals(b="Py_ssize_t", j="Py_ssize_t")
    cdef int _ask(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1

cdef class OfLoss(Function):
    cdef Py_ssize_t m
    cdef double at(self, double loss, const double* g, Py_ssize_t i) except? -1.5e300 nogil
    @cython.locals(arguments="list")
    cdef double _ask(self, double loss, const double* g, Py_ssize_t i) except? -1.5e300

cdef class OfArrays(Function):
    cdef int write(self, const double[:, ::1] F, Py_ssize_t i, const double[:, ::1] Y, Py_ssize_t j, const double[::1] g, double[::1] out, Py_ssize_t start) except -1 nogil
    @cython.locals(k="Py_ssize_t")
    cdef int _ask(self, const double[:, ::1] F, Py_ssize_t i, const double[:, ::1] Y, Py_ssize_t j, const double[::1] g, double[::1] out, Py_ssize_t start) except -1
    @cython.locals(row="Py_ssize_t", size="Py_ssize_t")
    cpdef int tabulate(self, const double[:, ::1] F, const double[:, ::1] Y, const double[::1] g, double[::1] out) except -1
