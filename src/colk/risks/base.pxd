from colk._engine.contracts cimport RiskContract

cdef class Risk(RiskContract):
    pass
