# Made from the .py file by tools/declarations.py.
cimport cython

@cython.final
cdef class Window:
    cdef readonly Py_ssize_t size
    cdef public Py_ssize_t filled
    cdef readonly double[:, ::1] points
    cdef readonly double[:, ::1] targets
    cdef readonly double[::1] weights
    cdef readonly double[:, ::1] predictions
    cdef readonly double[:, ::1] previous
    cdef readonly double[::1] losses
    cdef readonly double[::1] previous_losses
    cdef readonly double[:, ::1] loss_slopes
    cdef readonly double[:, ::1] coefficients
    cdef readonly double[:, ::1] slopes
    cdef readonly double[::1] loss_curvatures
    cdef readonly double[::1] curvatures
    cdef readonly double[::1] factors
    cdef readonly double[:, ::1] kept
    cdef readonly double[::1] work
    cdef readonly double[::1] g
    cdef readonly double[::1] g_before
    cdef readonly double[::1] g_mean
