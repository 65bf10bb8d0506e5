# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.gradient_step cimport KernelStream
from colk._engine.running_scale cimport RunningScale
from colk._engine.simd cimport maths as math

cdef class Feed:
    cdef readonly KernelStream stream
    cdef readonly list keys
    cdef readonly list needed
    cdef double[::1] held
    cdef readonly Py_ssize_t first
    cdef object lock
    cdef RunningScale scale
    cpdef bint learn_alone(self, x, double y, double weight) except -1
    cpdef int learn(self, x, double y, double weight) except -2
    @cython.locals(learned="bint")
    cdef bint scale_and_step(self, double y, double weight) except -1
    cdef int step(self, double y, double weight) except -2
    cpdef list scores(self, x)
    cpdef list placed(self)
    @cython.locals(column="Py_ssize_t", features="dict", held="double", n_found="Py_ssize_t", number="double", total="double")
    cdef bint place(self, x, bint whole) except -1
