cimport cython
from colk._engine.simd cimport maths as math
from colk._engine.gradient_step cimport KernelStream

cdef class Feed:
    cdef readonly KernelStream stream
    cdef readonly list names
    cdef readonly Py_ssize_t first
    cpdef int learn(self, x, double y, double weight) except -2
    cpdef list scores(self, x)
    @cython.locals(total=double, features=dict)
    cdef bint place(self, x, bint whole) except -1
