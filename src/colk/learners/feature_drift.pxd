# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.simd cimport maths as math

cdef Py_ssize_t LONGEST
cdef Py_ssize_t MOST_FEATURES

@cython.final
cdef class FeatureMeans:
    cdef double[:, ::1] _sums
    cdef double[:, ::1] _counts
    cdef double _n_rows
    cdef list _names
    cdef dict _places
    cdef Py_ssize_t _size
    @cython.locals(j="Py_ssize_t", value="double")
    cpdef int add(self, features) except -1
    @cython.locals(j="Py_ssize_t", width="Py_ssize_t")
    cdef int add_row(self, double[:, ::1] points, Py_ssize_t row) except -1 nogil
    cdef int _admit(self, names) except -1
    @cython.locals(j="Py_ssize_t")
    cpdef int close_block(self) except -1 nogil
    cdef int _make_room(self) except -1
