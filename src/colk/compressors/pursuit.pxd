# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.compressors cimport block
from colk.compressors.base cimport Compressor
from colk.compressors.scratch cimport PursuitScratch

cdef class KOMP(Compressor):
    cdef readonly object eps
    cdef readonly object parsimony
    cdef readonly object max_atoms
    cdef readonly object fraction
    cdef readonly double bound
    cdef readonly double gain
    cdef readonly double part
    cdef readonly Py_ssize_t at_most

@cython.locals(error="double", size="Py_ssize_t", start="Py_ssize_t")
cpdef double append(Dictionary d, points, weights, double eps=*) except? -1.5e300
cpdef double prune(Dictionary d, double eps=*, Py_ssize_t stop_at=*) except? -1.5e300
cpdef drop(Dictionary d, Py_ssize_t j)
cdef double absorb(Dictionary d, Py_ssize_t size, double eps, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(settled="bint", spent="double")
cdef double absorb_with(Dictionary d, PursuitScratch s, Py_ssize_t size, double eps, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(free="bint")
cdef double prune_atoms(Dictionary d, double allowed, double spent, Py_ssize_t stop_at, Py_ssize_t at_most, bint dependent) noexcept nogil
@cython.locals(amount="double", lifted="double", row="Py_ssize_t", squares="double", stays="bint")
cdef (double, Py_ssize_t, bint) drop_one(Dictionary d, PursuitScratch s, double allowed, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(lifted="double")
cdef (double, double, double, bint, bint) novelties(Dictionary d, PursuitScratch s) noexcept nogil
@cython.locals(first="double", mixed="double", row="Py_ssize_t", second="double")
cdef (double, double, double) products(Dictionary d) noexcept nogil
@cython.locals(both="bint", later="double", stays="bint")
cdef (double, Py_ssize_t, Py_ssize_t, bint) drop_pair(Dictionary d, PursuitScratch s, double allowed, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(moved="double", row="Py_ssize_t")
cdef void leave_to_others(Dictionary d, PursuitScratch s, Py_ssize_t p, Py_ssize_t q, double c, bint both, double s_p, double s_q) noexcept nogil
cdef void append_pair(Dictionary d, PursuitScratch s, Py_ssize_t staying, Py_ssize_t first) noexcept nogil
