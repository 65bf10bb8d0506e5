/* The hottest loops, over whole vectors of four numbers: n is rounded up to a multiple of four.
 *
 * Matrices are rows of `stride` numbers, and arguments share no memory. What lies beyond the atoms
 * is finite in columns, 0 in weights and factor, and NaN in the diagonal, where no comparison
 * holds. Each function is compiled for AVX2 as well as for any x86-64, and chosen when it is
 * loaded. Sums are reordered only where a pragma says so: the exponential needs its own order.
 */
#ifndef COLK_LANES_H
#define COLK_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && __GNUC__ >= 12 && !defined(COLK_PLAIN)
#define LANES __attribute__((target_clones("arch=x86-64-v3", "default"), unused)) static
#else
#define LANES static inline
#endif
#ifdef _MSC_VER
#define restrict __restrict
#endif
/* A point whose squared distance to the span is below this share of k(x, x) counts as inside it:
 * its projection is stored and the rest charged to the certificate. */
#define NOVELTY_FLOOR 1e-9
/* An atom whose novelty, given all the others, would sink below this share makes way. */
#define CROWDING_FLOOR 1e-10
/* A point with k(x, x) = 0 is the function 0; its pivot is lifted to this, to be divided by. */
#define SMALLEST_PIVOT 1e-290
/* Novelties are known to this share of k(x, x): as much is charged beside them. */
#define ROUNDING 2e-14
/* Coefficients and kernel values below this have products and squares that are finite. */
#define LARGEST 1e75
#define VECTORS(n) (((n) + 3) & ~(ptrdiff_t)3)

/* ---- four numbers ------------------------------------------------------------------------ */

#if (defined(__clang__) || __GNUC__ >= 12) && !defined(COLK_SCALAR)
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(32)));
#define AT(x, j) (*(const four *)((x) + (j)))
#define PUT(x, j, value) (*(four *)((x) + (j)) = (value))
#define ALL(x) ((four){(x), (x), (x), (x)})
#define PLUS(a, b) ((a) + (b))
#define MINUS(a, b) ((a) - (b))
#define TIMES(a, b) ((a) * (b))
#define SHUFFLE __builtin_shufflevector

static inline four magnitude(four a) { return (four)((bits)a & INT64_MAX); }

static inline four least(four a, double b)
{
    bits below = a < b;
    return (four)(((bits)a & below) | ((bits)ALL(b) & ~below));
}

static inline double sum_of(four a) { return (a[0] + a[2]) + (a[1] + a[3]); }

/* (sum a, sum b, sum c, sum d). */
static inline four sums_of(four a, four b, four c, four d)
{
    four ab = SHUFFLE(a, b, 0, 4, 2, 6) + SHUFFLE(a, b, 1, 5, 3, 7);
    four cd = SHUFFLE(c, d, 0, 4, 2, 6) + SHUFFLE(c, d, 1, 5, 3, 7);
    return SHUFFLE(ab, cd, 0, 1, 4, 5) + SHUFFLE(ab, cd, 2, 3, 6, 7);
}

/* e^x for x <= 0 to one unit in the last place; 0 below e^-708. x = m log 2 + r, |r| <= log 2/2. */
static inline four exponential(four x)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: leaves m in the low bits */
    four shifted = x * 1.4426950408889634 + magic, m = shifted - magic;
    four r = (x - m * 0.6931471803691238) - m * 1.9082149292705877e-10;
    four s = r * 2.5110037605963777e-08 + 2.763263963904103e-07;
    s = s * r + 2.755724091857897e-06;
    s = s * r + 2.4801485482328494e-05;
    s = s * r + 0.00019841269890047113;
    s = s * r + 0.0013888888952314775;
    s = s * r + 0.008333333333319601;
    s = s * r + 0.0416666666664881;
    s = s * r + 0.1666666666666668;
    s = s * r + 0.5000000000000019;
    s = s * r + 1.0;
    s = s * r + 1.0;
    s *= (four)(((bits)shifted + 1023) << 52);
    return (four)((bits)s & (x > -708.0));
}
#else /* the same by plain loops, for compilers without vector types */
typedef struct { double v[4]; } four;
#define EACH(expression)                                                                       \
    four r;                                                                                    \
    for (int l = 0; l < 4; l++)                                                                \
        r.v[l] = (expression);                                                                 \
    return r
static inline four at_(const double *x) { EACH(x[l]); }
static inline void put_(double *x, four a) { memcpy(x, a.v, sizeof a.v); }
static inline four all_(double x) { EACH(x); }
static inline four plus_(four a, four b) { EACH(a.v[l] + b.v[l]); }
static inline four minus_(four a, four b) { EACH(a.v[l] - b.v[l]); }
static inline four times_(four a, four b) { EACH(a.v[l] * b.v[l]); }
static inline four magnitude(four a) { EACH(fabs(a.v[l])); }
static inline four least(four a, double b) { EACH(a.v[l] < b ? a.v[l] : b); }
static inline four exponential(four a) { EACH(exp(a.v[l])); }
static inline double sum_of(four a) { return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]); }
static inline four sums_of(four a, four b, four c, four d)
{
    four r = {{sum_of(a), sum_of(b), sum_of(c), sum_of(d)}};
    return r;
}
#define AT(x, j) at_((x) + (j))
#define PUT(x, j, value) put_((x) + (j), (value))
#define ALL(x) all_(x)
#define PLUS(a, b) plus_(a, b)
#define MINUS(a, b) minus_(a, b)
#define TIMES(a, b) times_(a, b)
#endif

static inline four each(four a, double (*function)(double))
{
    double x[4];
    PUT(x, 0, a);
    for (int l = 0; l < 4; l++)
        x[l] = function(x[l]);
    return AT(x, 0);
}

static inline four raised(four a, double exponent)
{
    double x[4];
    PUT(x, 0, a);
    for (int l = 0; l < 4; l++)
        x[l] = pow(x[l], exponent);
    return AT(x, 0);
}

/* a^degree by squaring, for a whole degree. */
static inline four power(four a, ptrdiff_t degree)
{
    four result = ALL(1.0);
    for (; degree > 0; degree >>= 1, a = TIMES(a, a))
        if (degree & 1)
            result = TIMES(result, a);
    return result;
}

/* ---- columns of kernels ------------------------------------------------------------------ */

/* Whether one bandwidth serves all features; it is then applied to the sum, unless that could leave
 * the range of a number. */
static inline int one_scale(const double *restrict scales, ptrdiff_t p)
{
    int one = 1e-100 < scales[0] && scales[0] < 1e100;
    for (ptrdiff_t k = 1; k < p; k++)
        one &= scales[k] == scales[0];
    return one;
}

/* out[b, j] = PROFILE of the sum s over the features of STATISTIC, for two points a turn. `u` is
 * the difference atom - x in units of the bandwidth; `atom` and `at` the coordinates themselves.
 * Where ONE holds, units are left out of `u` and s is taken times UNIT. Behind the atoms a column
 * is 0. */
#define TURNS(ONE, STATISTIC, UNIT, PROFILE)                                                   \
    for (ptrdiff_t b = 0; b < size; b += 2) {                                                  \
        ptrdiff_t last = b + 1 < size ? b + 1 : b;                                             \
        const double *restrict x = points + b * p, *restrict y = points + last * p;            \
        const double unit = ONE ? (UNIT) : 1.0;                                                \
        for (ptrdiff_t j = 0; j < n; j += 4) {                                                 \
            four to_x = ALL(0.0), to_y = ALL(0.0), atom, at, u, s;                             \
            for (ptrdiff_t k = 0; k < p; k++) {                                                \
                const double scale = ONE ? 1.0 : scales[k];                                    \
                atom = AT(atoms, k * stride + j);                                              \
                at = ALL(x[k]), u = TIMES(MINUS(atom, at), ALL(scale));                        \
                to_x = PLUS(to_x, STATISTIC);                                                  \
                at = ALL(y[k]), u = TIMES(MINUS(atom, at), ALL(scale));                        \
                to_y = PLUS(to_y, STATISTIC);                                                  \
            }                                                                                  \
            s = TIMES(to_x, ALL(unit)), PUT(out, b * width + j, PROFILE);                      \
            if (last > b)                                                                      \
                s = TIMES(to_y, ALL(unit)), PUT(out, last * width + j, PROFILE);               \
        }                                                                                      \
        for (ptrdiff_t j = n; j < VECTORS(n); j++)                                             \
            out[b * width + j] = out[last * width + j] = 0.0;                                  \
    }

#define COLUMNS(name, ONE, STATISTIC, UNIT, PROFILE)                                           \
    LANES void name(const double *restrict atoms, ptrdiff_t stride, ptrdiff_t n,               \
                    const double *restrict points, ptrdiff_t p, ptrdiff_t size,                \
                    const double *restrict scales, double c, double *restrict out,             \
                    ptrdiff_t width)                                                           \
    {                                                                                          \
        (void)c;                                                                               \
        if (ONE) {                                                                             \
            TURNS(1, STATISTIC, UNIT, PROFILE)                                                 \
        } else {                                                                               \
            TURNS(0, STATISTIC, UNIT, PROFILE)                                                 \
        }                                                                                      \
    }
/* Of the distance, and of the inner product, which has no bandwidth. */
#define DISTANCES(name, STATISTIC, UNIT, PROFILE)                                              \
    COLUMNS(name, one_scale(scales, p), STATISTIC, UNIT, PROFILE)
#define PRODUCTS(name, PROFILE) COLUMNS(name, 1, ((void)u, TIMES(atom, at)), 1.0, PROFILE)

static inline four matern_32(four squares)
{
    four r = least(TIMES(ALL(1.7320508075688772), each(squares, sqrt)), 1e4);
    return TIMES(PLUS(ALL(1.0), r), exponential(MINUS(ALL(0.0), r)));
}

static inline four matern_52(four squares)
{
    four r = least(TIMES(ALL(2.23606797749979), each(squares, sqrt)), 1e4);
    four head = PLUS(PLUS(ALL(1.0), r), TIMES(TIMES(r, r), ALL(1.0 / 3.0)));
    return TIMES(head, exponential(MINUS(ALL(0.0), r)));
}

DISTANCES(gaussian, TIMES(u, u), scales[0] * scales[0], exponential(TIMES(ALL(-0.5), s)))
DISTANCES(laplacian, magnitude(u), scales[0], exponential(MINUS(ALL(0.0), s)))
DISTANCES(matern_of_one_half, TIMES(u, u), scales[0] * scales[0],
          exponential(MINUS(ALL(0.0), each(s, sqrt))))
DISTANCES(matern_of_three_halves, TIMES(u, u), scales[0] * scales[0], matern_32(s))
DISTANCES(matern_of_five_halves, TIMES(u, u), scales[0] * scales[0], matern_52(s))
DISTANCES(rational_quadratic, TIMES(u, u), scales[0] * scales[0],
          raised(PLUS(ALL(1.0), TIMES(s, ALL(0.5 / c))), -c))
PRODUCTS(polynomial, power(PLUS(s, ALL(scales[0])), (ptrdiff_t)c))
PRODUCTS(linear, s)

/* e^x of each x <= 0, in place. */
LANES void exponentials(double *restrict x, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j += 4)
        PUT(x, j, exponential(AT(x, j)));
}

/* ---- random features --------------------------------------------------------------------- */

/* scale * cos(2 pi turns), in place: sin y = y Sum_k (-1)^k y^2k/(2k + 1)! on [-pi/2, pi/2]. */
LANES void cosines(double *restrict turns, double scale, ptrdiff_t n)
{
    const double magic = 6755399441055744.0; /* adding and subtracting it rounds */
#pragma omp simd
    for (ptrdiff_t j = 0; j < VECTORS(n); j++) {
        double whole = (turns[j] + magic) - magic;
        double y = 6.283185307179586 * (0.25 - fabs(turns[j] - whole)), s = y * y;
        double tail = -8.22063524662433e-18;
        tail = tail * s + 2.8114572543455206e-15;
        tail = tail * s + -7.647163731819816e-13;
        tail = tail * s + 1.6059043836821613e-10;
        tail = tail * s + -2.505210838544172e-08;
        tail = tail * s + 2.7557319223985893e-06;
        tail = tail * s + -0.0001984126984126984;
        tail = tail * s + 0.008333333333333333;
        tail = tail * s + -0.16666666666666666;
        turns[j] = scale * (y * (1.0 + s * tail));
    }
}

/* ---- sums and products of rows ----------------------------------------------------------- */

LANES double dot(const double *restrict a, const double *restrict b, ptrdiff_t n)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        total += a[j] * b[j];
    return total;
}

/* w += a u. */
LANES void add(double *restrict w, const double *restrict u, double a, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        w[j] += a * u[j];
}

/* w += a u + b v. */
LANES void add_two(double *restrict w, const double *u, const double *v, double a, double b,
                   ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        w[j] += a * u[j] + b * v[j];
}

/* w += rate (u - w). */
LANES void approach(double *restrict w, const double *restrict u, double rate, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        w[j] += rate * (u[j] - w[j]);
}

LANES void multiply(double *restrict w, const double *restrict u, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        w[j] *= u[j];
}

LANES void scale(double *restrict w, double factor, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        w[j] *= factor;
}

/* ---- the factor U of the inverse Gram matrix, of which the rows of U' are stored ----------- */

/* z = U'k and v = Uz of two columns k, or of one; sums = (z0 z0, z0 z1, z1 z1). Four rows a turn:
 * the last may read up to three rows behind the atoms, which are 0. */
#define FOUR_ROWS(i)                                                                           \
    const double *restrict a = factor + (i) * stride, *restrict b = a + stride;                \
    const double *restrict c = b + stride, *restrict d = c + stride
#define GATHER(s, row, j, x) s = PLUS(s, TIMES(AT(row, j), x))
#define SPREAD(v, j, z)                                                                        \
    PUT(v, j,                                                                                  \
        PLUS(AT(v, j),                                                                         \
             PLUS(PLUS(TIMES(ALL((z)[0]), AT(a, j)), TIMES(ALL((z)[1]), AT(b, j))),            \
                  PLUS(TIMES(ALL((z)[2]), AT(c, j)), TIMES(ALL((z)[3]), AT(d, j))))))

LANES void solve_two(const double *restrict factor, ptrdiff_t stride, ptrdiff_t n,
                     const double *restrict k0, const double *restrict k1, double *restrict v0,
                     double *restrict v1, double *restrict sums)
{
    four s00 = ALL(0.0), s01 = ALL(0.0), s11 = ALL(0.0);
    double z0[4], z1[4];
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        v0[j] = v1[j] = 0.0;
    for (ptrdiff_t i = 0; i < n; i += 4) {
        FOUR_ROWS(i);
        four a0 = ALL(0.0), b0 = a0, c0 = a0, d0 = a0, a1 = a0, b1 = a0, c1 = a0, d1 = a0;
        for (ptrdiff_t j = 0; j < i + 4; j += 4) {
            four x = AT(k0, j), y = AT(k1, j);
            GATHER(a0, a, j, x), GATHER(b0, b, j, x), GATHER(c0, c, j, x), GATHER(d0, d, j, x);
            GATHER(a1, a, j, y), GATHER(b1, b, j, y), GATHER(c1, c, j, y), GATHER(d1, d, j, y);
        }
        four half0 = sums_of(a0, b0, c0, d0), half1 = sums_of(a1, b1, c1, d1);
        s00 = PLUS(s00, TIMES(half0, half0)), s01 = PLUS(s01, TIMES(half0, half1));
        s11 = PLUS(s11, TIMES(half1, half1));
        PUT(z0, 0, half0);
        PUT(z1, 0, half1);
        for (ptrdiff_t j = 0; j < i + 4; j += 4) {
            SPREAD(v0, j, z0);
            SPREAD(v1, j, z1);
        }
    }
    sums[0] = sum_of(s00), sums[1] = sum_of(s01), sums[2] = sum_of(s11);
}

LANES void solve_one(const double *restrict factor, ptrdiff_t stride, ptrdiff_t n,
                     const double *restrict k, double *restrict v, double *restrict sums)
{
    four total = ALL(0.0);
    double z[4];
    for (ptrdiff_t j = 0; j < VECTORS(n); j++)
        v[j] = 0.0;
    for (ptrdiff_t i = 0; i < n; i += 4) {
        FOUR_ROWS(i);
        four a0 = ALL(0.0), b0 = a0, c0 = a0, d0 = a0;
        for (ptrdiff_t j = 0; j < i + 4; j += 4) {
            four x = AT(k, j);
            GATHER(a0, a, j, x), GATHER(b0, b, j, x), GATHER(c0, c, j, x), GATHER(d0, d, j, x);
        }
        four half = sums_of(a0, b0, c0, d0);
        total = PLUS(total, TIMES(half, half));
        PUT(z, 0, half);
        for (ptrdiff_t j = 0; j < i + 4; j += 4)
            SPREAD(v, j, z);
    }
    sums[0] = sums[1] = sums[2] = sum_of(total);
}

/* Out of rows j.. of U' rotate column j of U into `carry`, close the gap, and renew the diagonal
 * by sums of squares anew: subtracting what left would cancel. */
LANES void rotate_out(double *restrict factor, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t j,
                      double *restrict carry, double *restrict diagonal)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        carry[k] = k <= j ? factor[j * stride + k] : 0.0;
        diagonal[k] = 0.0;
    }
    for (ptrdiff_t i = 0; i < j; i++) {
        const double *restrict row = factor + i * stride;
        for (ptrdiff_t k = 0; k <= i; k++)
            diagonal[k] += row[k] * row[k];
    }
    for (ptrdiff_t i = j; i < n - 1; i++) {
        double *restrict row = factor + i * stride;
        const double *restrict next = row + stride;
        double top = carry[j], side = next[j], length = sqrt(top * top + side * side);
        double c = side / length, s = top / length;
        for (ptrdiff_t k = 0; k < j; k++) {
            double p = carry[k], q = next[k], r = c * p - s * q;
            row[k] = r;
            carry[k] = s * p + c * q;
            diagonal[k] += r * r;
        }
        carry[j] = length;
        for (ptrdiff_t k = j + 1; k < i + 2; k++) {
            double p = carry[k], q = next[k], r = c * p - s * q;
            row[k - 1] = r;
            carry[k] = s * p + c * q;
            diagonal[k - 1] += r * r;
        }
    }
}

/* ---- prices of atoms ----------------------------------------------------------------------- */

/* Whether an atom costs at most `price` while both new points stay: the low bit; and at most
 * `later` when p is gone: the next bit. t = (T_pp, T_pq, T_qq), c = -T_pq/T_pp. */
LANES int atoms_within(const double *restrict weights, ptrdiff_t stride, ptrdiff_t n_priced,
                       const double *restrict amounts, const double *restrict diagonal,
                       ptrdiff_t n, const double *v_p, const double *v_q, double t_pp,
                       double t_pq, double t_qq, double c, double price, double later)
{
    double alone = t_qq + t_pq * c;
    int64_t now_within = 0, then_within = 0;
    if (n_priced == 1) {
        double a = amounts[0];
#pragma omp simd reduction(+ : now_within, then_within)
        for (ptrdiff_t j = 0; j < VECTORS(n); j++) {
            double u = v_p[j], v = v_q[j], w = weights[j], moved = w + a * (u - c * v);
            double enlarged = diagonal[j] + u * (t_pp * u + 2.0 * t_pq * v) + t_qq * v * v;
            now_within += w * w <= price * enlarged;
            then_within += moved * moved <= later * (diagonal[j] + alone * v * v);
        }
    } else {
        for (ptrdiff_t j = 0; j < n; j++) {
            double u = v_p[j], v = v_q[j], now = 0.0, then = 0.0;
            for (ptrdiff_t row = 0; row < n_priced; row++) {
                double w = weights[row * stride + j], moved = w + amounts[row] * (u - c * v);
                now += w * w;
                then += moved * moved;
            }
            double enlarged = diagonal[j] + u * (t_pp * u + 2.0 * t_pq * v) + t_qq * v * v;
            now_within += now <= price * enlarged;
            then_within += then <= later * (diagonal[j] + alone * v * v);
        }
    }
    return (now_within > 0) | (then_within > 0) << 1;
}

/* Whether some atom costs at most `price`. */
LANES int any_within(const double *restrict weights, ptrdiff_t stride, ptrdiff_t n_priced,
                     const double *restrict diagonal, ptrdiff_t n, double price)
{
    int64_t within = 0;
#pragma omp simd reduction(+ : within)
    for (ptrdiff_t j = 0; j < VECTORS(n); j++) {
        double squares = weights[j] * weights[j];
        for (ptrdiff_t row = 1; row < n_priced; row++)
            squares += weights[row * stride + j] * weights[row * stride + j];
        within += squares <= price * diagonal[j];
    }
    return within > 0;
}

#endif
