# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.window cimport Window

@cython.final
cdef class LossStatistics:
    cdef public double level
    cdef public double spread
    cdef public double distance
    @cython.locals(b="Py_ssize_t", c="Py_ssize_t", columns="Py_ssize_t", gap="double", loss="double", share="double")
    cdef void follow(self, Window w, bint is_first, double rate) noexcept nogil
