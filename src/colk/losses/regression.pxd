# Made from the .py file by tools/declarations.py.
from colk._engine.simd cimport maths as math
from colk.losses.base cimport Loss

cdef double _FAR

cdef class Squared(Loss):
    pass

cdef class Huber(Loss):
    cdef readonly double threshold

cdef class LogCosh(Loss):
    cdef readonly double scale

cdef class Welsch(Loss):
    cdef readonly double scale

cdef class Tukey(Loss):
    cdef readonly double threshold

cdef class EpsilonInsensitive(Loss):
    cdef readonly double tube

cdef class AdaptiveTube(EpsilonInsensitive):
    cdef readonly double nu
    cdef double adapt(self, double f, double y, double step) noexcept nogil

cdef class SquaredEpsilonInsensitive(Loss):
    cdef readonly double tube

cdef class Pinball(Loss):
    cdef readonly double quantile

cdef class Expectile(Loss):
    cdef readonly double level
