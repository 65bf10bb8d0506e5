# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk

cdef double _EXPONENT_CAP

cdef class CVaR(LossRisk):
    cdef readonly double tail_fraction
    cdef readonly double weight
    cdef readonly double smoothing

cdef class Entropic(LossRisk):
    cdef readonly double tilt
