from colk cimport maths as math
from colk.compressors cimport pursuit
from colk.compressors.base cimport Compressor

cdef class KOMP(Compressor):
    cdef readonly object eps, parsimony, max_atoms, fraction
    cdef double bound, gain, part
    cdef Py_ssize_t at_most
