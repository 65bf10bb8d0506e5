from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.base cimport LossRisk
from colk.trackers cimport Tracker
from colk._engine.window cimport Window

cdef double _EXPONENT_CAP

cdef class CVaR(LossRisk):
    cdef readonly double tail_fraction, weight, smoothing

cdef class Entropic(LossRisk):
    cdef readonly double tilt
