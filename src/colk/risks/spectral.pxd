# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport TrackerContract
from colk._engine.simd cimport maths as math
from colk.risks cimport scalars
from colk.risks.of_losses cimport LossRisk

cdef class Spectral(LossRisk):
    cdef readonly tuple tail_fractions
    cdef readonly tuple weights
    cdef readonly double smoothing
    cdef readonly Py_ssize_t n_tails
    cdef double[::1] _fractions
    cdef double[::1] _shares
    @cython.locals(a="double", k="Py_ssize_t", tail="double", total="double")
    cdef double outer_at(self, double loss, const double* g) except? -1.5e300 nogil
    @cython.locals(a="double", k="Py_ssize_t", slope="double", total="double")
    cdef double outer_slope_loss_at(self, double loss, const double* g) except? -1.5e300 nogil
