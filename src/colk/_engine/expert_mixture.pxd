# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.dictionary cimport Dictionary
from colk._engine.fixed_share cimport FixedShare
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.newton_iterate cimport NewtonIterate
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.window cimport Window

cdef Py_ssize_t SECOND, FAST, FIRST
cdef Py_ssize_t EXPERTS
cdef double SPEED
cdef double MOST_LOSS, RATE, SHARE
cdef double FAST_LAPSE, FIRST_LAPSE

cdef class ExpertMixture(NewtonIterate):
    cdef readonly double first_step
    cdef FixedShare mixture
    cdef readonly double[::1] mixture_weights
    cdef double[::1] lost
    cdef double[:, ::1] predictions
    cdef double[:, ::1] slopes
    cdef double[:, ::1] curvatures
    cdef double[:, ::1] multiples
    cdef double[:, ::1] gains
    cdef double[::1] mixed
    cdef Py_ssize_t row_of(self, Py_ssize_t e) noexcept nogil
    @cython.locals(b="Py_ssize_t")
    cdef void keep_mixed_losses(self) noexcept nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t")
    cdef void show(self, Py_ssize_t e) noexcept nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t", is_finite="bint", place="Py_ssize_t", slope="double")
    cdef void note(self, Py_ssize_t e, double lost) noexcept nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t", e="Py_ssize_t")
    cdef void mix_predictions(self) noexcept nogil
    @cython.locals(e="Py_ssize_t", least="double")
    cdef void update_weights(self) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t")
    cdef void add_pending(self) noexcept nogil
    @cython.locals(c="Py_ssize_t")
    cdef void add_multiple(self, Py_ssize_t e) noexcept nogil
    @cython.locals(cost="double", e="Py_ssize_t", gain="double", inner="double", length="double", outer="double", price="double", wide="double", wide_gain="double")
    cdef double plan(self, Py_ssize_t b, double variance, double extended, double squares, double beyond, double prior) noexcept nogil
    @cython.locals(curvature="double", most="double", speed="double")
    cdef double gain_of(self, Py_ssize_t e, Py_ssize_t b, double variance) noexcept nogil
    @cython.locals(amount="double", c="Py_ssize_t", e="Py_ssize_t", entered="Py_ssize_t", first_squares="double", gain="double", moved="double", n="Py_ssize_t", own="double", place="Py_ssize_t")
    cdef double move(self, Py_ssize_t b, Py_ssize_t h, bint enters, double squares, double novelty) noexcept nogil
    @cython.locals(c="Py_ssize_t", squares="double")
    cdef double expert_length(self, Py_ssize_t e, Py_ssize_t b) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t")
    cdef void relinearize(self, Py_ssize_t b) noexcept nogil
    @cython.locals(c="Py_ssize_t", e="Py_ssize_t", squares="double", w="double")
    cdef double price(self, Py_ssize_t j) noexcept nogil
    @cython.locals(best="Py_ssize_t", j="Py_ssize_t", least="double")
    cdef Py_ssize_t cheapest(self) noexcept nogil
    @cython.locals(cost="double", hidden="double")
    cdef double drop(self, Py_ssize_t j) noexcept nogil
