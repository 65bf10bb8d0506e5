from colk cimport draws, lanes
from colk.kernels.base cimport Kernel

cdef class Composite(Kernel):
    pass

cdef class Several(Composite):
    cdef readonly tuple parts
    cdef readonly Kernel left, right

cdef class Sum(Several):
    cdef double share

cdef class Product(Several):
    pass

cdef class Scaled(Composite):
    cdef readonly Kernel kernel
    cdef readonly double factor
