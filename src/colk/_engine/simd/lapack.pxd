# Cholesky factors by SciPy's LAPACK. Matrices are stored row by row, so LAPACK sees them transposed:
# a lower triangle here is an upper triangle there.
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, dsyrk, dtrmm
from scipy.linalg.cython_lapack cimport dlauum, dpotrf, dtrtri

# Larger triangles are inverted by halves: products of matrices are faster than LAPACK's inverse.
cdef enum:
    HALVED = 64

cdef inline int cholesky(double[:, ::1] A) noexcept nogil:
    cdef int n = <int>A.shape[0], info = 0
    if n > 0:
        dpotrf(b"U", &n, &A[0, 0], &n, &info)
    return info

cdef inline void invert_halves(double* U, int n, int stride) noexcept nogil:
    cdef int info = 0, first = n // 2, second = n - n // 2
    cdef double one = 1.0, minus = -1.0
    cdef double* beside = U + <Py_ssize_t>first * stride
    if n <= HALVED:
        dtrtri(b"U", b"N", &n, U, &stride, &info)
        return
    invert_halves(U, first, stride)
    invert_halves(beside + first, second, stride)
    dtrmm(b"L", b"U", b"N", b"N", &first, &second, &minus, U, &stride, beside, &stride)
    dtrmm(b"R", b"U", b"N", b"N", &first, &second, &one, beside + first, &stride, beside, &stride)

cdef inline void invert_triangle(double[:, ::1] L) noexcept nogil:
    if L.shape[0] > 0:
        invert_halves(&L[0, 0], <int>L.shape[0], <int>L.shape[0])

cdef inline void invert(double[:, ::1] L) noexcept nogil:
    cdef int n = <int>L.shape[0], info = 0
    cdef Py_ssize_t i, j
    invert_triangle(L)
    if n > 0:
        dlauum(b"U", &n, &L[0, 0], &n, &info)
    for i in range(n):
        for j in range(i):
            L[j, i] = L[i, j]

cdef inline void whiten(double[:, ::1] triangle, double[:, ::1] rows) noexcept nogil:
    cdef int m = <int>triangle.shape[0], n = <int>rows.shape[0]
    cdef double one = 1.0
    if m > 0 and n > 0:
        dtrmm(b"L", b"U", b"T", b"N", &m, &n, &one, &triangle[0, 0], &m, &rows[0, 0], &m)

cdef inline void weigh_and_square(double[:, ::1] rows, const double[::1] roots, double[:, ::1] out) noexcept nogil:
    cdef int m = <int>rows.shape[1], n = <int>rows.shape[0]
    cdef double one = 1.0, nothing = 0.0
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(m):
            rows[i, j] *= roots[i]
    if m > 0:
        dsyrk(b"U", b"N", &m, &n, &one, &rows[0, 0], &m, &nothing, &out[0, 0], &m)

cdef inline int ridge_triangle(double[:, ::1] A, const double[:, ::1] K, double ridge, double jitter) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int failed
    for i in range(A.shape[0]):
        for j in range(i + 1):
            A[i, j] += ridge * K[i, j]
        A[i, i] *= 1.0 + jitter
    failed = cholesky(A)
    if failed == 0:
        invert_triangle(A)
    return failed

cdef inline void whiten_and_sum(double[:, ::1] triangle, double[:, ::1] rows, const double[:, ::1] targets, double[:, ::1] out) noexcept nogil:
    cdef int m = <int>rows.shape[1], n = <int>rows.shape[0], q = <int>targets.shape[1], step = 1
    cdef double one = 1.0, nothing = 0.0
    whiten(triangle, rows)
    if q == 1:
        dgemv(b"N", &m, &n, &one, &rows[0, 0], &m, <double*>&targets[0, 0], &step, &nothing, &out[0, 0], &step)
    else:
        dgemm(b"N", b"T", &q, &m, &n, &one, <double*>&targets[0, 0], &q, &rows[0, 0], &m, &nothing, &out[0, 0], &q)

cdef inline void lengths_and_values(const double[:, ::1] rows, Py_ssize_t size, const double[:, ::1] weights, double[::1] lengths, double[:, ::1] values) noexcept nogil:
    cdef int m = <int>rows.shape[1], n = <int>rows.shape[0], k = <int>size, q = <int>weights.shape[1], step = 1
    cdef double one = 1.0, nothing = 0.0
    cdef double *first = <double*>&rows[0, 0]
    cdef Py_ssize_t i
    for i in range(n):
        lengths[i] = ddot(&k, first + i * m, &step, first + i * m, &step)
    if q == 1:
        dgemv(b"T", &k, &n, &one, first, &m, <double*>&weights[0, 0], &step, &nothing, &values[0, 0], &step)
    else:
        dgemm(b"N", b"N", &q, &n, &k, &one, <double*>&weights[0, 0], &q, first, &m, &nothing, &values[0, 0], &q)
