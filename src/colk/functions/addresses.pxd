# Calls of C functions by address. Every function gets copies of its own, made in `room`: on the
# stack where they are few. Without memory for them, NaN sends the caller to the Python function.
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

ctypedef double (*Numbers)(double, double) noexcept nogil
ctypedef double (*Points)(double *, double *, Py_ssize_t) noexcept nogil
ctypedef double (*OfALoss)(double, double *, Py_ssize_t) noexcept nogil
ctypedef double (*Arrays)(double *, double *, double *, double *) noexcept nogil

cdef inline double of_numbers(size_t address, double a, double b) noexcept nogil:
    return (<Numbers>address)(a, b)

cdef inline bint of_points(size_t address, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, double[:, ::1] out, Py_ssize_t first) noexcept nogil:
    cdef Py_ssize_t p = points.shape[1], b, i, j
    cdef double *room = <double *>malloc(2 * p * sizeof(double))
    cdef bint answered = True
    for b in range(size):
        for j in range(n):
            out[first + b, j] = NAN
            if room != NULL:
                for i in range(p):
                    room[i] = points[b, i]
                    room[p + i] = atoms[i, j]
                out[first + b, j] = (<Points>address)(room, room + p, p)
            if out[first + b, j] != out[first + b, j]:
                answered = False
    free(room)
    return answered

cdef inline double of_loss(size_t address, double loss, const double[::1] g, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t m = g.shape[0]
    cdef double few[16]
    cdef double *room = few
    cdef double value = NAN
    if m > 16:
        room = <double *>malloc(m * sizeof(double))
    if room != NULL:
        memcpy(room, &g[0], m * sizeof(double))
        value = (<OfALoss>address)(loss, room, i)
    if room != few:
        free(room)
    return value

cdef inline bint of_arrays(size_t address, const double[:, ::1] F, Py_ssize_t i, const double[:, ::1] Y, Py_ssize_t j, const double[::1] g, double[::1] out, Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t q = F.shape[1], r = Y.shape[1], m = g.shape[0]
    cdef double few[16]
    cdef double *room = few
    cdef double answer = NAN
    if q + r + m > 16:
        room = <double *>malloc((q + r + m) * sizeof(double))
    if room != NULL:
        memcpy(room, &F[i, 0], q * sizeof(double))
        memcpy(room + q, &Y[j, 0], r * sizeof(double))
        if m > 0:
            memcpy(room + q + r, &g[0], m * sizeof(double))
        answer = (<Arrays>address)(room, room + q, room + q + r, &out[start])
    if room != few:
        free(room)
    return answer == answer
