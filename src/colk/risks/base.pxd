# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport RiskContract

cdef class Risk(RiskContract):
    pass
