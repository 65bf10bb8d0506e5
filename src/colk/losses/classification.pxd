from colk cimport maths as math
from colk.losses.base cimport Loss

cdef class Logistic(Loss):
    pass

cdef class Hinge(Loss):
    pass

cdef class SquaredHinge(Loss):
    pass

cdef class SmoothHinge(Loss):
    cdef readonly double smoothing

cdef class Softmax(Loss):
    pass
