cimport cython
from colk.losses cimport base
from colk.losses.base cimport Loss

cdef class Quantiles(Loss):
    cdef readonly tuple levels
    cdef const double[::1] table, shifts
    @cython.locals(c=Py_ssize_t, total=double, excess=double)
    cdef double evaluate(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row,
                         double[:, ::1] slopes) except? -1.5e300 nogil
    @cython.locals(c=Py_ssize_t, total=double, y=double, excess=double, apart=double,
                   slope=double)
    cdef double curvature(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row,
                          double[:, ::1] slopes, double width) except? -1.5e300 nogil

cdef class ShiftedQuantiles(Quantiles):
    pass
