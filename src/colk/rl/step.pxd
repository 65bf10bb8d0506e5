cimport cython
from colk._engine cimport gradient_step, stream
from colk._engine.simd cimport loops, maths as math
from colk.compressors.base cimport Compressor
from colk.schedules cimport PowerDecay
from colk._engine.stream cimport Stream

cdef class ValueStream(Stream):
    cdef readonly Compressor compressor
    cdef readonly PowerDecay tracking_rate
    cdef readonly double eps_ratio
    cdef readonly double next_discount, value, next_value, difference, tracked, self_similarity
    @cython.locals(before=Py_ssize_t)
    cdef int make_step(self) except -1 nogil
    cdef int step(self) except -1 nogil
    cdef Py_ssize_t evaluate_columns(self) except -1 nogil
    cdef int evaluate_difference(self, Py_ssize_t count, double rate) except -1 nogil
    cdef void move(self, double step_size, double rate) noexcept nogil
    @cython.locals(limit=double)
    cdef bint is_sound(self) noexcept nogil
    cdef double follow(self, double rate) noexcept nogil
    cdef double pull(self) noexcept nogil
    cdef double push(self) noexcept nogil
    cdef double renew(self, double rate) noexcept nogil
    cdef void record(self, Py_ssize_t before) noexcept nogil

cdef class ResidualStream(ValueStream):
    pass

cdef class CorrectedStream(ValueStream):
    pass

cdef class FunctionTrackingStream(CorrectedStream):
    pass

cdef class ScalarTrackingStream(ValueStream):
    pass

cdef class MomentumTrackingStream(ScalarTrackingStream):
    cdef Py_ssize_t evaluate_columns(self) except -1 nogil
    @cython.locals(row=Py_ssize_t, total=double)
    cdef double previous_at(self, Py_ssize_t b) noexcept nogil
    @cython.locals(before=double, kept=double)
    cdef double follow(self, double rate) noexcept nogil
    @cython.locals(last=Py_ssize_t, n=Py_ssize_t)
    cdef void move(self, double step_size, double rate) noexcept nogil
