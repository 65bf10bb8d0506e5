# Products of whole panels, by SciPy's BLAS. Matrices are stored row by row, so BLAS sees them
# transposed.
from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport dgemm, dsyrk, dtrmm

# Set the entries after the first n to 0, up to the end of a vector.
cdef inline void pad(double[:, ::1] rows, Py_ssize_t count, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t b, j
    for b in range(count):
        for j in range(n, (n + 7) & ~7):
            rows[b, j] = 0.0

cdef inline void solve_block(double[:, ::1] factor, Py_ssize_t n, double[:, ::1] columns, Py_ssize_t size, double[:, ::1] halves, double[:, ::1] solutions) noexcept nogil:
    cdef int m = <int>n, k = <int>size, lda = <int>factor.shape[1], ldb = <int>halves.shape[1]
    cdef double one = 1.0
    cdef Py_ssize_t b
    if n == 0:
        return
    for b in range(size):
        memcpy(&halves[b, 0], &columns[b, 0], n * sizeof(double))
    dtrmm(b"L", b"U", b"T", b"N", &m, &k, &one, &factor[0, 0], &lda, &halves[0, 0], &ldb)
    for b in range(size):
        memcpy(&solutions[b, 0], &halves[b, 0], n * sizeof(double))
    dtrmm(b"L", b"U", b"N", b"N", &m, &k, &one, &factor[0, 0], &lda, &solutions[0, 0], &ldb)
    pad(solutions, size, n)

cdef inline void subtract_squares(double[:, ::1] halves, Py_ssize_t n, Py_ssize_t size, double[:, ::1] out) noexcept nogil:
    cdef int m = <int>size, k = <int>n, lda = <int>halves.shape[1], ldc = <int>out.shape[1]
    cdef double one = 1.0, minus = -1.0
    if n > 0:
        dsyrk(b"U", b"T", &m, &k, &minus, &halves[0, 0], &lda, &one, &out[0, 0], &ldc)

cdef inline void product(double[:, ::1] left, Py_ssize_t rows, Py_ssize_t size, double[:, ::1] right, Py_ssize_t n, double[:, ::1] out) noexcept nogil:
    cdef int m = <int>n, r = <int>rows, k = <int>size
    cdef int lda = <int>right.shape[1], ldb = <int>left.shape[1], ldc = <int>out.shape[1]
    cdef double one = 1.0, nothing = 0.0
    if n > 0 and rows > 0:
        dgemm(b"N", b"N", &m, &r, &k, &one, &right[0, 0], &lda, &left[0, 0], &ldb, &nothing, &out[0, 0], &ldc)
    pad(out, rows, n)
