# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport Scratch
from colk._engine.dictionary cimport Dictionary

cdef class PursuitScratch(Scratch):
    cdef double[:, ::1] solutions
    cdef double[:, ::1] whitened
    cdef double[::1] sums
    cdef double[:, ::1] schur
    cdef double[:, ::1] lower
    cdef double[:, ::1] inverse
    cdef double[:, ::1] small_factor
    cdef double[::1] small_diagonal
    cdef double[::1] small_carry
    cdef double[:, ::1] carries
    cdef double[:, ::1] given
    cdef double[:, ::1] shares
    cdef double[::1] prices
    cdef double[::1] charges
    cdef double[::1] novelty
    cdef double least
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] labels
