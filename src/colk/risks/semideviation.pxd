from colk.risks cimport scalars
from colk.risks.base cimport LossRisk
from colk.trackers cimport Tracker
from colk.window cimport Window

cdef double _POWER_CAP

cdef class MeanSemideviation(LossRisk):
    cdef readonly double order
    cdef readonly double weight
    cdef double relative_excess(self, double loss, const double[::1] g) noexcept nogil
    cdef double deviation_slope(self, double loss, const double[::1] g) noexcept nogil
