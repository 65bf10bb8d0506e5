cimport cython
from colk cimport lanes, maths as math
from colk.averaging cimport Averaging
from colk.dictionary cimport Dictionary
from colk.losses.base cimport Loss
from colk.risks.base cimport Risk
from colk.schedules cimport PowerDecay
from colk.trackers cimport Tracker
from colk.window cimport Window

cdef double RUNAWAY

cdef class Stream:
    cdef readonly Loss loss
    cdef readonly Risk risk
    cdef readonly Tracker tracker
    cdef readonly PowerDecay step_size, tracking_rate
    cdef readonly Averaging averaging
    cdef readonly double regularization, gradient_bound
    cdef readonly Py_ssize_t n_outputs, batch, stride, shift, averaged, remembered, gained
    cdef readonly Window window
    cdef readonly Dictionary dictionary
    cdef readonly object lock
    cdef readonly bint busy, diverged, traced
    cdef public Py_ssize_t steps, clipped
    cdef public double loss_sum, weight_sum, error_sum, largest_target, squared_norm
    cdef readonly double mean_loss, outer
    cdef double largest_before
    cdef double[:, ::1] lines
    cdef Py_ssize_t line
    cdef double[:, ::1] row, target
    cdef double[::1] weight
    cpdef int enter(self) except -1
    cpdef int leave(self) except -1
    cpdef Py_ssize_t advance(self, const double[:, ::1] X, const double[:, ::1] Y,
                             const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1
    @cython.locals(taken=Py_ssize_t)
    cdef Py_ssize_t proceed(self, const double[:, ::1] X, const double[:, ::1] Y,
                            const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1
    cpdef Py_ssize_t learn_one(self, x, y, weight) except -2
    @cython.locals(total=double)
    cdef bint place(self, x, y, weight) except -1
    cdef Py_ssize_t run(self, const double[:, ::1] X, const double[:, ::1] Y,
                        const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef int step(self) except -1 nogil
    cdef int assess(self, double rate, bint track_first) except -1 nogil
    @cython.locals(total=double)
    cdef void predict_window(self) noexcept nogil
    cdef int weigh(self) except -1 nogil
    cdef int track(self, double rate) except -1 nogil
    cdef int gather(self) except -1 nogil
    @cython.locals(squares=double, largest=double)
    cdef bint clip(self) noexcept nogil
    @cython.locals(total=double, limit=double)
    cdef bint is_sound(self) noexcept nogil
    cdef void note_losses(self) noexcept nogil
    cdef void remember_and_shrink(self, double factor) noexcept nogil
    cdef void average(self, double rate) noexcept nogil
    cdef double averaging_rate(self) except? -1.5e300 nogil
    cdef void record(self, Py_ssize_t dropped, double error, double step) noexcept nogil
    cdef void restore(self) noexcept nogil
