# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport gradient_step
from colk._engine cimport stream
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.stream cimport Stream
from colk.compressors.base cimport Compressor
from colk.schedules cimport PowerDecay

cdef class ValueStream(Stream):
    cdef readonly double next_discount
    cdef readonly double value
    cdef readonly double next_value
    cdef readonly double difference
    cdef readonly double tracked
    cdef readonly double self_similarity
    cdef readonly Compressor compressor
    cdef readonly PowerDecay tracking_rate
    cdef readonly double eps_ratio
    cdef double follow(self, double rate) noexcept nogil
    cdef double pull(self) noexcept nogil
    cdef double push(self) noexcept nogil
    cdef double renew(self, double rate) noexcept nogil
    @cython.locals(before="Py_ssize_t")
    cdef int make_step(self) except -1 nogil
    cdef int step(self) except -1 nogil
    @cython.locals(k="Py_ssize_t")
    cdef Py_ssize_t evaluate_columns(self) except -1 nogil
    cdef int evaluate_difference(self, Py_ssize_t count, double rate) except -1 nogil
    @cython.locals(row="Py_ssize_t")
    cdef void move(self, double step_size, double rate) noexcept nogil
    @cython.locals(limit="double")
    cdef bint is_sound(self) noexcept nogil
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
    @cython.locals(j="Py_ssize_t", row="Py_ssize_t", total="double")
    cdef double previous_at(self, Py_ssize_t b) noexcept nogil
    @cython.locals(before="double", kept="double")
    cdef double follow(self, double rate) noexcept nogil
    @cython.locals(last="Py_ssize_t", n="Py_ssize_t")
    cdef void move(self, double step_size, double rate) noexcept nogil
