cimport cython
from colk._engine.window cimport Window

@cython.final
cdef class LossStatistics:
    cdef public double level, spread, distance
    @cython.locals(loss=double, gap=double, share=double, columns=Py_ssize_t)
    cdef void follow(self, Window w, bint is_first, double rate) noexcept nogil
