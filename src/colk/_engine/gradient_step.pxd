cimport cython
from colk._engine.compression cimport CompressorContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.implicit_slopes cimport ImplicitSlopes
from colk._engine.quasigradient cimport QuasiGradientStream
from colk._engine.simd cimport loops, maths as math

cdef double VANISHING
cdef Py_ssize_t LATEST

cdef class KernelStream(QuasiGradientStream):
    cdef readonly CompressorContract compressor
    cdef readonly bint follows_moves
    cdef public double squared_move
    cdef double[::1] values
    cdef int look(self) except -1 nogil
    cdef int evaluate_columns(self) except -1 nogil
    cdef inline int check_gram(self) except -1 nogil
    cdef int evaluate_row(self, Py_ssize_t first) except -1 nogil

cdef class GradientStream(KernelStream):
    cdef readonly double norm_bound
    cdef readonly bint follows_norm, is_implicit, renews
    cdef public double taken, squared_average, average_error
    cdef ImplicitSlopes implicit
    cdef double step(self) except? -1.5e300 nogil
    @cython.locals(shrinkage=double, factor=double)
    cdef int move(self, double step, double* coefficients) except -1 nogil
    @cython.locals(lost=double)
    cdef inline double compress(self, double step) except? -1.5e300 nogil
    @cython.locals(taken=double, noise=double)
    cdef double lasting_rate(self, double rate) noexcept nogil
    @cython.locals(total=double)
    cdef inline double squared_loss(self, Py_ssize_t first) noexcept nogil
    @cython.locals(total=double, inner_products=double, amount=double)
    cdef inline double moved_squared_norm(self, double factor, double step, double* coefficients) noexcept nogil
    @cython.locals(squares=double, both=double)
    cdef inline void note_move(self) noexcept nogil
    cdef int conclude(self, double lost) except -1 nogil
    cdef inline void keep_in_ball(self) noexcept nogil

@cython.locals(moves=bint, staged=Py_ssize_t)
cdef Py_ssize_t stage(Dictionary d, Py_ssize_t size) noexcept nogil
@cython.locals(total=double, entry=double)
cdef double exact_squared_norm(Dictionary d, Py_ssize_t first, Py_ssize_t n_outputs) noexcept nogil
