# Made from the .py file by tools/declarations.py.
from colk.risks.base cimport Risk

cdef class GroupRisk(Risk):
    cdef readonly double tail_fraction
