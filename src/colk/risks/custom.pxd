cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.user_functions.base cimport OfLoss
from colk.risks.of_losses cimport LossRisk

cdef class CustomRisk(LossRisk):
    cdef OfLoss _inner, _inner_slope, _outer, _outer_slope_loss, _outer_slope_inner
    cdef readonly tuple functions
    cdef readonly dict _given
