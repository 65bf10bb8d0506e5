# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math
from colk.losses.base cimport Loss

cdef class Logistic(Loss):
    pass

cdef class Hinge(Loss):
    pass

cdef class SquaredHinge(Loss):
    pass

cdef class SmoothHinge(Loss):
    cdef readonly double smoothing

cdef class Softmax(Loss):
    @cython.locals(k="Py_ssize_t", largest="double", size="double")
    cdef double curvature(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes, double width) except? -1.5e300 nogil
