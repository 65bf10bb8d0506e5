from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk
from colk._engine.contracts cimport TrackerContract

cdef double _RATIO_CAP, _EXPONENT_CAP, _LARGEST_CHANGE

cdef class ChiSquareDRO(LossRisk):
    cdef readonly double radius
    cdef double ratio(self, double loss, const double* g) noexcept nogil

cdef class KLDRO(LossRisk):
    cdef readonly double radius
    cdef double exponent(self, double loss, const double* g) noexcept nogil
