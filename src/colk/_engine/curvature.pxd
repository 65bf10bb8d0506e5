# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport LossContract
from colk._engine.contracts cimport RiskContract
from colk._engine.simd cimport loops
from colk._engine.simd cimport maths as math
from colk._engine.window cimport Window

cdef double DIFFERENCE

@cython.locals(b="Py_ssize_t")
cdef int start(Window w, LossContract loss, double width) except -1 nogil
@cython.locals(c="Py_ssize_t", outer="double", theta_squares="double", through="double", xi_squares="double")
cdef int add_of_losses(Window w, RiskContract risk, Py_ssize_t theta, Py_ssize_t xi, double by_theta, double by_xi, double width) except -1 nogil
@cython.locals(c="Py_ssize_t", change="double", curvature="double", length="double", size="double", theta_squares="double", xi_squares="double")
cdef int add_of_predictions(Window w, RiskContract risk, Py_ssize_t theta, Py_ssize_t xi, double by_theta, double by_xi) except -1 nogil
