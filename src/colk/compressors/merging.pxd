cimport cython
from colk cimport lanes, maths as math
from colk.compressors cimport budget
from colk.compressors.budget cimport Budget
from colk.dictionary cimport Dictionary

cdef Py_ssize_t LENGTHS, CENTRES, BEST, PLACES, NEAR, FAR, OWN, MIXED, OTHER, COLUMN
cdef Py_ssize_t POSITION, LOST, TO_LIGHT, TO_HEAVY
cdef Py_ssize_t NEWTON_STEPS, NEWTON_MOST, GRID, ROUNDS_TO_CHOOSE, ROUNDS_TO_PLACE
cdef double FARTHEST

@cython.locals(low=double, high=double, h=double, share=double, moved=double)
cdef double gaussian_position(double ratio, double decay) noexcept nogil
@cython.locals(h=double, decay=double, pull=double, slope=double, merged=double, heavy=double)
cdef void price_gaussian(Dictionary d, Py_ssize_t p) noexcept nogil
@cython.locals(least=double, h=double, decay=double, heavy=double)
cdef Py_ssize_t choose_gaussian(Dictionary d, Py_ssize_t p) except -1 nogil
cdef int show(Dictionary d, Py_ssize_t n, double offset, double sign, Py_ssize_t row) except -1 nogil
@cython.locals(step=double, size=double)
cdef int refine(Dictionary d, Py_ssize_t n, Py_ssize_t rounds) except -1 nogil
@cython.locals(squares=double, difference=double)
cdef void gather(Dictionary d, Py_ssize_t p) noexcept nogil
@cython.locals(least=double, loss=double, whole=double, total=double)
cdef Py_ssize_t choose_radial(Dictionary d, Py_ssize_t p) except -1 nogil

cdef class Merging(Budget):
    @cython.locals(h=double)
    cdef double make_room(self, Dictionary d) except -1 nogil
