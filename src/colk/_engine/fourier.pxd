cimport cython
from colk._engine cimport counter_rng
from colk._engine.simd cimport loops, maths as math
from colk._engine.contracts cimport KernelContract

cdef class Spectrum:
    cdef readonly KernelContract kernel
    cdef readonly unsigned long long seed
    cdef readonly double amplitude
    cdef double[::1] frequency
    @cython.locals(k=Py_ssize_t, stream=counter_rng.word)
    cdef double feature(self, unsigned long long i) except? -1.5e300 nogil
    cdef double turns(self, double phase, const double[:, ::1] points, Py_ssize_t b) noexcept nogil
    @cython.locals(b=Py_ssize_t, i=Py_ssize_t, phase=double)
    cdef int redraw(self, Py_ssize_t n, const double[:, ::1] points, double[:, ::1] columns) except -1 nogil
    @cython.locals(i=Py_ssize_t, k=Py_ssize_t, last=Py_ssize_t)
    cpdef int draw(self, Py_ssize_t n, double[:, ::1] waves) except -1
    @cython.locals(values=double[:, ::1], b=Py_ssize_t, c=Py_ssize_t, i=Py_ssize_t, phase=double)
    cpdef int evaluate(self, const double[:, ::1] weights, Py_ssize_t row, Py_ssize_t n, const double[:, ::1] X, double[:, ::1] out) except -1

@cython.locals(r=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t, last=Py_ssize_t)
cpdef int fourier_rows(double[:, ::1] waves, Py_ssize_t n, double scale, const double[:, ::1] X, double[:, ::1] row, double[:, ::1] out) except -1
