cimport cython
from colk.functions.base cimport OfLoss
from colk.risks.base cimport LossRisk
from colk.trackers cimport Tracker
from colk.window cimport Window

cdef class CustomRisk(LossRisk):
    cdef OfLoss _inner, _inner_slope, _outer, _outer_slope_loss, _outer_slope_inner
    cdef Py_ssize_t _size
    cdef bint _is_convex, _is_monotone
    @cython.locals(remembers=bint)
    cdef double track_at(self, Tracker tracker, const double[::1] g, Py_ssize_t i, double before,
                         double now, double rate) except? -1.5e300 nogil
