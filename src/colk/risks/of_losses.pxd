cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport loops, maths as math
from colk.risks.base cimport Risk

cdef double DIFFERENCE

cdef class LossRisk(Risk):
    cdef double inner_at(self, double loss, const double* g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double inner_slope_at(self, double loss, const double* g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double outer_slope_loss_at(self, double loss, const double* g) except? -1.5e300 nogil
    cdef double outer_slope_inner_at(self, double loss, const double* g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double track_at(self, TrackerContract tracker, const double* g, Py_ssize_t i, double before,
                         double now, double rate) except? -1.5e300 nogil
    @cython.locals(slope=double)
    cdef int chain(self, double theta, double xi, const double* g, Py_ssize_t m, double* factors) except -1 nogil
    @cython.locals(apart=double, above=double)
    cdef double outer_curvature(self, double theta, const double* g, Py_ssize_t m, double width) except? -1.5e300 nogil
    @cython.locals(means=cython.p_double)
    cdef int _tabulate(self, int which, const double[::1] losses, double[::1] g, double[:, ::1] out) except -1
    @cython.locals(g=double[::1], work=double[::1])
    cdef int _track_losses(self, TrackerContract tracker, const double[::1] before, const double[::1] now, double rate, double[:, ::1] path) except -1
