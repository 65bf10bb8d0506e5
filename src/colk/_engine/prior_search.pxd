cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.simd cimport loops, maths as math
from colk._engine.newton_step cimport NewtonStream

cdef Py_ssize_t PRIORS, MIDDLE, FIRST_TRIAL
cdef double RELUCTANCE, LATE

cdef class PriorStream(NewtonStream):
    cdef public Py_ssize_t due
    cdef readonly double first_prior
    cdef double[::1] lost
    cdef double[:, ::1] values_tried, slopes
    cdef int curve_window(self) except -1 nogil
    @cython.final
    @cython.locals(loss=double)
    cdef int try_priors(self, Py_ssize_t b) except -1 nogil
    cdef int review(self, Py_ssize_t steps) except -1 nogil
    @cython.final
    cdef int choose_prior(self) except -1
    @cython.final
    @cython.locals(best=double, least=double, unit=double, loss=double)
    cdef double best_prior(self) except? -1.5e300
    @cython.locals(variance=double, squares=double)
    cdef double hand_over(self, Py_ssize_t j) noexcept nogil

cdef double prior_of(double first, Py_ssize_t i) noexcept nogil
