# Cholesky factors by SciPy's LAPACK. Matrices are stored row by row, so LAPACK sees them transposed:
# a lower triangle here is an upper triangle there.
from scipy.linalg.cython_blas cimport dtrmm
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
