from colk.functions.base cimport OfNumbers
from colk.losses.base cimport Loss

cdef class CustomLoss(Loss):
    cdef OfNumbers _value, _slope
    cdef object _kind
    cdef bint _is_convex
    cdef tuple _kinks
