# Made from the .py file by tools/declarations.py.
cimport cython
from colk._engine.contracts cimport TrackerContract
from colk.risks.base cimport Risk

cdef double _SLOWER

cdef class AUC(Risk):
    @cython.locals(apart="double", f="double")
    cdef double outer_at_row(self, const double[:, ::1] F, const double[:, ::1] Y, Py_ssize_t theta, const double[::1] g, double[::1] work) except? -1.5e300 nogil
