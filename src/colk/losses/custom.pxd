from colk._engine.user_functions.base cimport OfNumbers
from colk.losses.base cimport Loss

cdef class CustomLoss(Loss):
    cdef OfNumbers _value, _slope
    cdef readonly object value_function, slope_function
    cdef readonly dict _given
