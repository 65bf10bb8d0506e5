cimport cython
from colk._engine cimport stream
from colk._engine.contracts cimport LossContract, RateContract, RiskContract, TrackerContract
from colk._engine.loss_watcher cimport LossWatcher
from colk._engine.simd cimport loops, maths as math
from colk._engine.stream cimport Stream
from colk._engine.window cimport Window

cdef class QuasiGradientStream(Stream):
    cdef readonly LossContract loss
    cdef readonly RiskContract risk
    cdef readonly TrackerContract tracker
    cdef readonly RateContract tracking_rate
    cdef readonly double gradient_bound, share, pair_share
    cdef readonly Py_ssize_t batch, stride, shift, samples, remembered
    cdef public Py_ssize_t clipped
    cdef public double loss_sum, weight_sum, squared_norm, clipped_sum
    cdef readonly double mean_loss, outer
    cdef readonly bint is_scalar, is_of_losses, is_mean, has_loss
    cdef public LossWatcher watcher
    cdef int make_step(self) except -1 nogil
    cdef int look(self) except -1 nogil
    cdef double step(self) except? -1.5e300 nogil
    cdef int conclude(self, double lost) except -1 nogil
    cdef double lasting_rate(self, double rate) noexcept nogil
    cdef inline double* track(self, double rate) except NULL nogil
    cdef inline double* quasi_gradient(self, double* g) except NULL nogil
    cdef inline Py_ssize_t xi_of(self, Py_ssize_t pair) noexcept nogil
    @cython.locals(total=double)
    cdef inline void predict_window(self) noexcept nogil
    cdef inline int evaluate_losses(self) except -1 nogil
    cdef inline int evaluate_scalar_losses(self) except -1 nogil
    cdef inline int track_sample(self, Py_ssize_t xi, double rate) except -1 nogil
    cdef inline int chain(self, double* g, Py_ssize_t theta, Py_ssize_t xi) except -1 nogil
    cdef inline int gather(self, double* g) except -1 nogil
    @cython.locals(squares=double, largest=double)
    cdef inline bint clip(self) noexcept nogil
    cdef inline int check_soundness(self) except -1 nogil
    @cython.locals(total=double, limit=double)
    cdef inline bint is_sound(self) noexcept nogil
    cdef inline int note_outer(self) except -1 nogil
    cdef inline void note_losses(self) noexcept nogil
    cdef int show_losses(self) except -1 nogil
    cdef inline void remember_and_shrink(self, double factor) noexcept nogil
    cdef inline void record(self, Py_ssize_t dropped, double lost) noexcept nogil
