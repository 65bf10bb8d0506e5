# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport LossContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.window cimport Window

cdef double TOLERANCE
cdef int SWEEPS
cdef int ITERATIONS

@cython.final
cdef class ImplicitSlopes:
    cdef Py_ssize_t n_outputs
    cdef readonly bint is_coupled
    cdef double[:, ::1] first_slopes
    cdef double[:, ::1] explicit
    cdef double[:, ::1] others
    cdef double[:, ::1] trial
    cdef double[:, ::1] trial_slopes
    cdef Window window
    cdef Dictionary dictionary
    cdef LossContract loss
    @cython.locals(_="Py_ssize_t", b="Py_ssize_t", c="Py_ssize_t", largest="double")
    cdef int solve(self, double move, double factor) except -1 nogil
    @cython.locals(a="Py_ssize_t", c="Py_ssize_t", shared="double", value="double")
    cdef void move_others(self, Py_ssize_t b, double move, double factor) noexcept nogil
    @cython.locals(c="Py_ssize_t", now="double", product="double", share="double", squares="double")
    cdef double solve_point(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move) except? -1.5e300 nogil
    @cython.locals(at_high="double", at_low="double", found="double", high="double", k="Py_ssize_t", low="double", middle="double")
    cdef double share_at_end(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double product) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", reach="double", total="double")
    cdef double excess(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t last, double move, double share, double product) except? -1.5e300 nogil
