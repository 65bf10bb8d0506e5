cimport cython
from colk._engine.simd cimport maths as math
from colk._engine.window cimport Window

cdef double TAIL, TAIL_RATE, SHARE_RATE, MOST_BEYOND

@cython.final
cdef class LossStatistics:
    cdef public double level, spread, distance, tail_loss, beyond
    @cython.locals(loss=double, gap=double, share=double, columns=Py_ssize_t)
    cdef void follow(self, Window w, bint is_first, double rate) noexcept nogil
    @cython.locals(above=double, loss=double)
    cdef bint has_changed(self, Window w, bint is_first) noexcept nogil
