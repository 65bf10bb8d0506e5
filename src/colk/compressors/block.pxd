cimport cython
from colk._engine.simd cimport blas, loops, maths as math
from colk._engine.dictionary cimport Dictionary
from colk.compressors.scratch cimport PursuitScratch

cdef (double, Py_ssize_t) drop_block(Dictionary d, PursuitScratch s, Py_ssize_t size, double allowed, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
cdef void form_schur(Dictionary d, PursuitScratch s, Py_ssize_t size) noexcept nogil
@cython.locals(top=double, relative=double)
cdef Py_ssize_t choose_pivots(Dictionary d, PursuitScratch s, Py_ssize_t size) noexcept nogil
@cython.locals(pivot=double, entry=double)
cdef void eliminate(Dictionary d, PursuitScratch s, Py_ssize_t k, Py_ssize_t size) noexcept nogil
@cython.locals(entry=double)
cdef void invert_lower(Dictionary d, PursuitScratch s, Py_ssize_t rank) noexcept nogil
@cython.locals(spent=double, length=double, rest=double, share=double)
cdef double merge_spanned(Dictionary d, PursuitScratch s, Py_ssize_t rank, Py_ssize_t size) noexcept nogil
@cython.locals(least=double, squares=double)
cdef Py_ssize_t cheapest_new(Dictionary d, PursuitScratch s, Py_ssize_t staying) noexcept nogil
@cython.locals(price=double, share=double)
cdef (Py_ssize_t, double) plan(Dictionary d, PursuitScratch s, Py_ssize_t rank, Py_ssize_t limit, double allowed, double spent, Py_ssize_t stop_at, Py_ssize_t at_most) noexcept nogil
cdef void lift(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
cdef void enlarge(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
cdef Py_ssize_t apply(Dictionary d, PursuitScratch s, Py_ssize_t drops) noexcept nogil
cdef void append_block(Dictionary d, PursuitScratch s, Py_ssize_t drops, Py_ssize_t rank) noexcept nogil
