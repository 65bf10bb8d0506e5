cimport cython
from colk._engine.newton_step cimport NewtonStream

cdef Py_ssize_t MOST
cdef double STEP

cdef class QuantileStream(NewtonStream):
    cdef double[::1] levels, offsets, distances
    cdef int conclude(self, double lost) except -1 nogil
    @cython.locals(excess=double, slope=double, rate=double, weight=double, unit=double)
    cdef inline void move_offsets(self) noexcept nogil
