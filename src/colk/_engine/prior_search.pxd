# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.contracts cimport LossContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.newton_iterate cimport NewtonIterate
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.window cimport Window

cdef Py_ssize_t PRIORS, MIDDLE
cdef Py_ssize_t FIRST_TRIAL
cdef double RELUCTANCE
cdef double LATE

@cython.final
cdef class PriorSearch:
    cdef readonly Py_ssize_t due
    cdef readonly double first_prior
    cdef double[::1] losses
    cdef double[:, ::1] values
    cdef double[:, ::1] slopes
    cdef LossContract loss
    cdef NewtonIterate iterate
    cdef Dictionary dictionary
    cdef Window window
    cdef InverseCurvature P
    cdef Py_ssize_t n_outputs
    @cython.locals(c="Py_ssize_t", i="Py_ssize_t", loss="double")
    cdef int add_losses(self, Py_ssize_t b) except -1 nogil
    @cython.locals(i="Py_ssize_t")
    cpdef int choose(self, Py_ssize_t steps) except -1
    @cython.locals(best="double", i="Py_ssize_t", least="double", loss="double", unit="double")
    cdef double best(self) except? -1.5e300
    @cython.locals(c="Py_ssize_t", squares="double", variance="double")
    cdef double refit_without(self, Py_ssize_t j) noexcept nogil

cdef double prior_of(double first, Py_ssize_t i) noexcept nogil
