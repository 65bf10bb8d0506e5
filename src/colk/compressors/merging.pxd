# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport KernelContract
from colk._engine.contracts cimport Scratch
from colk._engine.dictionary cimport Dictionary
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk.compressors cimport budget
from colk.compressors.budget cimport Budget

cdef Py_ssize_t LENGTHS, OWN, MIXED, OTHER, CENTRES, PLACES, NEAR, FAR, LOSSES, COLUMN
cdef Py_ssize_t GRID
cdef Py_ssize_t ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE

cdef class MergeScratch(Scratch):
    cdef bint in_closed_form
    cdef double[:, ::1] rows
    cdef double[:, ::1] trial
    cdef double[:, ::1] origin

cdef class Merging(Budget):
    pass

@cython.locals(h="double", j="Py_ssize_t", k="Py_ssize_t", lost="double", merged="double", row="Py_ssize_t")
cdef double merge(Dictionary d, MergeScratch s) except? -1.5e300 nogil
@cython.locals(n="Py_ssize_t")
cdef Py_ssize_t least_loss(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
@cython.locals(_="Py_ssize_t", h="double", high="double", low="double", moved="double", share="double")
cdef double gaussian_position(double ratio, double decay) noexcept nogil
cdef Py_ssize_t choose_gaussian(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
@cython.locals(n="Py_ssize_t", row="Py_ssize_t", whole="double")
cdef Py_ssize_t choose_radial(Dictionary d, MergeScratch s, Py_ssize_t p) except -1 nogil
@cython.locals(difference="double", k="Py_ssize_t", n="Py_ssize_t", row="Py_ssize_t", squares="double")
cdef void gather(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
@cython.locals(_="Py_ssize_t", i="Py_ssize_t", j="Py_ssize_t", size="double", step="double")
cdef int refine(Dictionary d, MergeScratch s, Py_ssize_t n, Py_ssize_t rounds) except -1 nogil
@cython.locals(j="Py_ssize_t")
cdef int show(Dictionary d, MergeScratch s, Py_ssize_t n, double offset, double sign, Py_ssize_t row) except -1 nogil
