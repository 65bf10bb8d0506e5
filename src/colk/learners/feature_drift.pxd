cimport cython
from colk._engine.simd cimport maths as math

cdef Py_ssize_t LONGEST, MOST_FEATURES

@cython.final
cdef class FeatureMeans:
    cdef list _names
    cdef dict _places
    cdef double[:, ::1] _sums, _counts
    cdef Py_ssize_t _size
    cdef double _n_rows
    @cython.locals(value=double, j=Py_ssize_t)
    cpdef int add(self, features) except -1
    @cython.locals(width=Py_ssize_t)
    cdef int add_row(self, double[:, ::1] points, Py_ssize_t row) except -1 nogil
    cdef int _admit(self, names) except -1
    cpdef int close_block(self) except -1 nogil
    cdef int _make_room(self) except -1
