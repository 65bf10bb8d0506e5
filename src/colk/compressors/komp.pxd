from colk.compressors cimport pursuit
from colk.compressors.base cimport Compressor

cdef class KOMP(Compressor):
    cdef readonly object eps, parsimony, max_atoms
    cdef double bound, gain
    cdef Py_ssize_t at_most
