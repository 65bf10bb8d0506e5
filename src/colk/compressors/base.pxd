# Made from the .py file by tools/declarations.py.
from colk._engine.compression cimport CompressorContract
from colk._engine.dictionary cimport Dictionary
from colk._engine.terms cimport Term

cdef class Compressor(CompressorContract):
    pass
