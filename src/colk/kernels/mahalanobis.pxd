cimport cython
from colk.kernels.base cimport Kernel

cdef class Mahalanobis(Kernel):
    cdef readonly Kernel kernel
    cdef readonly object matrix, rows
