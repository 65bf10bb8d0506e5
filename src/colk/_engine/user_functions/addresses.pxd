# Calls of C functions by address. Every function gets its own copies, made in `room`, which is on
# the stack if they are small. If the result is NaN, the caller calls the Python function. The
# result is also NaN if there is no address or no memory.
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

ctypedef double (*Numbers)(double, double) noexcept nogil
ctypedef double (*Points)(double *, double *, Py_ssize_t) noexcept nogil
ctypedef double (*OfALoss)(double, double *, Py_ssize_t) noexcept nogil
ctypedef double (*Arrays)(double *, double *, double *, double *) noexcept nogil

cdef inline double of_numbers(size_t address, double a, double b) noexcept nogil:
    return NAN if address == 0 else (<Numbers>address)(a, b)

cdef inline double of_points(size_t address, const double[:, ::1] points, Py_ssize_t b, const double[:, ::1] atoms, Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t p = points.shape[1], i
    cdef double few[64]
    cdef double *room = &few[0] if 2 * p <= 64 else <double *>malloc(2 * p * sizeof(double))
    cdef double value = NAN
    if address != 0 and room != NULL:
        for i in range(p):
            room[i] = points[b, i]
            room[p + i] = atoms[i, j]
        value = (<Points>address)(room, room + p, p)
    if room != &few[0]:
        free(room)
    return value

cdef inline double of_loss(size_t address, double loss, const double* g, Py_ssize_t m, Py_ssize_t i) noexcept nogil:
    cdef double few[64]
    cdef double *room = &few[0] if m <= 64 else <double *>malloc(m * sizeof(double))
    cdef double value = NAN
    if address != 0 and room != NULL:
        memcpy(room, g, m * sizeof(double))
        value = (<OfALoss>address)(loss, room, i)
    if room != &few[0]:
        free(room)
    return value

cdef inline double of_arrays(size_t address, const double[:, ::1] F, Py_ssize_t i, const double[:, ::1] Y, Py_ssize_t j, const double[::1] g, double[::1] out, Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t q = F.shape[1], r = Y.shape[1], m = g.shape[0]
    cdef double few[64]
    cdef double *room = &few[0] if q + r + m <= 64 else <double *>malloc((q + r + m) * sizeof(double))
    cdef double answer = NAN
    if address != 0 and room != NULL:
        memcpy(room, &F[i, 0], q * sizeof(double))
        memcpy(room + q, &Y[j, 0], r * sizeof(double))
        if m > 0:
            memcpy(room + q + r, &g[0], m * sizeof(double))
        answer = (<Arrays>address)(room, room + q, room + q + r, &out[start])
    if room != &few[0]:
        free(room)
    return answer
