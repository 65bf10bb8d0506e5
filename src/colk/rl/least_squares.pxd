# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport inverse_curvature
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.compressors.pursuit cimport KOMP
from colk.rl.step cimport ValueStream

cdef Py_ssize_t HERE, AHEAD, CHANGE, MOVE, DUAL, SPREAD
cdef Py_ssize_t N_ROWS
cdef double SINGULAR

cdef class LeastSquaresStream(ValueStream):
    cdef KOMP rule
    cdef readonly double prior
    cdef double[:, ::1] matrix
    cdef double[:, ::1] rows
    cdef double[:, ::1] rotations
    cdef readonly bint is_singular
    cdef readonly double share
    cdef int make_room(self) except -1
    @cython.locals(enters="bint", error="double", n="Py_ssize_t", novelty="double", own="double", part="double", price="double", root="double", shared="double", wide="double")
    cdef int step(self) except -1 nogil
    @cython.locals(k="Py_ssize_t")
    cdef inline void project(self, Py_ssize_t count) noexcept nogil
    @cython.locals(i="Py_ssize_t", k="Py_ssize_t")
    cdef inline void multiply(self) noexcept nogil
    @cython.locals(inside="double", price="double", squares="double")
    cdef inline double error_outside(self, double wide, double root) noexcept nogil
    @cython.locals(k="Py_ssize_t", row="Py_ssize_t")
    cdef inline void append(self, double novelty, double root, double change) noexcept nogil
    @cython.locals(gain="double", i="Py_ssize_t", n="Py_ssize_t")
    cdef inline void update(self) noexcept nogil
    @cython.locals(dependent="bint", free="bint", spent="double")
    cdef inline double prune(self, double eps) noexcept nogil
    @cython.locals(i="Py_ssize_t", row="Py_ssize_t")
    cdef inline void drop_coordinate(self, Py_ssize_t j) noexcept nogil
    @cython.locals(beside="double", c="double", i="Py_ssize_t", k="Py_ssize_t", kept="double", s="double")
    cdef inline void rotate_rows(self, Py_ssize_t j) noexcept nogil
    @cython.locals(beside="double", c="double", i="Py_ssize_t", kept="double", s="double")
    cdef inline void rotate_row(self, Py_ssize_t row, Py_ssize_t j) noexcept nogil
