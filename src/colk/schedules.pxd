from colk.terms cimport Term

cdef class PowerDecay(Term):
    cdef readonly double initial, power, scale
    cdef double rate(self, Py_ssize_t t) noexcept nogil
