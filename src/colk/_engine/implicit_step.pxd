cimport cython
from colk._engine.gradient_step cimport KernelStream

cdef double TOLERANCE
cdef int SWEEPS, ITERATIONS

cdef class ImplicitStream(KernelStream):
    cdef readonly bint is_coupled
    cdef double[:, ::1] first_slopes, explicit, ahead, trial, trial_slopes
    @cython.locals(move=double, largest=double)
    cdef double adapt(self, double step, double factor) except? -1.5e300 nogil
    @cython.final
    @cython.locals(value=double, shared=double)
    cdef void look_ahead(self, Py_ssize_t b, double move, double factor) noexcept nogil
    @cython.final
    @cython.locals(squares=double, product=double, now=double, share=double)
    cdef double turn(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move) except? -1.5e300 nogil
    @cython.final
    @cython.locals(low=double, high=double, at_low=double, at_high=double, middle=double, found=double)
    cdef double share_at_end(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double product) except? -1.5e300 nogil
    @cython.final
    @cython.locals(reach=double, total=double)
    cdef double excess(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double share, double product) except? -1.5e300 nogil
