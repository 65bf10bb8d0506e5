from colk._engine.contracts cimport Scratch

cdef class PursuitScratch(Scratch):
    cdef double[:, ::1] solutions, whitened, schur, lower, inverse, small_factor, carries, given, shares
    cdef double[::1] sums, novelty, prices, charges, small_diagonal, small_carry
    cdef double least
    cdef Py_ssize_t[::1] order, labels
