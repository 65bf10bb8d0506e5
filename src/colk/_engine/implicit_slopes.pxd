cimport cython
from colk._engine.contracts cimport LossContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.window cimport Window

cdef double TOLERANCE
cdef int SWEEPS, ITERATIONS

@cython.final
cdef class ImplicitSlopes:
    cdef Window window
    cdef Dictionary dictionary
    cdef LossContract loss
    cdef readonly bint is_coupled
    cdef Py_ssize_t n_outputs
    cdef double[:, ::1] first_slopes, explicit, others, trial, trial_slopes
    @cython.locals(largest=double)
    cdef int solve(self, double move, double factor) except -1 nogil
    @cython.locals(value=double, shared=double)
    cdef void move_others(self, Py_ssize_t b, double move, double factor) noexcept nogil
    @cython.locals(squares=double, product=double, now=double, share=double)
    cdef double solve_point(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move) except? -1.5e300 nogil
    @cython.locals(low=double, high=double, at_low=double, at_high=double, middle=double, found=double)
    cdef double share_at_end(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double product) except? -1.5e300 nogil
    @cython.locals(reach=double, total=double)
    cdef double excess(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double share, double product) except? -1.5e300 nogil
