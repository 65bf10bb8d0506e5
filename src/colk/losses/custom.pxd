# Made from the .py file by tools/declarations.py.
from colk._engine.user_functions.base cimport OfNumbers
from colk.losses.base cimport Loss

cdef class CustomLoss(Loss):
    cdef OfNumbers _value
    cdef OfNumbers _slope
    cdef readonly object value_function
    cdef readonly object slope_function
    cdef readonly dict _given
