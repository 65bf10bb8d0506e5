from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk
from colk._engine.contracts cimport TrackerContract

cdef double _EXPONENT_CAP

cdef class CVaR(LossRisk):
    cdef readonly double tail_fraction, weight, smoothing

cdef class Entropic(LossRisk):
    cdef readonly double tilt
