cimport cython
from colk._engine.simd cimport loops, maths as math
from colk.compressors.base cimport Compressor
from colk._engine.dictionary cimport Dictionary
from colk._engine.quasigradient cimport QuasiGradientStream
from colk._engine.window cimport Window

cdef double VANISHING
cdef Py_ssize_t LATEST

cdef class KernelStream(QuasiGradientStream):
    cdef readonly Compressor compressor
    cdef readonly double norm_bound
    cdef readonly bint follows_norm, is_foreign, is_implicit, follows_moves
    cdef public double squared_move
    cdef object kept_safe
    cdef double[::1] values
    @cython.locals(before=Py_ssize_t, factor=double, shrinkage=double)
    cdef int step(self) except -1 nogil
    @cython.final
    cdef int guard(self) except -1 nogil
    @cython.final
    cdef double settle(self, Py_ssize_t staged, double step, Py_ssize_t t) except? -1.5e300 nogil
    @cython.final
    cdef int lay_window(self) except -1 nogil
    cdef int lay_columns(self) except -1 nogil
    @cython.final
    @cython.locals(total=double, inner_products=double, amount=double)
    cdef double moved_squared_norm(self, double factor, double step) noexcept nogil
    @cython.final
    @cython.locals(squares=double, both=double)
    cdef void note_move(self, Py_ssize_t t) noexcept nogil
    @cython.final
    cdef void keep_in_ball(self) noexcept nogil
    cdef int evaluate_row(self, Py_ssize_t first) except -1 nogil
    cdef double adapt(self, double step, double factor) except? -1.5e300 nogil

@cython.locals(moves=bint, staged=Py_ssize_t)
cdef Py_ssize_t stage(Dictionary d, Py_ssize_t size) noexcept nogil
cdef void lay_amounts(Dictionary d, Window w, double step) noexcept nogil
@cython.locals(total=double, entry=double)
cdef double exact_squared_norm(Dictionary d, Py_ssize_t n_outputs) noexcept nogil
