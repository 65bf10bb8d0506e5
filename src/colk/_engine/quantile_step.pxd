# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.newton_step cimport NewtonStream

cdef Py_ssize_t MOST
cdef double STEP

cdef class QuantileStream(NewtonStream):
    cdef double[::1] levels
    cdef double[::1] offsets
    cdef double[::1] distances
    cdef int conclude(self, double lost) except -1 nogil
    @cython.locals(c="Py_ssize_t", excess="double", rate="double", slope="double", weight="double")
    cdef inline void move_offsets(self) noexcept nogil
