# Made from the .py file by tools/declarations.py.
from colk._engine.user_functions.base cimport OfArrays
from colk._engine.user_functions.base cimport OfPoints
from colk.kernels.base cimport Kernel

cdef class CustomKernel(Kernel):
    cdef OfPoints _function
    cdef readonly object gradient
