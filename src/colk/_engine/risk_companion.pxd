# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport LossContract
from colk._engine.contracts cimport RiskContract
from colk._engine.contracts cimport TrackerContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.fixed_share cimport FixedShare
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.tracked_risk cimport TrackedRisk
from colk._engine.window cimport Window

cdef Py_ssize_t MEAN, RISK, RISK_AVERAGE, MEAN_AVERAGE, CANDIDATES
cdef Py_ssize_t SLOW, LATEST, MEMORY
cdef double STEADY
cdef Py_ssize_t WINDOW
cdef double MOST, RATE, SHARE, FIRST_SHARE, AVERAGED
cdef double LARGEST_SCORE
cdef double FEW

@cython.final
cdef class RiskCompanion:
    cdef readonly TrackedRisk steering
    cdef readonly TrackedRisk of_mixture
    cdef readonly Py_ssize_t first
    cdef FixedShare mixture
    cdef readonly double[::1] latest_weights
    cdef readonly double[::1] mixture_weights
    cdef double[:, ::1] values
    cdef double[:, ::1] predictions
    cdef readonly double[::1] scores
    cdef double[:, ::1] slopes
    cdef double[:, ::1] gradient
    cdef readonly double curvature
    cdef readonly double length
    cdef readonly double[::1] squares
    cdef readonly double[::1] fourths
    cdef double[:, ::1] mixed
    cdef readonly double mixed_loss
    cdef readonly double[::1] recent
    cdef readonly LossContract loss
    cdef Dictionary dictionary
    cdef Window window
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t mean_row
    cdef readonly bint is_first
    @cython.locals(first="Py_ssize_t", i="Py_ssize_t")
    cdef void record(self, double[:, ::1] lines, Py_ssize_t k) noexcept nogil
    cpdef Py_ssize_t row_of(self, Py_ssize_t e) noexcept nogil
    @cython.locals(c="Py_ssize_t", loss="double", slow="double", steady="double", tracked="double", weight="double")
    cdef int consider(self, double rate, Py_ssize_t steps, double limit) except -1 nogil
    @cython.locals(c="Py_ssize_t")
    cdef void predict(self, Py_ssize_t e) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t", loss="double")
    cdef double evaluate_mixture(self, double[::1] weights) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", loss="double")
    cdef double evaluate_risk(self) except? -1.5e300 nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t", factor="double", towards="double")
    cdef int score(self) except -1 nogil
    @cython.locals(c="Py_ssize_t", factor="double", outer="double", squares="double", weight="double")
    cdef int steer(self) except -1 nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t")
    cdef void start_again(self) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t", rate="double")
    cdef void accept(self, Py_ssize_t steps) noexcept nogil
    cdef void approach(self, Py_ssize_t e, Py_ssize_t row, Py_ssize_t c, double rate) noexcept nogil
    @cython.locals(deciding="double", lost="double", square="double", unit="double")
    cdef void reward(self, Py_ssize_t e, double rate) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t")
    cdef void mix(self) noexcept nogil
