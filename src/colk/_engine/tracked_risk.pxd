# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport RiskContract
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport loops

cdef double LEAST_RATE

@cython.final
cdef class TrackedRisk:
    cdef double[::1] g
    cdef double[::1] proposed
    cdef double[::1] work
    cdef double[::1] factors
    cdef double last
    cdef double level
    cdef double spread
    cdef double loss
    cdef double score
    cdef double rate
    cdef readonly RiskContract risk
    cdef TrackerContract tracker
    cdef readonly Py_ssize_t m
    @cython.locals(i="Py_ssize_t")
    cdef int propose(self, double loss, double rate) except -1 nogil
    @cython.locals(own="double")
    cdef double slope(self) except? -1.5e300 nogil
    cdef double outer_curvature(self) except? -1.5e300 nogil
    @cython.locals(i="Py_ssize_t", rate="double")
    cdef void accept(self, bint is_first) noexcept nogil
