cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.simd cimport loops, maths as math
from colk.compressors.pursuit cimport KOMP
from colk.rl.step cimport ValueStream

cdef Py_ssize_t HERE, AHEAD, CHANGE, MOVE, DUAL, SPREAD, N_ROWS
cdef double SINGULAR

cdef class LeastSquaresStream(ValueStream):
    cdef KOMP rule
    cdef readonly double prior, share
    cdef readonly bint is_singular
    cdef double[:, ::1] matrix, rows, rotations
    cdef int make_room(self) except -1
    @cython.locals(enters=bint, own=double, novelty=double, root=double,
                   part=double, shared=double, wide=double, error=double, price=double)
    cdef int step(self) except -1 nogil
    cdef inline void project(self, Py_ssize_t count) noexcept nogil
    cdef inline void multiply(self) noexcept nogil
    @cython.locals(price=double, inside=double, squares=double)
    cdef inline double error_outside(self, double wide, double root) noexcept nogil
    cdef inline void append(self, double novelty, double root, double change) noexcept nogil
    @cython.locals(gain=double)
    cdef inline void update(self) noexcept nogil
    @cython.locals(dependent=bint, free=bint, spent=double)
    cdef inline double prune(self, double eps) noexcept nogil
    cdef inline void drop_coordinate(self, Py_ssize_t j) noexcept nogil
    @cython.locals(c=double, s=double, beside=double, kept=double)
    cdef inline void rotate_rows(self, Py_ssize_t j) noexcept nogil
    @cython.locals(c=double, s=double, beside=double, kept=double)
    cdef inline void rotate_row(self, Py_ssize_t row, Py_ssize_t j) noexcept nogil
