cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.user_functions.base cimport OfArrays
from colk.risks.base cimport Risk

cdef class Composition(Risk):
    cdef OfArrays _inner, _inner_slope, _outer, _by_prediction, _by_inner
    cdef readonly dict _given
    cdef readonly tuple functions
    cdef double[::1] _start
    @cython.locals(g=double[::1], work=double[::1])
    cdef int _track_rows(self, TrackerContract tracker, double[:, ::1] before, double[:, ::1] F, double[:, ::1] Y, double rate, double[:, ::1] path) except -1
