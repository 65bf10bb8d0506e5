# Made from the .py file by tools/declarations.py.
from colk._engine.dictionary cimport Dictionary
from colk._engine.terms cimport Term

cdef class CompressorContract(Term):
    cdef double settle(self, Dictionary d, Py_ssize_t staged, double step_size, Py_ssize_t t) except? -1.5e300 nogil
