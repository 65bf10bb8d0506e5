/* Columns of kernels between rows of a sparse matrix, which are given by their indices. */
#ifndef COLK_SPARSE_ROWS_H
#define COLK_SPARSE_ROWS_H
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { OF_PRODUCTS, OF_SQUARES, OF_DISTANCES };

/* An entry of a point, in the list of the entries of its column; `next` counts from 1, 0 ends. */
typedef struct { ptrdiff_t next, point; double value; } sparse_entry;

/* (sum + constant)^degree. */
static inline double sparse_power(double base, ptrdiff_t degree)
{
    double result = 1.0;
    for (; degree > 0; degree >>= 1, base *= base)
        if (degree & 1) result *= base;
    return result;
}

/* out[b, j] = the sum over the columns in which neither point b nor atom j is 0: of products, or of
 * |x - v| - |x| - |v|. Only columns in which some point has an entry are visited. */
static void sparse_sums(const ptrdiff_t *starts, const ptrdiff_t *places, const double *values,
                        int profile, const double *atoms, ptrdiff_t n, const ptrdiff_t *heads,
                        const sparse_entry *entries, double *out, ptrdiff_t width)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        const ptrdiff_t atom = (ptrdiff_t)atoms[j];
        for (ptrdiff_t l = starts[atom]; l < starts[atom + 1]; l++)
            for (ptrdiff_t e = heads[places[l]]; e > 0; e = entries[e - 1].next) {
                const sparse_entry *at = entries + (e - 1);
                out[at->point * width + j] += profile == OF_DISTANCES
                    ? fabs(at->value - values[l]) - fabs(at->value) - fabs(values[l])
                    : at->value * values[l];
            }
    }
}

/* Turns the sums of a point into values of the kernel: (s + constant)^degree, or e^(-scale d),
 * where d >= 0 is the squared or the L1 distance. Rows without a common column have s = 0 and the
 * value tails[point] * far[j], where tails = e^(-scale norms), and far has those of the atoms. */
static void sparse_values(int profile, double scale, double constant, ptrdiff_t degree,
                          const double *norms, const double *tails, const double *far,
                          const double *atoms, ptrdiff_t n, ptrdiff_t point, double *out)
{
    const double apart = sparse_power(constant, degree);
    for (ptrdiff_t j = 0; j < n; j++) {
        const double s = out[j];
        if (profile == OF_PRODUCTS)
            out[j] = s == 0.0 ? apart : sparse_power(s + constant, degree);
        else if (s == 0.0)
            out[j] = tails[point] * far[j];
        else {
            const ptrdiff_t atom = (ptrdiff_t)atoms[j];
            double d = norms[point] + norms[atom] + (profile == OF_SQUARES ? -2.0 * s : s);
            out[j] = point != atom && d > 0.0 ? exp(-scale * d) : 1.0;
        }
    }
    for (ptrdiff_t j = n; j < ((n + 7) & -8); j++) out[j] = 0.0;
}

/* Whether all numbers are indices of rows. */
static int sparse_are_rows(const double *numbers, ptrdiff_t n, ptrdiff_t n_rows)
{
    for (ptrdiff_t j = 0; j < n; j++)
        if (!(numbers[j] >= 0.0 && numbers[j] < (double)n_rows)) return 0;
    return 1;
}

/* out[b, j] = kernel(row points[b], row atoms[j]). Returns -1 if memory runs out, and -2 if an
 * index is out of range. */
static int sparse_columns(const ptrdiff_t *starts, const ptrdiff_t *places, const double *values,
                          const double *norms, const double *tails, ptrdiff_t n_rows,
                          ptrdiff_t n_columns, int profile, double scale, double constant,
                          ptrdiff_t degree, const double *atoms, ptrdiff_t n, const double *points,
                          ptrdiff_t size, double *out, ptrdiff_t width)
{
    if (!sparse_are_rows(points, size, n_rows) || !sparse_are_rows(atoms, n, n_rows)) return -2;
    ptrdiff_t n_entries = 0;
    for (ptrdiff_t b = 0; b < size; b++) {
        const ptrdiff_t point = (ptrdiff_t)points[b];
        n_entries += starts[point + 1] - starts[point];
    }
    ptrdiff_t *heads = calloc((size_t)n_columns, sizeof(ptrdiff_t));
    sparse_entry *entries = malloc((size_t)(n_entries + 1) * sizeof(sparse_entry));
    double *far = malloc((size_t)(n + 1) * sizeof(double));
    if (heads == NULL || entries == NULL || far == NULL) {
        free(heads);
        free(entries);
        free(far);
        return -1;
    }
    for (ptrdiff_t j = 0; j < n; j++) far[j] = tails[(ptrdiff_t)atoms[j]];
    ptrdiff_t e = 0;
    for (ptrdiff_t b = 0; b < size; b++) {
        const ptrdiff_t point = (ptrdiff_t)points[b];
        for (ptrdiff_t l = starts[point]; l < starts[point + 1]; l++) {
            entries[e] = (sparse_entry){heads[places[l]], b, values[l]};
            heads[places[l]] = ++e;
        }
        for (ptrdiff_t j = 0; j < n; j++) out[b * width + j] = 0.0;
    }
    sparse_sums(starts, places, values, profile, atoms, n, heads, entries, out, width);
    for (ptrdiff_t b = 0; b < size; b++)
        sparse_values(profile, scale, constant, degree, norms, tails, far, atoms, n,
                      (ptrdiff_t)points[b], out + b * width);
    free(heads);
    free(entries);
    free(far);
    return 0;
}
#endif
