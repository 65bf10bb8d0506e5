# Made from the .py file by tools/declarations.py.
from colk._engine.gradient_step cimport GradientStream
from colk._engine.simd cimport loops

cdef class OwnStep(GradientStream):
    cdef double step(self) except? -1.5e300 nogil
