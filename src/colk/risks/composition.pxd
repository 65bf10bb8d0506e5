cimport cython
from colk.functions.base cimport OfArrays
from colk.risks.base cimport Risk
from colk.trackers cimport Tracker
from colk.window cimport Window

cdef class Composition(Risk):
    cdef OfArrays _inner, _inner_slope, _outer, _outer_slope_prediction, _outer_slope_inner
    cdef readonly Py_ssize_t n_outputs, n_targets
    cdef Py_ssize_t _size
    cdef bint _is_convex, _is_monotone
    @cython.locals(remembers=bint)
    cdef int track(self, Window w, Py_ssize_t xi, Tracker tracker, double rate) except -1 nogil
