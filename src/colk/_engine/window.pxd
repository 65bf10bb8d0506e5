cimport cython

@cython.final
cdef class Window:
    cdef readonly Py_ssize_t size
    cdef public Py_ssize_t filled
    cdef readonly double[:, ::1] points, targets, predictions, previous, loss_slopes, coefficients, slopes, kept
    cdef readonly double[::1] weights, losses, previous_losses, g, g_before, g_mean, work, factors
    cdef readonly double[::1] loss_curvatures, curvatures
