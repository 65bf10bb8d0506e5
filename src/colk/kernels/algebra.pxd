# Made from the .py file by tools/declarations.py.
from colk._engine cimport counter_rng
from colk._engine.simd cimport loops
from colk.kernels.base cimport Kernel

cdef class Composite(Kernel):
    cdef readonly tuple parts
    cdef readonly Kernel left
    cdef readonly Kernel right
    cdef int combine(self, double[:, ::1] out, Py_ssize_t left, Py_ssize_t right, Py_ssize_t n) except -1 nogil

cdef class Sum(Composite):
    cdef double share

cdef class Product(Composite):
    pass

cdef class Scaled(Product):
    cdef readonly Kernel kernel
    cdef readonly double factor
