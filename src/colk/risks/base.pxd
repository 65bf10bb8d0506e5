cimport cython
from colk._engine.simd cimport maths as math
from colk._engine.terms cimport Term
from colk.trackers cimport Tracker
from colk._engine.window cimport Window

cdef double DIFFERENCE

cdef class Risk(Term):
    cdef int start(self, Window w, Py_ssize_t xi) except -1 nogil
    cdef int track(self, Window w, Py_ssize_t xi, Tracker tracker, double rate) except -1 nogil
    cdef int pair_slopes(self, Window w, Py_ssize_t theta, Py_ssize_t xi) except -1 nogil
    @cython.locals(squares=double, others=double, size=double, length=double, change=double)
    cdef int pair_curvatures(self, Window w, Py_ssize_t theta, Py_ssize_t xi, double width) except -1 nogil
    cdef double sample_value(self, Window w, Py_ssize_t theta) except? -1.5e300 nogil

cdef class LossRisk(Risk):
    cdef double inner_at(self, double loss, const double[::1] g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double inner_slope_at(self, double loss, const double[::1] g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double outer_at(self, double loss, const double[::1] g) except? -1.5e300 nogil
    cdef double outer_slope_loss_at(self, double loss, const double[::1] g) except? -1.5e300 nogil
    cdef double outer_slope_inner_at(self, double loss, const double[::1] g, Py_ssize_t i) except? -1.5e300 nogil
    cdef double track_at(self, Tracker tracker, const double[::1] g, Py_ssize_t i, double before,
                         double now, double rate) except? -1.5e300 nogil
    @cython.locals(total=double, slope=double)
    cdef double through(self, Window w, Py_ssize_t theta, Py_ssize_t xi) except? -1.5e300 nogil
    @cython.locals(loss=double, bend=double, squares=double, others=double, apart=double, above=double, factor=double, passed=double)
    cdef int pair_curvatures(self, Window w, Py_ssize_t theta, Py_ssize_t xi, double width) except -1 nogil
    cdef int _tabulate(self, int which, const double[::1] losses, const double[::1] g, double[:, ::1] out) except -1
