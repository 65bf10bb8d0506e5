cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk

cdef class Spectral(LossRisk):
    cdef readonly tuple tail_fractions, weights
    cdef readonly double smoothing
    cdef readonly Py_ssize_t n_tails
    cdef double[::1] _fractions, _shares
    @cython.locals(total=double, a=double, tail=double)
    cdef double outer_at(self, double loss, const double* g) except? -1.5e300 nogil
    @cython.locals(total=double, a=double, slope=double)
    cdef double outer_slope_loss_at(self, double loss, const double* g) except? -1.5e300 nogil
