from colk.losses.regression cimport AdaptiveTube
from colk.step cimport KernelStream

cdef class TubeStream(KernelStream):
    cdef readonly AdaptiveTube adaptive
