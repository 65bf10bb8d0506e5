# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport LossContract

cdef double NEAREST

cdef class Loss(LossContract):
    cdef double loss_at(self, double f, double y) except? -1.5e300 nogil
    cdef double slope_at(self, double f, double y) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", total="double")
    cdef double evaluate(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes) except? -1.5e300 nogil
    @cython.locals(apart="double", side="double")
    cdef double curvature_at(self, double f, double y, double width) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", largest="double")
    cdef double curvature(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes, double width) except? -1.5e300 nogil
    @cython.locals(row="Py_ssize_t")
    cpdef int evaluate_rows(self, double[:, ::1] F, double[:, ::1] Y, double[::1] values, double[:, ::1] slopes) except -1
