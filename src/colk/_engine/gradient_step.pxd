# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.compression cimport CompressorContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.implicit_slopes cimport ImplicitSlopes
from colk._engine.quasigradient cimport QuasiGradientStream
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math

cdef double VANISHING
cdef Py_ssize_t LATEST

cdef class KernelStream(QuasiGradientStream):
    cdef public double squared_move
    cdef double[::1] values
    cdef readonly CompressorContract compressor
    cdef readonly bint follows_moves
    cdef int look(self) except -1 nogil
    @cython.locals(b="Py_ssize_t")
    cdef inline int check_gram(self) except -1 nogil
    cdef int evaluate_columns(self) except -1 nogil
    @cython.locals(c="Py_ssize_t")
    cdef int evaluate_row(self, Py_ssize_t first) except -1 nogil

cdef class GradientStream(KernelStream):
    cdef public double taken
    cdef public double squared_average
    cdef public double average_error
    cdef readonly bint renews
    cdef readonly bint follows_norm
    cdef ImplicitSlopes implicit
    cdef readonly double norm_bound
    cdef readonly bint is_implicit
    cdef double step(self) except? -1.5e300 nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t", factor="double", row="Py_ssize_t", shrinkage="double")
    cdef int move(self, double step, double* coefficients) except -1 nogil
    @cython.locals(lost="double")
    cdef inline double compress(self, double step) except? -1.5e300 nogil
    @cython.locals(noise="double", taken="double")
    cdef double lasting_rate(self, double rate) noexcept nogil
    @cython.locals(c="Py_ssize_t", total="double")
    cdef inline double squared_loss(self, Py_ssize_t first) noexcept nogil
    cdef int conclude(self, double lost) except -1 nogil
    @cython.locals(a="Py_ssize_t", amount="double", b="Py_ssize_t", c="Py_ssize_t", inner_products="double", total="double")
    cdef inline double moved_squared_norm(self, double factor, double step, double* coefficients) noexcept nogil
    @cython.locals(a="Py_ssize_t", b="Py_ssize_t", both="double", c="Py_ssize_t", squares="double")
    cdef inline void note_move(self) noexcept nogil
    cdef inline void keep_in_ball(self) noexcept nogil

@cython.locals(a="Py_ssize_t", b="Py_ssize_t", j="Py_ssize_t", k="Py_ssize_t", moves="bint", row="Py_ssize_t", staged="Py_ssize_t")
cdef Py_ssize_t stage(Dictionary d, Py_ssize_t size) noexcept nogil
@cython.locals(c="Py_ssize_t", entry="double", j="Py_ssize_t", k="Py_ssize_t", total="double")
cdef double exact_squared_norm(Dictionary d, Py_ssize_t first, Py_ssize_t n_outputs) noexcept nogil
