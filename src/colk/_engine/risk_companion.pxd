cimport cython
from colk._engine cimport tracked_risk
from colk._engine.contracts cimport LossContract, RiskContract, TrackerContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.fixed_share cimport FixedShare
from colk._engine.simd cimport loops, maths as math
from colk._engine.tracked_risk cimport TrackedRisk
from colk._engine.window cimport Window

cdef Py_ssize_t MEAN, RISK, RISK_AVERAGE, MEAN_AVERAGE, CANDIDATES, SLOW, LATEST, MEMORY, WINDOW
cdef double MOST, RATE, SHARE, FIRST_SHARE, AVERAGED, LARGEST_SCORE, FEW, STEADY

@cython.final
cdef class RiskCompanion:
    cdef readonly LossContract loss
    cdef Dictionary dictionary
    cdef Window window
    cdef readonly Py_ssize_t n_outputs, mean_row, first
    cdef readonly TrackedRisk steering, of_mixture
    cdef FixedShare mixture
    cdef readonly double[::1] latest_weights, mixture_weights, recent, squares, fourths, scores
    cdef double[:, ::1] values, mixed, slopes, gradient, predictions
    cdef readonly double curvature, length
    cdef readonly double mixed_loss
    cdef readonly bint is_first
    cpdef Py_ssize_t row_of(self, Py_ssize_t e) noexcept nogil
    @cython.locals(tracked=double, slow=double, loss=double, weight=double, steady=double)
    cdef int consider(self, double rate, Py_ssize_t steps, double limit) except -1 nogil
    cdef void predict(self, Py_ssize_t e) noexcept nogil
    @cython.locals(loss=double)
    cdef double evaluate_risk(self) except? -1.5e300 nogil
    @cython.locals(loss=double)
    cdef double evaluate_mixture(self, double[::1] weights) except? -1.5e300 nogil
    @cython.locals(factor=double, towards=double)
    cdef int score(self) except -1 nogil
    @cython.locals(squares=double, outer=double, factor=double, weight=double)
    cdef int steer(self) except -1 nogil
    @cython.locals(first=Py_ssize_t)
    cdef void record(self, double[:, ::1] lines, Py_ssize_t k) noexcept nogil
    cdef void start_again(self) noexcept nogil
    @cython.locals(rate=double)
    cdef void accept(self, Py_ssize_t steps) noexcept nogil
    cdef void approach(self, Py_ssize_t e, Py_ssize_t row, Py_ssize_t c, double rate) noexcept nogil
    @cython.locals(lost=double, square=double, unit=double, deciding=double)
    cdef void reward(self, Py_ssize_t e, double rate) noexcept nogil
    cdef void mix(self) noexcept nogil
