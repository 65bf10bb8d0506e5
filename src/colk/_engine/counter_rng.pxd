cimport cython
from colk._engine.simd cimport maths as math

ctypedef unsigned long long word

cdef word _MASK, _STEP, _FIRST, _SECOND

cdef word _scrambled(word z) noexcept nogil
cpdef word mixed(word seed, word counter) noexcept nogil
cpdef double uniform(word seed, word counter) noexcept nogil
cpdef double normal(word seed, word counter) noexcept nogil
@cython.locals(boost=double, d=double, c=double, x=double, v=double, u=double, draw=word)
cpdef double gamma(word seed, double shape) noexcept nogil
