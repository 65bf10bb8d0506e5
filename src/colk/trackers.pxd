# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport TrackerContract

cdef class Tracker(TrackerContract):
    cdef double update(self, double g, double before, double now, double rate) except? -1.5e300 nogil

cdef class Momentum(Tracker):
    pass

cdef class MovingAverage(Tracker):
    pass

cdef class Extrapolation(Tracker):
    pass
