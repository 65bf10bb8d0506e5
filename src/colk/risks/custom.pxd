cimport cython
from colk.functions.base cimport OfArrays, OfLoss
from colk.risks.base cimport LossRisk, Risk
from colk.trackers cimport Tracker
from colk.window cimport Window

cdef class CustomRisk(LossRisk):
    cdef OfLoss _inner, _inner_slope, _outer, _outer_slope_loss, _outer_slope_inner
    cdef readonly tuple functions
    cdef readonly dict _claims
    @cython.locals(remembers=bint)
    cdef double track_at(self, Tracker tracker, const double[::1] g, Py_ssize_t i, double before,
                         double now, double rate) except? -1.5e300 nogil

cdef class Composition(Risk):
    cdef OfArrays _inner, _inner_slope, _outer, _by_prediction, _by_inner
    cdef readonly dict _claims
    @cython.locals(remembers=bint)
    cdef int track(self, Window w, Py_ssize_t xi, Tracker tracker, double rate) except -1 nogil
