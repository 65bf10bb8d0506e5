cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.contracts cimport LossContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.newton_iterate cimport NewtonIterate
from colk._engine.simd cimport loops, maths as math
from colk._engine.window cimport Window

cdef Py_ssize_t PRIORS, MIDDLE, FIRST_TRIAL
cdef double RELUCTANCE, LATE

@cython.final
cdef class PriorSearch:
    cdef readonly Py_ssize_t due
    cdef readonly double first_prior
    cdef LossContract loss
    cdef NewtonIterate iterate
    cdef Dictionary dictionary
    cdef Window window
    cdef InverseCurvature P
    cdef Py_ssize_t n_outputs
    cdef double[::1] losses
    cdef double[:, ::1] values, slopes
    @cython.locals(loss=double)
    cdef int add_losses(self, Py_ssize_t b) except -1 nogil
    cpdef int choose(self, Py_ssize_t steps) except -1
    @cython.locals(best=double, least=double, unit=double, loss=double)
    cdef double best(self) except? -1.5e300
    @cython.locals(variance=double, squares=double)
    cdef double refit_without(self, Py_ssize_t j) noexcept nogil

cdef double prior_of(double first, Py_ssize_t i) noexcept nogil
