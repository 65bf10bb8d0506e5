/* Every function of loops.h on buffers of just its size, beside plain loops. Ends with 0 if all
 * results agree; the sanitizers end it where memory or arithmetic is misused.
 *
 * Sizes are those that callers keep to: rows of whole vectors, and as many rows of the factor. What lies behind the atoms is as loops.h has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops.h"

static int failures = 0;
static uint64_t state = 88172645463325252u;

static double draw(void) /* in (-1, 1) */
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(int64_t)state / 9223372036854775808.0;
}

static double *filled(ptrdiff_t rows, ptrdiff_t stride, ptrdiff_t n, double rest)
{
    double *out = malloc((size_t)(rows * stride) * sizeof(double));
    if (out == NULL)
        exit(2);
    for (ptrdiff_t i = 0; i < rows * stride; i++)
        out[i] = i % stride < n ? draw() : rest;
    return out;
}

static double *copied(const double *x, ptrdiff_t size)
{
    double *out = malloc((size_t)size * sizeof(double));
    if (out == NULL)
        exit(2);
    if (size > 0)
        memcpy(out, x, (size_t)size * sizeof(double));
    return out;
}

static void expect(const char *name, ptrdiff_t n, double found, double expected, double size)
{
    if (!(fabs(found - expected) <= 1e-12 * (1.0 + size))) {
        printf("%s, n = %td: %.17g instead of %.17g\n", name, n, found, expected);
        failures++;
    }
}

/* ---- columns of kernels ---- */

typedef void (*Columns)(const double *, ptrdiff_t, ptrdiff_t, const double *, ptrdiff_t, ptrdiff_t,
                        const double *, double, double *, ptrdiff_t);
typedef double (*Profile)(double, double);

static double of_gaussian(double s, double c) { return (void)c, exp(-0.5 * s); }
static double of_laplacian(double s, double c) { return (void)c, exp(-s); }
static double of_matern_12(double s, double c) { return (void)c, exp(-sqrt(s)); }
static double of_matern_32(double s, double c)
{
    return (void)c, s = sqrt(3.0 * s), (1.0 + s) * exp(-s);
}
static double of_matern_52(double s, double c)
{
    return (void)c, s = sqrt(5.0 * s), (1.0 + s + s * s / 3.0) * exp(-s);
}
static double of_rational(double s, double c) { return pow(1.0 + 0.5 * s / c, -c); }
static double of_power(double s, double c) { return pow(s, c); }
static double itself(double s, double c) { return (void)c, s; }

enum { SQUARES, MAGNITUDES, SHIFTED, PLAIN };

static void try_columns(const char *name, Columns columns, int statistic, Profile profile,
                        ptrdiff_t n, ptrdiff_t p, ptrdiff_t size, int alike, double far)
{
    ptrdiff_t stride = VECTORS(n), width = stride;
    double *atoms = filled(p, stride, n, 0.0), *points = filled(size, p, p, 0.0);
    double *scales = filled(1, p, p, 0.0), *out = filled(size, width, 0, NAN), c = 3.0;
    for (ptrdiff_t k = 0; k < p; k++)
        scales[k] = alike ? 0.7 : 0.5 + 0.1 * (double)k;
    points[0] *= far;
    columns(atoms, stride, n, points, p, size, scales, c, out, width);
    for (ptrdiff_t b = 0; b < size; b++) {
        for (ptrdiff_t j = 0; j < n; j++) {
            double s = statistic == SHIFTED ? scales[0] : 0.0;
            for (ptrdiff_t k = 0; k < p; k++) {
                double atom = atoms[k * stride + j], x = points[b * p + k];
                double u = (atom - x) * scales[k];
                s += statistic == SQUARES ? u * u : statistic == MAGNITUDES ? fabs(u) : atom * x;
            }
            double expected = profile(s, c);
            expect(name, n, out[b * width + j], expected, fabs(expected));
        }
        for (ptrdiff_t j = n; j < width; j++)
            expect(name, n, out[b * width + j], 0.0, 0.0);
    }
    free(atoms), free(points), free(scales), free(out);
}

static void try_kernels(ptrdiff_t n)
{
    static const struct {
        const char *name;
        Columns columns;
        int statistic;
        Profile profile;
    } kernels[] = {
        {"gaussian", gaussian, SQUARES, of_gaussian},
        {"laplacian", laplacian, MAGNITUDES, of_laplacian},
        {"matern_of_one_half", matern_of_one_half, SQUARES, of_matern_12},
        {"matern_of_three_halves", matern_of_three_halves, SQUARES, of_matern_32},
        {"matern_of_five_halves", matern_of_five_halves, SQUARES, of_matern_52},
        {"rational_quadratic", rational_quadratic, SQUARES, of_rational},
        {"polynomial", polynomial, SHIFTED, of_power},
        {"linear", linear, PLAIN, itself},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        for (ptrdiff_t p = 1; p <= 5; p += 2)
            for (ptrdiff_t size = 1; size <= 3; size++)
                for (int alike = 0; alike <= 1; alike++)
                    try_columns(kernels[i].name, kernels[i].columns, kernels[i].statistic,
                                kernels[i].profile, n, p, size, alike, size == 3 ? 1e4 : 1.0);
}

/* ---- rows ---- */

static void try_rows(ptrdiff_t n)
{
    ptrdiff_t size = VECTORS(n);
    double *u = filled(1, size, n, 0.0), *v = filled(1, size, n, 0.0), *w = filled(1, size, n, 0.0);
    double total = 0.0, *was, *now;
    for (ptrdiff_t j = 0; j < n; j++)
        total += u[j] * v[j];
    expect("dot", n, dot(u, v, n), total, (double)n);
#define ROW(name, call, expression)                                                            \
    was = copied(w, size), now = copied(w, size), call;                                        \
    for (ptrdiff_t j = 0; j < n; j++)                                                          \
        expect(name, n, now[j], expression, 1.0);                                              \
    free(was), free(now)
    ROW("add", add(now, u, 0.3, n), was[j] + 0.3 * u[j]);
    ROW("add_two", add_two(now, u, v, 0.3, -2.0, n), was[j] + 0.3 * u[j] - 2.0 * v[j]);
    ROW("approach", approach(now, u, 0.3, n), was[j] + 0.3 * (u[j] - was[j]));
    ROW("multiply", multiply(now, u, n), was[j] * u[j]);
    ROW("scale", scale(now, 0.3, n), was[j] * 0.3);
    double code = n > 0 ? u[0] : 0.0;
    ROW("overlap", overlap(now, u, code, 0.3, n), was[j] * (u[j] == code ? 1.0 : 0.3));
    ROW("keep_and_scale", keep_and_scale(v, now, 0.3, n), was[j] * 0.3 + (v[j] - was[j]));
    ROW("cosines", cosines(now, 0.3, n), 0.3 * cos(6.283185307179586 * was[j]));
    free(u), free(v), free(w);
}

static void try_transform(ptrdiff_t n, ptrdiff_t p) /* out has exactly n numbers */
{
    ptrdiff_t stride = VECTORS(n);
    double *x = filled(1, p, p, 0.0), *A = filled(p, stride, n, NAN), *out = filled(1, n, 0, NAN);
    transform(x, p, A, stride, out, n);
    for (ptrdiff_t j = 0; j < n; j++) {
        double total = 0.0;
        for (ptrdiff_t k = 0; k < p; k++)
            total += x[k] * A[k * stride + j];
        expect("transform", n, out[j], total, (double)p);
    }
    free(x), free(A), free(out);
}

/* ---- the factor ---- */

static double *factor_of(ptrdiff_t n) /* rows of U': a lower triangle, zeros elsewhere */
{
    ptrdiff_t size = VECTORS(n);
    double *factor = filled(size, size, 0, 0.0);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j <= i; j++)
            factor[i * size + j] = i == j ? 1.5 + draw() : draw() / (double)n;
    return factor;
}

static void try_solve(ptrdiff_t n)
{
    ptrdiff_t size = VECTORS(n);
    double *factor = factor_of(n), sums[3], one[3], expected[3] = {0.0, 0.0, 0.0};
    double *k0 = filled(2, size, n, 0.0), *k1 = k0 + size;
    double *v0 = filled(2, size, 0, NAN), *v1 = v0 + size;
    double *alone = filled(1, size, 0, NAN);
    double *x0 = filled(1, size, 0, 0.0), *x1 = filled(1, size, 0, 0.0);
    solve(factor, size, n, k0, 2, v0, sums);
    solve(factor, size, n, k0, 1, alone, one);
    for (ptrdiff_t i = 0; i < n; i++) {
        double z0 = 0.0, z1 = 0.0;
        for (ptrdiff_t j = 0; j <= i; j++) {
            z0 += factor[i * size + j] * k0[j];
            z1 += factor[i * size + j] * k1[j];
        }
        for (ptrdiff_t j = 0; j <= i; j++) {
            x0[j] += factor[i * size + j] * z0;
            x1[j] += factor[i * size + j] * z1;
        }
        expected[0] += z0 * z0, expected[1] += z0 * z1, expected[2] += z1 * z1;
    }
    for (ptrdiff_t j = 0; j < size; j++) {
        expect("solve of two, first", n, v0[j], x0[j], 10.0);
        expect("solve of two, second", n, v1[j], x1[j], 10.0);
        expect("solve of one", n, alone[j], x0[j], 10.0);
    }
    for (int l = 0; l < 3; l++)
        expect("sums of two", n, sums[l], expected[l], 10.0 * (double)n);
    expect("sum of one", n, one[0], expected[0], 10.0 * (double)n);
    free(factor), free(k0), free(v0), free(alone), free(x0), free(x1);
}

static void try_gap(ptrdiff_t n, ptrdiff_t gone)
{
    double *w = filled(1, n, n, 0.0), *was = copied(w, n);
    close_gap(w, gone, n - 1);
    for (ptrdiff_t j = 0; j < n - 1; j++)
        expect("close_gap", n, w[j], was[j < gone ? j : j + 1], 0.0);
    free(w), free(was);
}

/* What leaves is a column of the inverse over a root: UU' is then smaller by its square. */
static void try_rotation(ptrdiff_t n, ptrdiff_t gone)
{
    ptrdiff_t size = VECTORS(n);
    double *factor = factor_of(n), *was = copied(factor, size * size);
    double *carry = filled(1, size, 0, NAN), *diagonal = filled(1, size, 0, NAN);
    rotate_out(factor, size, n, gone, carry, diagonal);
    for (ptrdiff_t j = 0; j < n - 1; j++) {
        ptrdiff_t before = j < gone ? j : j + 1;
        for (ptrdiff_t k = 0; k <= j; k++) {
            ptrdiff_t other = k < gone ? k : k + 1;
            double expected = -carry[before] * carry[other], found = 0.0;
            for (ptrdiff_t i = before; i < n; i++)
                expected += was[i * size + before] * was[i * size + other];
            for (ptrdiff_t i = j; i < n - 1; i++)
                found += factor[i * size + j] * factor[i * size + k];
            expect("rotate_out", n, found, expected, 10.0);
            if (k == j)
                expect("the diagonal of rotate_out", n, diagonal[j], expected, 10.0);
        }
    }
    free(factor), free(was), free(carry), free(diagonal);
}

/* ---- curvature ---- */

static double *symmetric_of(ptrdiff_t n)
{
    ptrdiff_t size = VECTORS(n);
    double *P = filled(size, size, 0, 0.0);
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j <= i; j++)
            P[i * size + j] = P[j * size + i] = draw();
    return P;
}

/* Several columns at once, and v alone, are to the last bit what they are one by one. */
static void try_several(double *factor, double *P, ptrdiff_t n, const double *k, const double *z,
                        const double *h, const double *g, const double *v)
{
    enum { COLUMNS = 8 };
    ptrdiff_t size = VECTORS(n);
    double *columns = filled(COLUMNS, size, n, 0.0), *alone = filled(1, size, 0, NAN);
    double *halves = filled(COLUMNS, size, 0, NAN), *products = filled(COLUMNS, size, 0, NAN);
    for (ptrdiff_t i = 0; i < size; i++)
        columns[3 * size + i] = k[i];
    whiten(factor, size, n, columns, halves, COLUMNS);
    settle_and_multiply(P, size, n, g, 0, 0, columns, products, COLUMNS);
    spread(factor, size, n, g, alone);
    for (ptrdiff_t i = 0; i < size; i++) {
        expect("whiten", n, halves[3 * size + i], z[i], -1.0);
        expect("settle_and_multiply, several", n, products[3 * size + i], h[i], -1.0);
        expect("spread", n, alone[i], v[i], -1.0);
    }
    free(columns), free(alone), free(halves), free(products);
}

static void try_curvature(ptrdiff_t n, ptrdiff_t count)
{
    ptrdiff_t size = VECTORS(n);
    double *factor = factor_of(n), *P = symmetric_of(n), *was = copied(P, size * size);
    double *k = filled(1, size, n, 0.0), *g = filled(8, size, n, 0.0), m[8];
    double *z = filled(1, size, 0, NAN), *v = filled(1, size, 0, NAN);
    double *h = filled(1, size, 0, NAN);
    whiten_and_spread(factor, size, n, k, z, g, v);
    for (ptrdiff_t r = 0; r < 8; r++)
        m[r] = draw();
    settle_and_multiply(P, size, n, g, m, count, k, h, 1);
    try_several(factor, P, n, k, z, h, g, v);
    for (ptrdiff_t i = 0; i < size; i++) {
        double half = 0.0, spread = 0.0, product = 0.0;
        for (ptrdiff_t j = 0; j < n; j++) {
            half += factor[i * size + j] * k[j];
            spread += factor[j * size + i] * g[j];
            product += (i < j ? P[j * size + i] : P[i * size + j]) * k[j];
        }
        expect("whiten_and_spread, z", n, z[i], half, 10.0);
        expect("whiten_and_spread, v", n, v[i], spread, 10.0);
        expect("settle_and_multiply, h", n, h[i], product, 10.0);
        for (ptrdiff_t j = 0; j <= i; j++) {
            double expected = was[i * size + j];
            for (ptrdiff_t r = 0; r < count; r++)
                expected -= m[r] * g[r * size + i] * g[r * size + j];
            expect("settle_and_multiply, P", n, P[i * size + j], expected, 10.0);
        }
    }
    free(factor), free(P), free(was), free(k), free(g), free(z), free(v), free(h);
}

/* Each turn mixes the row that leaves with the next one; then columns likewise. */
static void try_turns(ptrdiff_t n, ptrdiff_t gone)
{
    ptrdiff_t size = VECTORS(n);
    double *P = symmetric_of(n), *x = copied(P, size * size), *carry = filled(1, size, 0, NAN);
    double *angles = filled(1, size, n, 0.0);
    double *cosines = filled(1, size, 0, 0.0), *sines = filled(1, size, 0, 0.0);
    for (ptrdiff_t i = 0; i < n; i++)
        cosines[i] = cos(angles[i]), sines[i] = sin(angles[i]);
    for (ptrdiff_t i = 0; i < n; i++) /* what is not stored is not looked at */
        for (ptrdiff_t k = (i | 7) + 1; k < size; k++)
            P[i * size + k] = NAN;
    rotate_out_symmetric(P, size, n, gone, cosines, sines, carry);
    for (int side = 0; side < 2; side++)
        for (ptrdiff_t i = gone; i < n - 1; i++)
            for (ptrdiff_t k = 0; k < n; k++) {
                double *here = side ? x + k * size + i : x + i * size + k;
                double *there = side ? here + 1 : here + size, p = *here, q = *there;
                *here = cosines[i] * p - sines[i] * q;
                *there = sines[i] * p + cosines[i] * q;
            }
    for (ptrdiff_t i = 0; i < n - 1; i++)
        for (ptrdiff_t k = 0; k < n - 1 && k <= (i | 7); k++)
            expect("rotate_out_symmetric", n, P[i * size + k], x[i * size + k], 100.0);
    free(P), free(x), free(carry), free(angles), free(cosines), free(sines);
}

/* ---- prices ---- */

static void try_prices(ptrdiff_t n, ptrdiff_t n_priced, double price, double later)
{
    ptrdiff_t size = VECTORS(n);
    double *weights = filled(n_priced, size, n, 0.0), *diagonal = filled(1, size, n, NAN);
    double *a_p = filled(1, n_priced, n_priced, 0.0), *a_q = filled(1, n_priced, n_priced, 0.0);
    double *u = filled(1, size, n, 0.0), *v = filled(1, size, n, 0.0);
    double t_pp = 1.3, t_pq = 0.4, t_qq = 1.1, c = -t_pq / t_pp, rest = 0.5 * later;
    int now_within = 0, then_within = 0, last_within = 0, any = 0, now_alone = 0, then_alone = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        double now = 0.0, then = 0.0, last = 0.0;
        diagonal[j] = 1.0 + fabs(diagonal[j]);
        for (ptrdiff_t row = 0; row < n_priced; row++) {
            double w = weights[row * size + j], moved = w + a_p[row] * (u[j] - c * v[j]);
            double settled = w + a_p[row] * u[j] + a_q[row] * v[j];
            now += w * w;
            then += moved * moved;
            last += settled * settled;
        }
        double enlarged =
            diagonal[j] + u[j] * (t_pp * u[j] + 2.0 * t_pq * v[j]) + t_qq * v[j] * v[j];
        now_within |= now <= price * enlarged;
        then_within |= then <= later * (diagonal[j] + (t_qq + t_pq * c) * v[j] * v[j]);
        last_within |= last <= rest * diagonal[j];
        any |= now <= price * diagonal[j];
        double alone = 0.0;
        for (ptrdiff_t row = 0; row < n_priced; row++) {
            double moved = weights[row * size + j] + a_p[row] * u[j];
            alone += moved * moved;
        }
        now_alone |= t_pp * now <= price * (t_pp * diagonal[j] + u[j] * u[j]);
        then_alone |= alone <= rest * diagonal[j];
    }
    expect("atoms_within", n,
           atoms_within(weights, size, n_priced, a_p, a_q, diagonal, n, u, v, c, t_pp,
                        t_qq + t_pq * c, price, later, rest),
           now_within | then_within << 1 | last_within << 2, 0.0);
    expect("atoms_within_one", n,
           atoms_within_one(weights, size, n_priced, a_p, diagonal, n, u, t_pp, price, rest),
           now_alone | then_alone << 1, 0.0);
    expect("atoms_within_one, no rest", n,
           atoms_within_one(weights, size, n_priced, a_p, diagonal, n, u, t_pp, price, -1.0),
           now_alone, 0.0);
    expect("any_within", n, any_within(weights, size, n_priced, diagonal, n, price), any, 0.0);
    free(weights), free(diagonal), free(a_p), free(a_q), free(u), free(v);
}

/* ---- mergers ---- */

static void try_mergers(ptrdiff_t n, double light, double reach)
{
    ptrdiff_t size = VECTORS(n);
    double *weights = filled(1, size, n, 0.0), *column = filled(1, size, n, 0.0), own = 1.5;
    double *decays = filled(1, size, 0, NAN), *losses = filled(1, size, 0, NAN);
    for (ptrdiff_t j = 0; j < n; j++) /* also atoms that are far apart */
        column[j] = own * exp(-reach * fabs(column[j]));
    double *places = filled(1, size, 0, NAN);
    price_mergers(weights, column, light, own, decays, places, losses, n);
    for (ptrdiff_t j = 0; j < n; j++) {
        double heavy = weights[j], share = column[j] / own, h = 0.0;
        double decay = -log(fmax(share, 1e-304)), ratio = fmin(light / heavy, 1.0);
        for (int step = 0; step < 3; step++) {
            double pull = ratio * exp(decay * (2.0 * h - 1.0));
            h -= (h - (1.0 - h) * pull) / (1.0 + pull - 2.0 * decay * (1.0 - h) * pull);
            h = fmin(fmax(h, -1.0), 0.5);
        }
        double merged =
            light * exp(-decay * (1.0 - h) * (1.0 - h)) + heavy * exp(-decay * h * h);
        double whole = light * light + heavy * heavy + 2.0 * light * heavy * share;
        expect("decays", n, decays[j], decay, decay);
        expect("places", n, places[j], h, 1e3);
        expect("price_mergers", n, losses[j], whole - merged * merged, 1e3);
    }
    free(weights), free(column), free(decays), free(places), free(losses);
}

int main(void)
{
    static const ptrdiff_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 33, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ptrdiff_t n = sizes[i];
        try_kernels(n);
        try_rows(n);
        for (ptrdiff_t p = 1; p <= 9; p += 4) try_transform(n, p);
        try_solve(n);
        for (double reach = 0.1; reach < 1e4; reach *= 10.0)
            try_mergers(n, 1e-3, reach), try_mergers(n, -1e-3, reach), try_mergers(n, 0.0, reach);
        for (ptrdiff_t gone = 0; gone < n && n < 100; gone++)
            try_gap(n, gone), try_rotation(n, gone), try_turns(n, gone);
        for (ptrdiff_t count = 0; count <= 8 && n < 100; count++)
            try_curvature(n, count);
        for (ptrdiff_t n_priced = 1; n_priced <= 3; n_priced++)
            for (double price = 1e-6; price < 10.0; price *= 10.0)
                try_prices(n, n_priced, price, 0.1 * price), try_prices(n, n_priced, 0.0, price);
    }
    return failures > 0;
}
