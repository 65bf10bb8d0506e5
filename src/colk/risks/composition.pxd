# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport maths as math
from colk._engine.user_functions.base cimport OfArrays
from colk.risks.base cimport Risk
from colk.trackers cimport Tracker

cdef class Composition(Risk):
    cdef OfArrays _inner
    cdef OfArrays _inner_slope
    cdef OfArrays _outer
    cdef OfArrays _by_prediction
    cdef OfArrays _by_inner
    cdef readonly dict _given
    cdef readonly tuple functions
    cdef double[::1] _start
    @cython.locals(g="double[::1]", i="Py_ssize_t", t="Py_ssize_t", work="double[::1]")
    cdef int _track_rows(self, TrackerContract tracker, double[:, ::1] before, double[:, ::1] F, double[:, ::1] Y, double rate, double[:, ::1] path) except -1
