cimport cython
from colk._engine.simd cimport loops, maths as math
from colk.compressors cimport budget
from colk.compressors.budget cimport Budget
from colk._engine.contracts cimport Scratch
from colk._engine.dictionary cimport Dictionary

cdef Py_ssize_t LENGTHS, OWN, MIXED, OTHER, CENTRES, PLACES, NEAR, FAR, LOSSES, COLUMN
cdef Py_ssize_t GRID, ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE

cdef class MergeScratch(Scratch):
    cdef bint in_closed_form
    cdef double[:, ::1] rows, trial, origin

cdef class Merging(Budget):
    pass

@cython.locals(h=double, merged=double, lost=double)
cdef double merge(Dictionary d, MergeScratch s) except? -1.5e300 nogil
cdef Py_ssize_t least_loss(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
@cython.locals(low=double, high=double, h=double, share=double, moved=double)
cdef double gaussian_position(double ratio, double decay) noexcept nogil
cdef Py_ssize_t choose_gaussian(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
cdef int show(Dictionary d, MergeScratch s, Py_ssize_t n, double offset, double sign, Py_ssize_t row) except -1 nogil
@cython.locals(step=double, size=double)
cdef int refine(Dictionary d, MergeScratch s, Py_ssize_t n, Py_ssize_t rounds) except -1 nogil
@cython.locals(squares=double, difference=double)
cdef void gather(Dictionary d, MergeScratch s, Py_ssize_t p) noexcept nogil
@cython.locals(whole=double)
cdef Py_ssize_t choose_radial(Dictionary d, MergeScratch s, Py_ssize_t p) except -1 nogil
