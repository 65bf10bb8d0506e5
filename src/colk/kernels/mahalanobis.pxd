# Made from the .py file by tools/declarations.py.
from colk.kernels.base cimport Kernel

cdef class Mahalanobis(Kernel):
    cdef readonly Kernel kernel
    cdef readonly object matrix
    cdef readonly object rows
