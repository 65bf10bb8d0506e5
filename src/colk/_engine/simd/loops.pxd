# The loops of loops.h, called with whole matrices and row indices, because a slice would count
# references.
cimport cython

ctypedef void (*Columns)(const double*, Py_ssize_t, Py_ssize_t, const double*, Py_ssize_t, Py_ssize_t, const double*, double, double*, Py_ssize_t) noexcept nogil

cdef extern from "loops.h" nogil:
    double NOVELTY_FLOOR "1e-9", DEPENDENCE_FLOOR "1e-10", SMALLEST_PIVOT "1e-290", ROUNDING "2e-14", LARGEST "1e75"
    Columns _kernel_loop "kernel_loop"(const char*)
    void _cosines "cosines"(double*, double, Py_ssize_t)
    void _copy "copy"(double*, const double*, Py_ssize_t)
    void _close_gap "close_gap"(double*, Py_ssize_t, Py_ssize_t)
    double _dot "dot"(const double*, const double*, Py_ssize_t)
    void _add "add"(double*, double*, double, Py_ssize_t)
    void _add_two "add_two"(double*, double*, double*, double, double, Py_ssize_t)
    void _approach "approach"(double*, double*, double, Py_ssize_t)
    void _multiply "multiply"(double*, double*, Py_ssize_t)
    void _scale "scale"(double*, double, Py_ssize_t)
    void _overlap "overlap"(double*, const double*, double, double, Py_ssize_t)
    void _transform "transform"(const double*, Py_ssize_t, const double*, Py_ssize_t, double*, Py_ssize_t)
    void _keep_and_scale "keep_and_scale"(double*, double*, double, Py_ssize_t)
    void _solve "solve"(double*, Py_ssize_t, Py_ssize_t, double*, Py_ssize_t, double*, double*)
    void _rotate_out "rotate_out"(double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*, double*)
    int _atoms_within "atoms_within"(double*, Py_ssize_t, Py_ssize_t, double*, double*, double*, Py_ssize_t, double*, double*, double, double, double, double, double, double)
    int _atoms_within_one "atoms_within_one"(double*, Py_ssize_t, Py_ssize_t, double*, double*, Py_ssize_t, double*, double, double, double)
    bint _any_within "any_within"(double*, Py_ssize_t, Py_ssize_t, double*, Py_ssize_t, double)
    void _price_mergers "price_mergers"(double*, double*, double, double, double*, double*, double*, Py_ssize_t)
    void _whiten "whiten"(double*, Py_ssize_t, Py_ssize_t, double*, double*, int)
    void _spread "spread"(double*, Py_ssize_t, Py_ssize_t, double*, double*)
    void _whiten_and_spread "whiten_and_spread"(double*, Py_ssize_t, Py_ssize_t, double*, double*, double*, double*)
    void _settle_and_multiply "settle_and_multiply"(double*, Py_ssize_t, Py_ssize_t, double*, double*, Py_ssize_t, double*, double*, int)
    void _rotate_out_symmetric "rotate_out_symmetric"(double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*, double*, double*)

cdef inline Columns kernel_loop(str name):
    encoded = name.encode()
    return _kernel_loop(encoded)
cdef inline void columns(Columns loop, const double[:, ::1] atoms, Py_ssize_t n, const double[:, ::1] points, Py_ssize_t size, const double[::1] scales, double constant, double[:, ::1] out, Py_ssize_t first) noexcept nogil:
    loop(&atoms[0, 0], atoms.shape[1], n, &points[0, 0], points.shape[1], size, &scales[0], constant, &out[first, 0], out.shape[1])
cdef inline void cosines(double[:, ::1] turns, Py_ssize_t row, double scale, Py_ssize_t n) noexcept nogil:
    _cosines(&turns[row, 0], scale, n)
cdef inline void copy(double[:, ::1] w, Py_ssize_t row, const double[:, ::1] u, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    _copy(&w[row, 0], &u[i, 0], n)
cdef inline void close_gap(double* w, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
    _close_gap(w, j, n)
cdef inline double dot(const double[:, ::1] a, Py_ssize_t i, const double[:, ::1] b, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
    return _dot(&a[i, 0], &b[j, 0], n)
cdef inline void add(double[:, ::1] w, Py_ssize_t row, double[:, ::1] u, Py_ssize_t i, double a, Py_ssize_t n) noexcept nogil:
    _add(&w[row, 0], &u[i, 0], a, n)
cdef inline void add_two(double[:, ::1] w, Py_ssize_t row, double[:, ::1] u, Py_ssize_t p, Py_ssize_t q, double a, double b, Py_ssize_t n) noexcept nogil:
    _add_two(&w[row, 0], &u[p, 0], &u[q, 0], a, b, n)
cdef inline void approach(double[:, ::1] w, Py_ssize_t row, double[:, ::1] u, Py_ssize_t i, double rate, Py_ssize_t n) noexcept nogil:
    _approach(&w[row, 0], &u[i, 0], rate, n)
cdef inline void multiply(double[:, ::1] w, Py_ssize_t row, double[:, ::1] u, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    _multiply(&w[row, 0], &u[i, 0], n)
cdef inline void scale(double[:, ::1] w, Py_ssize_t row, double factor, Py_ssize_t n) noexcept nogil:
    _scale(&w[row, 0], factor, n)
cdef inline void overlap(double[:, ::1] w, Py_ssize_t row, const double[:, ::1] atoms, Py_ssize_t k, double code, double factor, Py_ssize_t n) noexcept nogil:
    _overlap(&w[row, 0], &atoms[k, 0], code, factor, n)
cdef inline void transform(const double[:, ::1] X, Py_ssize_t row, const double[:, ::1] matrix, double[:, ::1] out, Py_ssize_t place) noexcept nogil:
    _transform(&X[row, 0], X.shape[1], &matrix[0, 0], matrix.shape[1], &out[place, 0], out.shape[1])
cdef inline void keep_and_scale(double[:, ::1] w, Py_ssize_t kept, Py_ssize_t row, double factor, Py_ssize_t n) noexcept nogil:
    _keep_and_scale(&w[kept, 0], &w[row, 0], factor, n)
cdef inline void solve(double[:, ::1] factor, Py_ssize_t n, double[:, ::1] columns, Py_ssize_t size, double[:, ::1] solutions, double[::1] sums) noexcept nogil:
    _solve(&factor[0, 0], factor.shape[1], n, &columns[0, 0], size, &solutions[0, 0], &sums[0])
cdef inline void rotate_out(double[:, ::1] factor, Py_ssize_t n, Py_ssize_t j, double[::1] carry, double[::1] diagonal) noexcept nogil:
    _rotate_out(&factor[0, 0], factor.shape[1], n, j, &carry[0], &diagonal[0])
cdef inline int atoms_within(double[:, ::1] weights, Py_ssize_t n_priced, double[:, ::1] amounts, double[::1] diagonal, Py_ssize_t n, double[:, ::1] solutions, Py_ssize_t p, Py_ssize_t q, double c, double t_p, double t_q, double price, double later, double rest) noexcept nogil:
    return _atoms_within(&weights[0, 0], weights.shape[1], n_priced, &amounts[p, 0], &amounts[q, 0], &diagonal[0], n, &solutions[p, 0], &solutions[q, 0], c, t_p, t_q, price, later, rest)
cdef inline int atoms_within_one(double[:, ::1] weights, Py_ssize_t n_priced, double[:, ::1] amounts, double[::1] diagonal, Py_ssize_t n, double[:, ::1] solutions, double s, double price, double rest) noexcept nogil:
    return _atoms_within_one(&weights[0, 0], weights.shape[1], n_priced, &amounts[0, 0], &diagonal[0], n, &solutions[0, 0], s, price, rest)
cdef inline bint any_within(double[:, ::1] weights, Py_ssize_t n_priced, double[::1] diagonal, Py_ssize_t n, double price) noexcept nogil:
    return _any_within(&weights[0, 0], weights.shape[1], n_priced, &diagonal[0], n, price)
cdef inline void price_mergers(double[:, ::1] weights, double[:, ::1] columns, double light, double own, double[:, ::1] out, Py_ssize_t decays, Py_ssize_t places, Py_ssize_t losses, Py_ssize_t n) noexcept nogil:
    _price_mergers(&weights[0, 0], &columns[0, 0], light, own, &out[decays, 0], &out[places, 0], &out[losses, 0], n)
cdef inline void whiten(double[:, ::1] factor, Py_ssize_t n, double[:, ::1] columns, Py_ssize_t first, Py_ssize_t count, double[:, ::1] rows, Py_ssize_t z) noexcept nogil:
    _whiten(&factor[0, 0], factor.shape[1], n, &columns[first, 0], &rows[z, 0], <int> count)
cdef inline void spread(double[:, ::1] factor, Py_ssize_t n, double[:, ::1] rows, Py_ssize_t h, double[:, ::1] out, Py_ssize_t v) noexcept nogil:
    _spread(&factor[0, 0], factor.shape[1], n, &rows[h, 0], &out[v, 0])
cdef inline void whiten_and_spread(double[:, ::1] factor, Py_ssize_t n, double[:, ::1] columns, Py_ssize_t b, double[:, ::1] rows, Py_ssize_t z, Py_ssize_t h, double[:, ::1] out, Py_ssize_t v) noexcept nogil:
    _whiten_and_spread(&factor[0, 0], factor.shape[1], n, &columns[b, 0], &rows[z, 0], &rows[h, 0], &out[v, 0])
cdef inline void settle_and_multiply(double[:, ::1] P, Py_ssize_t n, double[:, ::1] rows, Py_ssize_t first, double[::1] amounts, Py_ssize_t count, Py_ssize_t z, Py_ssize_t h, Py_ssize_t columns) noexcept nogil:
    _settle_and_multiply(&P[0, 0], P.shape[1], n, &rows[first, 0], &amounts[0], count, &rows[z, 0], &rows[h, 0], <int> columns)
cdef inline void rotate_out_symmetric(double[:, ::1] P, Py_ssize_t n, Py_ssize_t j, double[:, ::1] turns, double[::1] carry) noexcept nogil:
    _rotate_out_symmetric(&P[0, 0], P.shape[1], n, j, &turns[0, 0], &turns[1, 0], &carry[0])
cdef inline double* data(double[::1] values) noexcept nogil:
    with cython.boundscheck(False):  # an empty array has an address as well
        return &values[0]
cdef inline double* data_of_row(double[:, ::1] values, Py_ssize_t row) noexcept nogil:
    return &values[row, 0]
cdef inline double* data_of_rows(double[:, ::1] values) noexcept nogil:
    return &values[0, 0]
cdef inline list numbers(const double* values, Py_ssize_t n):
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(n):
        found.append(values[i])
    return found
