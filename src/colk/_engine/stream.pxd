cimport cython
from colk._engine.contracts cimport AveragingContract, RateContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport loops, maths as math
from colk._engine.window cimport Window

cdef double RUNAWAY

cdef class Stream:
    cdef readonly RateContract step_size
    cdef readonly AveragingContract averaging
    cdef readonly double regularization
    cdef readonly Py_ssize_t n_outputs, averaged, shown, gained, kept
    cdef readonly Window window
    cdef readonly Dictionary dictionary
    cdef readonly dict parts
    cdef readonly object lock
    cdef object postponed
    cdef readonly bint busy, diverged, traced, looks_ahead, is_guarded, maps
    cdef public Py_ssize_t steps
    cdef public double error_sum, largest_target
    cdef double largest_before
    cdef double[:, ::1] lines
    cdef Py_ssize_t line, reached
    cdef double[:, ::1] row, point, target, matrix
    cdef double[::1] weight
    cpdef int enter(self) except -1
    cdef inline int begin(self) except -1
    cdef inline int end(self) except -1
    cpdef int leave(self) except -1
    cpdef Py_ssize_t advance(self, const double[:, ::1] X, const double[:, ::1] Y,
                             const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1
    @cython.locals(taken=Py_ssize_t)
    cdef inline Py_ssize_t advance_locked(self, const double[:, ::1] X, const double[:, ::1] Y,
                                   const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef inline int take_row(self) noexcept nogil
    cdef int make_room(self) except -1
    cdef int flush(self) except -1 nogil
    cpdef Py_ssize_t learn_one(self, x, y, weight) except -2
    @cython.locals(total=double)
    cdef inline bint place(self, x, y, weight) except -1
    cdef inline Py_ssize_t run(self, const double[:, ::1] X, const double[:, ::1] Y,
                        const double[::1] weight, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef inline void slide(self) noexcept nogil
    cdef int look_ahead(self, const double[:, ::1] X, const double[::1] weight, Py_ssize_t row, Py_ssize_t stop) except -1 nogil
    cdef int make_step(self) except -1 nogil
    cdef inline int make_guarded_step(self) except -1 nogil
    cdef inline int refuse(self) except -1 nogil
    cdef inline void average(self, double rate) noexcept nogil
    cdef inline double averaging_rate(self) except? -1.5e300 nogil
    cdef inline void restore(self) noexcept nogil
