# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk

cdef double _RATIO_CAP
cdef double _EXPONENT_CAP
cdef double _LARGEST_CHANGE

cdef class ChiSquareDRO(LossRisk):
    cdef readonly double radius
    cdef double ratio(self, double loss, const double* g) noexcept nogil

cdef class KLDRO(LossRisk):
    cdef readonly double radius
    cdef double exponent(self, double loss, const double* g) noexcept nogil
