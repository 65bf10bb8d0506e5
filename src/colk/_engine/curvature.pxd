cimport cython
from colk._engine.contracts cimport LossContract, RiskContract
from colk._engine.simd cimport loops, maths as math
from colk._engine.window cimport Window

cdef double DIFFERENCE

cdef int start(Window w, LossContract loss, double width) except -1 nogil

@cython.locals(theta_squares=double, xi_squares=double, outer=double, through=double)
cdef int add_of_losses(Window w, RiskContract risk, Py_ssize_t theta, Py_ssize_t xi, double by_theta, double by_xi, double width) except -1 nogil
@cython.locals(theta_squares=double, xi_squares=double, size=double, length=double, change=double, curvature=double)
cdef int add_of_predictions(Window w, RiskContract risk, Py_ssize_t theta, Py_ssize_t xi, double by_theta, double by_xi) except -1 nogil
