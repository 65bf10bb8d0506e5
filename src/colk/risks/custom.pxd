# Made from the .py file by tools/declarations.py.
from colk._engine.contracts cimport TrackerContract
from colk._engine.user_functions.base cimport OfLoss
from colk.risks.of_losses cimport LossRisk

cdef class CustomRisk(LossRisk):
    cdef OfLoss _inner
    cdef OfLoss _inner_slope
    cdef OfLoss _outer
    cdef OfLoss _outer_slope_loss
    cdef OfLoss _outer_slope_inner
    cdef readonly tuple functions
    cdef readonly dict _given
