# Made from the .py file by tools/declarations.py.
cimport cython
from colk.losses cimport base
from colk.losses.base cimport Loss

cdef class Quantiles(Loss):
    cdef readonly tuple levels
    cdef const double[::1] table
    cdef const double[::1] shifts
    @cython.locals(c="Py_ssize_t", excess="double", total="double")
    cdef double evaluate(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes) except? -1.5e300 nogil
    @cython.locals(apart="double", c="Py_ssize_t", excess="double", slope="double", total="double", y="double")
    cdef double curvature(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes, double width) except? -1.5e300 nogil

cdef class ShiftedQuantiles(Quantiles):
    pass
