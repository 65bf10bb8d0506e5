cimport cython
from colk._engine cimport stream
from colk._engine.simd cimport loops, maths as math
from colk.losses.base cimport Loss
from colk.risks.base cimport Risk
from colk.schedules cimport PowerDecay
from colk._engine.stream cimport Stream
from colk.trackers cimport Tracker
from colk._engine.window cimport Window

cdef class QuasiGradientStream(Stream):
    cdef readonly Loss loss
    cdef readonly Risk risk
    cdef readonly Tracker tracker
    cdef readonly PowerDecay tracking_rate
    cdef readonly double gradient_bound, share
    cdef readonly Py_ssize_t batch, stride, shift, remembered
    cdef public Py_ssize_t clipped
    cdef public double loss_sum, weight_sum, squared_norm
    cdef readonly double mean_loss, outer
    @cython.final
    cdef int assess(self, double rate, bint track_first) except -1 nogil
    @cython.final
    @cython.locals(total=double)
    cdef void predict_window(self) noexcept nogil
    cdef readonly bint is_scalar
    @cython.final
    cdef int weigh(self) except -1 nogil
    @cython.final
    cdef int weigh_numbers(self) except -1 nogil
    @cython.final
    cdef int track(self, double rate) except -1 nogil
    @cython.final
    cdef int follow(self, Py_ssize_t xi, double rate) except -1 nogil
    @cython.final
    cdef int gather(self) except -1 nogil
    @cython.final
    @cython.locals(squares=double, largest=double)
    cdef bint clip(self) noexcept nogil
    @cython.final
    @cython.locals(total=double, limit=double)
    cdef bint is_sound(self) noexcept nogil
    @cython.final
    cdef void note_losses(self) noexcept nogil
    @cython.final
    cdef void remember_and_shrink(self, double factor) noexcept nogil
    @cython.final
    cdef void record(self, Py_ssize_t dropped, double error, double step) noexcept nogil
