# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport counter_rng
from colk._engine.simd cimport maths as math
from colk.kernels.base cimport FormulaKernel

cdef class Stationary(FormulaKernel):
    cdef readonly object bandwidth
    @cython.locals(k="Py_ssize_t")
    cdef int add_normal(self, unsigned long long seed, double stretch, double[::1] out) except -1 nogil

cdef class Gaussian(Stationary):
    pass

cdef class Laplacian(Stationary):
    @cython.locals(k="Py_ssize_t")
    cdef int add_frequency(self, unsigned long long seed, double[::1] out) except -1 nogil

cdef class Matern(Stationary):
    cdef readonly double nu
    @cython.locals(i="Py_ssize_t", size="double", squares="double")
    cdef int add_frequency(self, unsigned long long seed, double[::1] out) except -1 nogil

cdef class RationalQuadratic(Stationary):
    cdef readonly double shape
