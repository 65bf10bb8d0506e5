# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math

cdef unsigned long long _MASK
cdef unsigned long long _STEP
cdef unsigned long long _FIRST, _SECOND

cdef unsigned long long _scrambled(unsigned long long z) noexcept nogil
cpdef unsigned long long mixed(unsigned long long seed, unsigned long long counter) noexcept nogil
cpdef double uniform(unsigned long long seed, unsigned long long counter) noexcept nogil
cpdef double normal(unsigned long long seed, unsigned long long counter) noexcept nogil
@cython.locals(boost="double", c="double", d="double", draw="unsigned long long", u="double", v="double", x="double")
cpdef double gamma(unsigned long long seed, double shape) noexcept nogil
