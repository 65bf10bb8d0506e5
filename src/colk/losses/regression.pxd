from colk.losses.base cimport Loss

cdef class Squared(Loss):
    pass

cdef class Huber(Loss):
    cdef readonly double threshold
