# Parts of the marginal likelihood of a Gaussian process. Matrices are stored row by row, so BLAS
# sees them transposed.
from libc.math cimport exp, log, sqrt
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, dsyrk
from colk._engine.simd.lapack cimport cholesky, invert

cdef inline void matern_tables(const double[:, ::1] Z, double[:, ::1] table, double[:, ::1] slopes) noexcept nogil:
    cdef int n = <int>Z.shape[0], k = <int>Z.shape[1]
    cdef double one = 1.0, nothing = 0.0, square, r, tail
    cdef Py_ssize_t i, j
    dsyrk(b"U", b"T", &n, &k, &one, <double*>&Z[0, 0], &k, &nothing, &table[0, 0], &n)
    for i in range(n):  # the diagonal holds |z|² until all rows are done
        for j in range(i):
            square = table[i, i] + table[j, j] - 2.0 * table[i, j]
            r = sqrt(5.0 * square) if square > 0.0 else 0.0
            tail = exp(-r)
            table[i, j] = table[j, i] = (r * r / 3.0 + (1.0 + r)) * tail
            slopes[i, j] = slopes[j, i] = -5.0 / 6.0 * (1.0 + r) * tail
    for i in range(n):
        table[i, i] = 1.0
        slopes[i, i] = -5.0 / 6.0

cdef inline void matern_gradient(const double[:, ::1] Z, const double[:, ::1] outer, double[:, ::1] slopes, double[:, ::1] product, double[::1] sums, double[::1] out) noexcept nogil:
    cdef int n = <int>Z.shape[0], k = <int>Z.shape[1], step = 1
    cdef double one = 1.0, nothing = 0.0
    cdef Py_ssize_t i, c
    for i in range(n):
        product[i, 0] = 1.0  # a column of ones, for the sums of the rows
        for c in range(n):
            slopes[i, c] *= outer[i, c]
    dgemv(b"T", &n, &n, &one, &slopes[0, 0], &n, &product[0, 0], &k, &nothing, &sums[0], &step)
    dgemm(b"N", b"N", &k, &n, &n, &one, <double*>&Z[0, 0], &k, &slopes[0, 0], &n, &nothing, &product[0, 0], &k)
    for c in range(k):
        out[c] = 0.0
    for i in range(n):
        for c in range(k):
            out[c] += 4.0 * Z[i, c] * (sums[i] * Z[i, c] - product[i, c])

cdef inline int likelihood(const double[:, ::1] table, const double[:, ::1] Y, const double[::1] weight, double variance, double noise, double[:, ::1] outer, double[:, ::1] solved, double[::1] out) noexcept nogil:
    cdef int n = <int>Y.shape[0], q = <int>Y.shape[1], size = n * q, pairs = n * n, step = 1
    cdef double one = 1.0, nothing = 0.0, minus = -0.5 * variance, half = 0.5 * variance * q
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(i + 1):
            outer[i, j] = variance * table[i, j]
        outer[i, i] += noise / weight[i]
    if cholesky(outer) != 0:
        return 1
    out[0] = 0.0
    for i in range(n):
        out[0] += q * log(outer[i, i])
    invert(outer)
    dgemm(b"N", b"N", &q, &n, &n, &one, <double*>&Y[0, 0], &q, &outer[0, 0], &n, &nothing, &solved[0, 0], &q)
    out[0] += 0.5 * ddot(&size, <double*>&Y[0, 0], &step, &solved[0, 0], &step)
    dgemm(b"T", b"N", &n, &n, &q, &minus, &solved[0, 0], &q, &solved[0, 0], &q, &half, &outer[0, 0], &n)
    out[1] = ddot(&pairs, &outer[0, 0], &step, <double*>&table[0, 0], &step)
    out[2] = 0.0
    for i in range(n):
        out[2] += noise / variance * outer[i, i] / weight[i]
    return 0
