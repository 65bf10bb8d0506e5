# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport TrackerContract
from colk.risks.of_losses cimport LossRisk

cdef double _LEAST_SLOPE

cdef class Disutility(LossRisk):
    cdef double disutility_at(self, double u) except? -1.5e300 nogil
    cdef double disutility_slope_at(self, double u) except? -1.5e300 nogil
    cdef double excess_at(self, double u) except? -1.5e300 nogil
    cdef double shift_at(self, double u, double scale) except? -1.5e300 nogil

cdef class CertaintyEquivalent(Disutility):
    pass

cdef class Shortfall(Disutility):
    cdef readonly double level

cdef class ExpectileRisk(Shortfall):
    pass
