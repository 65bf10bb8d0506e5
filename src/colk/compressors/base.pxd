from colk._engine.compression cimport CompressorContract

cdef class Compressor(CompressorContract):
    pass
