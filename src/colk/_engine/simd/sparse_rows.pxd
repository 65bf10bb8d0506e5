# The loop of sparse_rows.h.
cdef extern from "sparse_rows.h" nogil:
    int _sparse_columns "sparse_columns"(const Py_ssize_t*, const Py_ssize_t*, const double*, const double*, const double*, Py_ssize_t, Py_ssize_t, int, double, double, Py_ssize_t, const double*, Py_ssize_t, const double*, Py_ssize_t, double*, Py_ssize_t)

cdef inline int columns(const Py_ssize_t[::1] starts, const Py_ssize_t[::1] places, const double[::1] values, const double[::1] norms, const double[::1] tails, Py_ssize_t n_columns, int profile, double scale, double constant, Py_ssize_t degree, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) except -1 nogil:
    cdef int found = _sparse_columns(&starts[0], &places[0], &values[0], &norms[0], &tails[0], norms.shape[0], n_columns, profile, scale, constant, degree, &atoms[0, 0], n, &points[0, 0], size, &out[first, 0], out.shape[1])
    if found < 0:
        with gil:
            raise MemoryError if found == -1 else IndexError("a point of OfRows must be the number of a row")
    return 0
