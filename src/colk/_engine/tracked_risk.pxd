cimport cython
from colk._engine.contracts cimport RiskContract, TrackerContract
from colk._engine.simd cimport loops, maths as math

cdef double LEAST_RATE

@cython.final
cdef class TrackedRisk:
    cdef readonly RiskContract risk
    cdef TrackerContract tracker
    cdef readonly Py_ssize_t m
    cdef double[::1] g, proposed, work, factors
    cdef double last, level, spread, loss, score, rate
    cdef int propose(self, double loss, double rate) except -1 nogil
    @cython.locals(own=double)
    cdef double slope(self) except? -1.5e300 nogil
    cdef double outer_curvature(self) except? -1.5e300 nogil
    @cython.locals(rate=double)
    cdef void accept(self, bint is_first) noexcept nogil
