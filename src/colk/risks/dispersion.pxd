cimport cython
from colk.risks cimport scalars
from colk.risks.base cimport LossRisk

from colk.window cimport Window

cdef class Mean(LossRisk):
    pass

cdef class Dispersion(LossRisk):
    cdef readonly double weight
    @cython.locals(m=double)
    cdef int pair_slopes(self, Window w, Py_ssize_t theta, Py_ssize_t xi) except -1 nogil
    cdef double spread_at(self, double u) except? -1.5e300 nogil
    cdef double spread_slope_at(self, double u) except? -1.5e300 nogil

cdef class Variance(Dispersion):
    pass

cdef class CentralMoments(Dispersion):
    cdef readonly Py_ssize_t order

cdef class Semivariance(Dispersion):
    cdef readonly double smoothing

cdef class Semideviations(Dispersion):
    cdef readonly Py_ssize_t order
    cdef readonly double smoothing
