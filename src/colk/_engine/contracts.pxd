# Made from the .py file by tools/declarations.py.
from colk._engine.terms cimport Term

cdef class KernelContract(Term):
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
    cdef int add_frequency(self, unsigned long long seed, double[::1] out) except -1 nogil

cdef class LossContract(Term):
    cdef double loss_at(self, double f, double y) except? -1.5e300 nogil
    cdef double slope_at(self, double f, double y) except? -1.5e300 nogil
    cdef double evaluate(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes) except? -1.5e300 nogil
    cdef double curvature(self, double[:, ::1] F, double[:, ::1] Y, Py_ssize_t row, double[:, ::1] slopes, double width) except? -1.5e300 nogil

cdef class TrackerContract(Term):
    cdef double update(self, double g, double before, double now, double rate) except? -1.5e300 nogil

cdef class RiskContract(Term):
    cdef int start(self, double* g, Py_ssize_t m, double loss) except -1 nogil
    cdef int track(self, double* g, Py_ssize_t m, double before, double now, TrackerContract tracker, double rate, double* work) except -1 nogil
    cdef int chain(self, double theta, double xi, const double* g, Py_ssize_t m, double* factors) except -1 nogil
    cdef double outer_curvature(self, double theta, const double* g, Py_ssize_t m, double width) except? -1.5e300 nogil
    cdef double outer_at(self, double loss, const double* g) except? -1.5e300 nogil
    cdef int start_at(self, const double[:, ::1] F, const double[:, ::1] Y, Py_ssize_t xi, double[::1] g) except -1 nogil
    cdef int track_at_row(self, const double[:, ::1] F, const double[:, ::1] before, const double[:, ::1] Y, Py_ssize_t xi, double[::1] g, TrackerContract tracker, double rate, double[::1] work) except -1 nogil
    cdef int chain_at(self, const double[:, ::1] F, const double[:, ::1] Y, Py_ssize_t theta, Py_ssize_t xi, const double[::1] g, double[:, ::1] slopes, double[::1] work) except -1 nogil
    cdef double outer_at_row(self, const double[:, ::1] F, const double[:, ::1] Y, Py_ssize_t theta, const double[::1] g, double[::1] work) except? -1.5e300 nogil

cdef class RateContract(Term):
    cdef double rate(self, Py_ssize_t t) noexcept nogil

cdef class AveragingContract(Term):
    cdef double rate_at(self, Py_ssize_t t) except? -1.5e300 nogil

cdef class Scratch:
    pass
