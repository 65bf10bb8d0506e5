# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport blas
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.compressors.scratch cimport PursuitScratch

cdef (double, Py_ssize_t) drop_block(Dictionary d, PursuitScratch s, Py_ssize_t size, double allowed, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(a="Py_ssize_t", b="Py_ssize_t")
cdef void form_schur(Dictionary d, PursuitScratch s, Py_ssize_t size) noexcept nogil
@cython.locals(b="Py_ssize_t", i="Py_ssize_t", k="Py_ssize_t", relative="double", top="double")
cdef Py_ssize_t choose_pivots(Dictionary d, PursuitScratch s, Py_ssize_t size) noexcept nogil
@cython.locals(entry="double", i="Py_ssize_t", j="Py_ssize_t", pivot="double")
cdef void eliminate(Dictionary d, PursuitScratch s, Py_ssize_t k, Py_ssize_t size) noexcept nogil
@cython.locals(entry="double", i="Py_ssize_t", j="Py_ssize_t", k="Py_ssize_t")
cdef void invert_lower(Dictionary d, PursuitScratch s, Py_ssize_t rank) noexcept nogil
@cython.locals(b="Py_ssize_t", i="Py_ssize_t", j="Py_ssize_t", k="Py_ssize_t", length="double", rest="double", row="Py_ssize_t", share="double", spent="double")
cdef double merge_spanned(Dictionary d, PursuitScratch s, Py_ssize_t rank, Py_ssize_t size) noexcept nogil
@cython.locals(least="double", place="Py_ssize_t", row="Py_ssize_t", squares="double")
cdef Py_ssize_t cheapest_new(Dictionary d, PursuitScratch s, Py_ssize_t staying) noexcept nogil
@cython.locals(b="Py_ssize_t", i="Py_ssize_t", j="Py_ssize_t", k="Py_ssize_t", price="double", row="Py_ssize_t", share="double")
cdef (Py_ssize_t, double) plan(Dictionary d, PursuitScratch s, Py_ssize_t rank, Py_ssize_t limit, double allowed, double spent, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
@cython.locals(b="Py_ssize_t", i="Py_ssize_t", j="Py_ssize_t")
cdef void lift(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
@cython.locals(i="Py_ssize_t", j="Py_ssize_t")
cdef void enlarge(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
@cython.locals(j="Py_ssize_t", k="Py_ssize_t", row="Py_ssize_t")
cdef Py_ssize_t apply(Dictionary d, PursuitScratch s, Py_ssize_t drops) noexcept nogil
@cython.locals(i="Py_ssize_t", j="Py_ssize_t")
cdef void append_block(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
