cimport cython
from colk._engine.simd cimport maths as math

cdef class RunningScale:
    cdef readonly double total, mean, deviation, unit
    @cython.locals(new=RunningScale)
    cpdef RunningScale including(self, double y, double weight)
    cpdef double scaled(self, double y) noexcept
    cpdef double unscaled(self, double score) noexcept
