# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine cimport risk_companion
from colk._engine cimport stream
from colk._engine.contracts cimport RiskContract
from colk._engine.contracts cimport TrackerContract
from colk._engine.gradient_step cimport GradientStream
from colk._engine.newton_step cimport NewtonStream
from colk._engine.quasigradient cimport QuasiGradientStream
from colk._engine.risk_companion cimport RiskCompanion
from colk._engine.simd cimport loops

cdef class HedgedGradientStream(GradientStream):
    cdef readonly RiskCompanion companion
    cdef readonly double risk_step
    cdef readonly bint keeps_values
    cdef double[::1] sums
    cdef int make_step(self) except -1 nogil
    @cython.locals(lost="double")
    cdef double step(self) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", gain="double", own="double")
    cdef int move(self, double step, double* coefficients) except -1 nogil
    @cython.locals(j="Py_ssize_t", k="Py_ssize_t", last="Py_ssize_t", n="Py_ssize_t", own="double", row="Py_ssize_t", squares="double", weight="double")
    cdef void keep_values(self) noexcept nogil
    cdef int flush(self) except -1 nogil

cdef class HedgedNewtonStream(NewtonStream):
    cdef readonly RiskCompanion companion
    cdef readonly double risk_step
    cdef int make_step(self) except -1 nogil
    @cython.locals(lost="double")
    cdef double step(self) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", curvature="double", first="Py_ssize_t", gain="double", least="double", n="Py_ssize_t", own="double")
    cdef void move_beside(self, Py_ssize_t h, double variance) noexcept nogil
    @cython.locals(variance="double")
    cdef void refit_beside(self, Py_ssize_t j) noexcept nogil
    cdef int flush(self) except -1 nogil

cdef RiskCompanion attach_companion(QuasiGradientStream s, RiskContract risk, TrackerContract tracker)
@cython.locals(limit="double")
cdef int consider_beside(QuasiGradientStream s, RiskCompanion companion) except -1 nogil
cdef void accept_beside(QuasiGradientStream s, RiskCompanion companion) noexcept nogil
cdef int record_beside(QuasiGradientStream s, RiskCompanion companion) except -1 nogil
