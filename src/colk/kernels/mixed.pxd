# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport counter_rng
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.kernels.base cimport Kernel
from colk.kernels.stationary cimport Stationary

cdef class Mixed(Kernel):
    cdef readonly Stationary kernel
    cdef readonly tuple categorical
    cdef readonly tuple weights
    cdef const Py_ssize_t[::1] places
    cdef const double[::1] factors
    @cython.locals(b="Py_ssize_t", i="Py_ssize_t", k="Py_ssize_t")
    cdef int columns(self, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil
    @cython.locals(i="Py_ssize_t", stream="unsigned long long", turns="double")
    cdef int add_frequency(self, unsigned long long seed, double[::1] out) except -1 nogil
