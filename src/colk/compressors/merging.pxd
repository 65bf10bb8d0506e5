cimport cython
from colk._engine.simd cimport loops, maths as math
from colk.compressors cimport budget
from colk.compressors.budget cimport Budget
from colk._engine.dictionary cimport Dictionary

cdef Py_ssize_t LENGTHS, OWN, MIXED, OTHER, CENTRES, PLACES, NEAR, FAR, LOSSES, COLUMN
cdef Py_ssize_t GRID, ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE

cdef class Merging(Budget):
    @cython.locals(h=double, merged=double, lost=double)
    cdef double make_room(self, Dictionary d) except? -1.5e300 nogil

cdef Py_ssize_t least_loss(Dictionary d, Py_ssize_t p) noexcept nogil
@cython.locals(low=double, high=double, h=double, share=double, moved=double)
cdef double gaussian_position(double ratio, double decay) noexcept nogil
cdef Py_ssize_t choose_gaussian(Dictionary d, Py_ssize_t p) noexcept nogil
cdef int show(Dictionary d, Py_ssize_t n, double offset, double sign, Py_ssize_t row) except -1 nogil
@cython.locals(step=double, size=double)
cdef int refine(Dictionary d, Py_ssize_t n, Py_ssize_t rounds) except -1 nogil
@cython.locals(squares=double, difference=double)
cdef void gather(Dictionary d, Py_ssize_t p) noexcept nogil
@cython.locals(whole=double)
cdef Py_ssize_t choose_radial(Dictionary d, Py_ssize_t p) except -1 nogil
