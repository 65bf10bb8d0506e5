# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport counter_rng
from colk._engine.contracts cimport KernelContract
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math

cdef class Spectrum:
    cdef readonly double amplitude
    cdef double[::1] frequency
    cdef readonly KernelContract kernel
    cdef readonly unsigned long long seed
    @cython.locals(k="Py_ssize_t", stream="unsigned long long")
    cdef double feature(self, unsigned long long i) except? -1.5e300 nogil
    @cython.locals(i="Py_ssize_t", k="Py_ssize_t", last="Py_ssize_t")
    cpdef int draw(self, Py_ssize_t n, double[:, ::1] waves) except -1
    @cython.locals(k="Py_ssize_t")
    cdef double turns(self, double phase, const double[:, ::1] points, Py_ssize_t b) noexcept nogil
    @cython.locals(b="Py_ssize_t", i="Py_ssize_t", phase="double")
    cdef int redraw(self, Py_ssize_t n, const double[:, ::1] points, double[:, ::1] columns) except -1 nogil
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t", i="Py_ssize_t", phase="double", values="double[:, ::1]")
    cpdef int evaluate(self, const double[:, ::1] weights, Py_ssize_t row, Py_ssize_t n, const double[:, ::1] X, double[:, ::1] out) except -1

@cython.locals(i="Py_ssize_t", k="Py_ssize_t", last="Py_ssize_t", r="Py_ssize_t")
cpdef int fourier_rows(double[:, ::1] waves, Py_ssize_t n, double scale, const double[:, ::1] X, double[:, ::1] row, double[:, ::1] out) except -1
