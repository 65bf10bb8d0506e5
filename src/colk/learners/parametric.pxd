cimport cython
from colk cimport lanes
from colk.spectral cimport Spectrum
from colk.quasigradient cimport QuasiGradientStream

cdef class FeatureStream(QuasiGradientStream):
    cdef void show(self) noexcept nogil
    cdef double rate(self, Py_ssize_t t) noexcept nogil
    cdef bint tracks_first(self) noexcept nogil
    cdef void move(self, double step) noexcept nogil

cdef class ExtrapolatingStream(FeatureStream):
    pass

cdef class NestedStream(FeatureStream):
    cdef readonly double proximity, gradient_gain, tracking_gain

cdef class DrawingStream(QuasiGradientStream):
    cdef readonly Spectrum spectrum
