from colk._engine.user_functions.base cimport OfArrays, OfLoss
from colk.risks.base cimport LossRisk, Risk
from colk.trackers cimport Tracker
from colk._engine.window cimport Window

cdef class CustomRisk(LossRisk):
    cdef OfLoss _inner, _inner_slope, _outer, _outer_slope_loss, _outer_slope_inner
    cdef readonly tuple functions
    cdef readonly dict _given

cdef class Composition(Risk):
    cdef OfArrays _inner, _inner_slope, _outer, _by_prediction, _by_inner
    cdef readonly dict _given
