cimport cython
from colk._engine cimport curvature, expert_mixture, gradient_step, inverse_curvature as inverse, lookahead, prior_search
from colk._engine.expert_mixture cimport ExpertMixture
from colk._engine.gradient_step cimport KernelStream
from colk._engine.inverse_curvature cimport InverseCurvature
from colk._engine.lookahead cimport Lookahead
from colk._engine.loss_statistics cimport LossStatistics
from colk._engine.newton_iterate cimport NewtonIterate
from colk._engine.prior_search cimport PriorSearch
from colk._engine.simd cimport loops, maths as math

cdef Py_ssize_t LATEST

cdef class NewtonStream(KernelStream):
    cdef readonly InverseCurvature P
    cdef readonly NewtonIterate iterate
    cdef readonly ExpertMixture experts
    cdef readonly PriorSearch search
    cdef readonly bint has_experts, has_search
    cdef Lookahead lookahead
    cdef readonly double trust, late, eps_bound, eps_share, eps
    cdef readonly Py_ssize_t most_atoms
    cdef readonly bint is_kinked, restart
    cdef readonly LossStatistics statistics
    cdef public double squared_slope, mean_curvature
    cdef public Py_ssize_t restarts
    cdef double[::1] noise
    cdef int make_room(self) except -1
    cdef int look(self) except -1 nogil
    @cython.locals(left_out=double)
    cdef double step(self) except? -1.5e300 nogil
    @cython.locals(left_out=double)
    cdef inline double move(self, double* slopes) except? -1.5e300 nogil
    @cython.locals(dependent=bint, spent=double, moved=double)
    cdef inline double compress(self, double eps) except? -1.5e300 nogil
    cdef int conclude(self, double lost) except -1 nogil
    cdef inline int evaluate_curvatures(self, double* g) except -1 nogil
    @cython.locals(unit=double, total=double, counted=double)
    cdef inline double counted_loss(self) noexcept nogil
    @cython.locals(width=double, least=double, reach=double)
    cdef inline int curve(self) except -1 nogil
    cdef int look_ahead(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int evaluate_columns(self) except -1 nogil
    cdef inline void whiten(self, Py_ssize_t b) noexcept nogil
    cdef int flush(self) except -1 nogil
    @cython.locals(enters=bint, own=double, variance=double, novelty=double, error=double, prior=double, beyond=double, extended=double, squares=double)
    cdef inline double move_by(self, Py_ssize_t b, double eps) except? -1.5e300 nogil
    cdef void move_beside(self, Py_ssize_t h, double variance) noexcept nogil
    cdef void refit_beside(self, Py_ssize_t j) noexcept nogil
    cdef inline double fresh_prior(self) noexcept nogil
    cdef inline void append(self, Py_ssize_t b, double novelty) noexcept nogil
    cdef inline void note_length(self, double square) noexcept nogil
    cdef inline void note_noise(self, Py_ssize_t b) noexcept nogil
