# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport AveragingContract
from colk._engine.contracts cimport RateContract

cdef class PowerDecay(RateContract):
    cdef readonly double initial
    cdef readonly double power
    cdef readonly double scale
    cdef double rate(self, Py_ssize_t t) noexcept nogil

cdef class Averaging(AveragingContract):
    cdef double rate_at(self, Py_ssize_t t) except? -1.5e300 nogil

cdef class PolyakRuppert(Averaging):
    cdef readonly Py_ssize_t burn_in
    cdef readonly double growth

cdef class Exponential(Averaging):
    cdef readonly double rate
