# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.fourier cimport Spectrum
from colk._engine.gradient_step cimport GradientStream
from colk._engine.quasigradient cimport QuasiGradientStream
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.losses.regression cimport AdaptiveTube

cdef class TubeStream(GradientStream):
    cdef readonly AdaptiveTube tube

cdef class FeatureStream(QuasiGradientStream):
    @cython.locals(b="Py_ssize_t")
    cdef int write_columns(self) except -1 nogil
    cdef double rate(self, Py_ssize_t t) noexcept nogil
    cdef void move(self, double step, double* coefficients) noexcept nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t")
    cdef void descend(self, Py_ssize_t first, double factor, double* coefficients) noexcept nogil

cdef class ExtrapolatingStream(FeatureStream):
    pass

cdef class NestedStream(FeatureStream):
    cdef readonly double proximity
    cdef readonly double gradient_gain
    cdef readonly double tracking_gain

cdef class DrawingStream(FeatureStream):
    cdef readonly Spectrum spectrum
