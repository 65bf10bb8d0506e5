/* Columns of kernels between rows of a sparse matrix, which are given by their numbers. */
#ifndef COLK_SPARSE_ROWS_H
#define COLK_SPARSE_ROWS_H
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { OF_PRODUCTS, OF_SQUARES, OF_DISTANCES };

/* The kernel of a sum s over the nonzero entries of a row: (s + constant)^degree, or
 * e^(-scale d), where d >= 0 is the squared or the L1 distance. */
static inline double sparse_value(int profile, double s, double norms, double scale,
                                  double constant, ptrdiff_t degree)
{
    if (profile == OF_PRODUCTS) {
        double base = s + constant, result = 1.0;
        for (; degree > 0; degree >>= 1, base *= base)
            if (degree & 1) result *= base;
        return result;
    }
    double distance = profile == OF_SQUARES ? norms - 2.0 * s : norms + s;
    return distance > 0.0 ? exp(-scale * distance) : 1.0;
}

/* out[b, j] = kernel(row points[b], row atoms[j]). A point is spread over `n_columns` numbers, so
 * that an atom reads only its own entries. Returns -1 if memory runs out. */
static int sparse_columns(const ptrdiff_t *starts, const ptrdiff_t *places, const double *values,
                          const double *norms, ptrdiff_t n_columns, int profile, double scale,
                          double constant, ptrdiff_t degree, const double *atoms, ptrdiff_t n,
                          const double *points, ptrdiff_t size, double *out, ptrdiff_t width)
{
    double *x = calloc((size_t)n_columns, sizeof(double));
    if (x == NULL) return -1;
    for (ptrdiff_t b = 0; b < size; b++, out += width) {
        const ptrdiff_t point = (ptrdiff_t)points[b];
        for (ptrdiff_t l = starts[point]; l < starts[point + 1]; l++) x[places[l]] = values[l];
        for (ptrdiff_t j = 0; j < n; j++) {
            const ptrdiff_t atom = (ptrdiff_t)atoms[j];
            double s = 0.0, both = norms[point];
            if (profile == OF_DISTANCES)
                for (ptrdiff_t l = starts[atom]; l < starts[atom + 1]; l++)
                    s += fabs(x[places[l]] - values[l]) - fabs(x[places[l]]);
            else
                for (ptrdiff_t l = starts[atom]; l < starts[atom + 1]; l++)
                    s += x[places[l]] * values[l];
            if (profile == OF_SQUARES) both += norms[atom];
            out[j] = point == atom && profile != OF_PRODUCTS
                         ? 1.0 : sparse_value(profile, s, both, scale, constant, degree);
        }
        for (ptrdiff_t j = n; j < ((n + 7) & -8); j++) out[j] = 0.0;
        for (ptrdiff_t l = starts[point]; l < starts[point + 1]; l++) x[places[l]] = 0.0;
    }
    free(x);
    return 0;
}
#endif
