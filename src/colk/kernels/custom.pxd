from colk._engine.user_functions.base cimport OfArrays, OfPoints
from colk.kernels.base cimport Kernel

cdef class CustomKernel(Kernel):
    cdef OfPoints _function
    cdef readonly object gradient
