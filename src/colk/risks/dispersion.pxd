# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport TrackerContract
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk

cdef double _POWER_CAP

cdef class Dispersion(LossRisk):
    cdef readonly double weight
    cdef double spread_at(self, double u) except? -1.5e300 nogil
    cdef double spread_slope_at(self, double u) except? -1.5e300 nogil

cdef class Mean(Dispersion):
    pass

cdef class Variance(Dispersion):
    pass

cdef class CentralMoments(Dispersion):
    cdef readonly Py_ssize_t order

cdef class Semideviations(Dispersion):
    cdef readonly Py_ssize_t order
    cdef readonly double smoothing

cdef class Semivariance(Semideviations):
    pass

cdef class MeanSemideviation(LossRisk):
    cdef readonly double order
    cdef readonly double weight
    cdef readonly double smoothing
    cdef double excess(self, double loss, const double* g) noexcept nogil
    cdef double relative_excess(self, double loss, const double* g) noexcept nogil
    @cython.locals(slope="double")
    cdef double deviation_slope(self, double loss, const double* g) noexcept nogil
