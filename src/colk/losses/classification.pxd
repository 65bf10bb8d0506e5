cimport cython
from colk cimport maths as math
from colk.losses.base cimport Loss

cdef class MarginLoss(Loss):
    pass

cdef class Logistic(MarginLoss):
    pass

cdef class Hinge(MarginLoss):
    pass

cdef class SquaredHinge(MarginLoss):
    pass

cdef class SmoothHinge(MarginLoss):
    cdef readonly double smoothing

cdef class Softmax(Loss):
    @cython.locals(classes=Py_ssize_t, label=Py_ssize_t, top=Py_ssize_t, k=Py_ssize_t, rest=double, others=double)
    cdef double evaluate(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row,
                         double[:, ::1] slopes) except? -1.5e300 nogil
