# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine cimport counter_rng
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport maths as math
from colk.compressors cimport pursuit
from colk.compressors.base cimport Compressor

cdef class Budget(Compressor):
    cdef readonly object max_atoms
    cdef Py_ssize_t at_most
    @cython.locals(error="double")
    cdef double keep_to(self, Dictionary d, Py_ssize_t staged, Py_ssize_t at_most) except? -1.5e300 nogil
    cdef double make_room(self, Dictionary d) except? -1.5e300 nogil

cdef class Truncation(Budget):
    pass

cdef class Removal(Budget):
    pass

cdef class Projection(Budget):
    pass

cdef class Growing(Compressor):
    cdef readonly Budget rule
    cdef readonly double growth
    cdef readonly Py_ssize_t horizon
    cdef readonly Py_ssize_t seed

@cython.locals(b="Py_ssize_t", equal="bint", j="Py_ssize_t", k="Py_ssize_t", row="Py_ssize_t")
cpdef Py_ssize_t enrol(Dictionary d, Py_ssize_t staged) noexcept nogil
cpdef remove(Dictionary d, Py_ssize_t j)
@cython.locals(row="Py_ssize_t", squares="double")
cdef double squared_norm(Dictionary d, Py_ssize_t j) noexcept nogil
@cython.locals(j="Py_ssize_t", least="double", norm="double")
cdef Py_ssize_t lightest(Dictionary d) noexcept nogil
