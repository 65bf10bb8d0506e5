/* The fastest loops, over whole vectors: n is rounded up to a multiple of eight.
 *
 * Matrices are rows of `stride` numbers, and arguments share no memory. Entries beyond the atoms
 * are finite in columns, 0 in weights and factor, and NaN in the diagonal, so that comparisons
 * are false. On x86-64 with glibc each function is compiled for AVX-512, for AVX2 and for any
 * machine, and the version is chosen at load time; the file includes itself once per width. */
#ifndef COLK_LOOPS_H
#define COLK_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The loops of kernels. For a new kernel, add its name here and a line of COLUMNS below. */
#define KERNELS(_)                                                                             \
    _(gaussian) _(laplacian) _(matern_of_one_half) _(matern_of_three_halves)                   \
    _(matern_of_five_halves) _(rational_quadratic) _(polynomial) _(linear)

#if defined(__GNUC__)
#define INLINE inline __attribute__((always_inline))
#define PRAGMA(text) _Pragma(text)
#else
#define INLINE inline
#define PRAGMA(text)
#endif
#define EACH_NUMBER PRAGMA("omp simd") for /* of a row, in any order */
#define VECTORS(n) (((n) + 7) & ~(ptrdiff_t)7)
#if defined(_MSC_VER)
#define restrict __restrict
#endif
/* Exactly n numbers, often one. */
static INLINE void copy(double *restrict w, const double *restrict u, ptrdiff_t n)
{
    EACH_NUMBER (ptrdiff_t j = 0; j < n; j++) w[j] = u[j];
}
/* Close the gap that number j leaves in a row of n others. */
static INLINE void close_gap(double *w, ptrdiff_t j, ptrdiff_t n)
{ memmove(w + j, w + j + 1, (size_t)(n - j) * sizeof(double)); }
#if defined(__x86_64__) && defined(__gnu_linux__) && __GNUC__ >= 12 && !defined(__clang__)        \
    && !defined(COLK_WIDTH) /* else one width alone */
#define PASTE(f, width) f##_##width
#define PASTED(f, width) PASTE(f, width)
#define NAME(f) PASTED(f, WIDTH)
#define WIDTH 2
#define LANES __attribute__((unused)) static
#include "loops.h"
#define WIDTH 4
#define LANES __attribute__((target("arch=x86-64-v3"), unused)) static
#define BESIDE 2
#define HOLD(x) __asm__("" : "+x"(x)) /* in a register: GCC would load it anew for each use */
#include "loops.h"
#define WIDTH 8
#define LANES __attribute__((target("arch=x86-64-v4"), unused)) static
#include "loops.h"
#define CHOOSE(f)                                                                              \
    __attribute__((unused)) static __typeof__(f##_2) *choose_##f(void)                         \
    {                                                                                          \
        __builtin_cpu_init();                                                                  \
        if (__builtin_cpu_supports("x86-64-v4")) return f##_8;                                 \
        return __builtin_cpu_supports("x86-64-v3") ? f##_4 : f##_2;                            \
    }                                                                                          \
    __attribute__((ifunc("choose_" #f), unused)) static __typeof__(f##_2) f;
KERNELS(CHOOSE)
CHOOSE(cosines) CHOOSE(dot) CHOOSE(add) CHOOSE(add_two) CHOOSE(approach) CHOOSE(multiply)
CHOOSE(scale) CHOOSE(keep_and_scale) CHOOSE(solve) CHOOSE(rotate_out) CHOOSE(atoms_within)
CHOOSE(atoms_within_one) CHOOSE(any_within) CHOOSE(price_mergers) CHOOSE(whiten)
CHOOSE(whiten_and_spread) CHOOSE(spread) CHOOSE(settle_and_multiply) CHOOSE(rotate_out_symmetric)
CHOOSE(overlap) CHOOSE(transform)
#else
#define NAME(f) f
#if defined(COLK_WIDTH)
#define WIDTH COLK_WIDTH
#elif defined(__clang__) || __GNUC__ >= 12
#define WIDTH 4
#else /* no vector types: one number after the other */
#define WIDTH 1
#endif
#if defined(__GNUC__)
#define LANES __attribute__((unused)) static
#else
#define LANES static
#endif
#include "loops.h"
#endif

typedef void (*columns_loop)(const double *, ptrdiff_t, ptrdiff_t, const double *, ptrdiff_t, ptrdiff_t,
                             const double *, double, double *, ptrdiff_t);
/* The loop of a kernel by its name; NULL if there is none. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static columns_loop kernel_loop(const char *name)
{
#define FOUND(f) if (strcmp(name, #f) == 0) return f;
    KERNELS(FOUND)
    return NULL;
}

#else /* ---- the body, for vectors of WIDTH numbers ------------------------------------------- */
#define vector NAME(vector_)
#define bits NAME(bits_)
#define magnitude NAME(magnitude_)
#define least NAME(least_)
#define exponentials NAME(exponentials_)
#define root NAME(root_)
#define raised NAME(raised_)
#define logarithm NAME(logarithm_)
#define sum NAME(sum_)
#define any_of NAME(any_of_)
#define one_within NAME(one_within_)
#define rows_within NAME(rows_within_)
#define row_sums NAME(row_sums_)
#define whiten_rows NAME(whiten_rows_)
#define solve_panel NAME(solve_panel_)
#define solve_rows NAME(solve_rows_)
#define product NAME(product_)
#define product_of_rows NAME(product_of_rows_)
#define pass NAME(pass_)
#define power NAME(power_)

#if !defined(BESIDE) /* vectors at a time, to hide latency */
#define BESIDE 1
#endif
#if !defined(HOLD)
#define HOLD(x) (void)0
#endif
#define MOST (2 * BESIDE)
#define EACH_BESIDE PRAGMA("GCC unroll 2") for (int w = 0; w < beside; w++)
#define EACH_VECTOR PRAGMA("GCC unroll 4") for (int l = 0; l < count; l++)
#if WIDTH > 1
typedef double vector __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(8 * WIDTH)));
#define AT(x, j) (*(const vector *)((x) + (j)))
#define PUT(x, j) (*(vector *)((x) + (j)))
#define ALL(x) ((x) - (vector){0})
#define MIX __builtin_shufflevector

LANES inline vector magnitude(vector a) { return (vector)((bits)a & INT64_MAX); }
#define AT_MOST(a, b, bit) ((bits)((a) <= (b)) & (bit))
#define CHOSEN(condition, a, b) ((vector)(((bits)(a) & (condition)) | ((bits)(b) & ~(condition))))
LANES inline vector least(vector a, double b) { return CHOSEN(a < b, a, ALL(b)); }
/* e^x of `count` vectors x <= 0, in place, to one unit in the last place; 0 below e^-708. Each line
 * handles all vectors, so that it loads its constant once. x = m log 2 + r, |r| <= log 2/2, and
 * e^r = 1 + r + r^2 q with q summed in pairs, to shorten the chain of dependencies. */
LANES INLINE void exponentials(vector *x, int count)
{
    const double magic = 6755399441056767.0; /* 1.5 * 2^52 + 1023: leaves m + 1023 in the low bits */
    vector shifted[MOST], m[MOST], r[MOST], r2[MOST], r4[MOST], low[MOST], high[MOST], q[MOST];
    EACH_VECTOR shifted[l] = x[l] * 1.4426950408889634 + magic, m[l] = shifted[l] - magic;
    EACH_VECTOR r[l] = (x[l] - m[l] * 0.6931471803691238) - m[l] * 1.9082149292705877e-10;
    EACH_VECTOR r2[l] = r[l] * r[l], r4[l] = r2[l] * r2[l];
    EACH_VECTOR low[l] = 0.0416666666664881 + r[l] * 0.008333333333319601;
    EACH_VECTOR low[l] = (0.5000000000000019 + r[l] * 0.1666666666666668) + r2[l] * low[l];
    EACH_VECTOR high[l] = 2.4801485482328494e-05 + r[l] * 2.755724091857897e-06;
    EACH_VECTOR q[l] = 0.0013888888952314775 + r[l] * 0.00019841269890047113;
    EACH_VECTOR high[l] = q[l] + r2[l] * high[l];
    EACH_VECTOR q[l] = 2.763263963904103e-07 + r[l] * 2.5110037605963777e-08;
    EACH_VECTOR q[l] = low[l] + r4[l] * (high[l] + r4[l] * q[l]);
    EACH_VECTOR q[l] = (1.0 + (r[l] + r2[l] * q[l])) * (vector)((bits)shifted[l] << 52);
    EACH_VECTOR x[l] = (vector)((bits)q[l] & (x[l] > -708.0));
}
#else
typedef double vector;
typedef int64_t bits;
#define AT_MOST(a, b, bit) ((a) <= (b) ? (bit) : 0)
#define AT(x, j) ((x)[j])
#define PUT(x, j) ((x)[j])
#define ALL(x) (x)
static inline double magnitude(double a) { return fabs(a); }
static inline double least(double a, double b) { return a < b ? a : b; }
static inline void exponentials(double *x, int count) { EACH_VECTOR x[l] = exp(x[l]); }
#endif

/* EXPRESSION of each number x[l] of a vector. */
#define BY_NUMBER(name, arguments, EXPRESSION)                                                 \
    LANES inline vector name arguments                                                         \
    {                                                                                          \
        double x[WIDTH]; PUT(x, 0) = a;                                                        \
        EACH_NUMBER (int l = 0; l < WIDTH; l++) x[l] = EXPRESSION;                             \
        return AT(x, 0);                                                                       \
    }
BY_NUMBER(root, (vector a), sqrt(x[l]))
BY_NUMBER(logarithm, (vector a), log(x[l]))
BY_NUMBER(raised, (vector a, double exponent), pow(x[l], exponent))
LANES inline double sum(vector a)
{
#if WIDTH == 8
    __auto_type four = MIX(a, a, 0, 1, 2, 3) + MIX(a, a, 4, 5, 6, 7);
#elif WIDTH == 4
    vector four = a;
#endif
#if WIDTH >= 4
    __auto_type two = MIX(four, four, 0, 1) + MIX(four, four, 2, 3);
    return two[0] + two[1];
#elif WIDTH == 2
    return a[0] + a[1];
#else
    return a;
#endif
}
/* The bits that are set anywhere. */
LANES inline int any_of(bits a)
{
    int64_t x = 0;
    for (int l = 0; l < WIDTH; l++) x |= ((int64_t *)&a)[l];
    return (int)x;
}

/* The sums of WIDTH vectors. */
LANES inline vector row_sums(const vector *a)
{
    vector s = ALL(0.0);
#if WIDTH == 8
/* A blend and one shuffle each, which use different execution ports. */
#define PAIRS(a, b) (MIX(a, b, 0, 9, 2, 11, 4, 13, 6, 15) + MIX(a, b, 1, 8, 3, 10, 5, 12, 7, 14))
#define FOURS(a, b) (MIX(a, b, 0, 1, 10, 11, 4, 5, 14, 15) + MIX(a, b, 2, 3, 8, 9, 6, 7, 12, 13))
    vector b = FOURS(PAIRS(a[0], a[1]), PAIRS(a[2], a[3]));
    vector c = FOURS(PAIRS(a[4], a[5]), PAIRS(a[6], a[7]));
    s = MIX(b, c, 0, 1, 2, 3, 12, 13, 14, 15) + MIX(b, c, 4, 5, 6, 7, 8, 9, 10, 11);
#elif WIDTH == 4
    vector b = MIX(a[0], a[1], 0, 4, 2, 6) + MIX(a[0], a[1], 1, 5, 3, 7);
    vector c = MIX(a[2], a[3], 0, 4, 2, 6) + MIX(a[2], a[3], 1, 5, 3, 7);
    s = MIX(b, c, 0, 1, 4, 5) + MIX(b, c, 2, 3, 6, 7);
#else
    for (int l = 0; l < WIDTH; l++) ((double *)&s)[l] = sum(a[l]);
#endif
    return s;
}
/* a^degree by squaring, for a whole degree. */
LANES inline vector power(vector a, ptrdiff_t degree)
{
    vector result = ALL(1.0);
    for (; degree > 0; degree >>= 1, a *= a)
        if (degree & 1) result *= a;
    return result;
}

/* Columns of kernels: out[b, j] = PROFILE(s), where s is the sum of STATISTIC over the features;
 * `atom` and `at` are the coordinates. Two points and BESIDE vectors of atoms per iteration. Beyond
 * the atoms a column is 0. */
#define COLUMNS(name, STATISTIC, PROFILE)                                                      \
    LANES INLINE void NAME(name##_turn)(const double *restrict atoms, ptrdiff_t stride,        \
                                        const double *restrict x, ptrdiff_t p,                 \
                                        const double *restrict scales, double c,               \
                                        double *restrict out, ptrdiff_t width, int points,     \
                                        int beside)                                            \
    {                                                                                          \
        vector s[MOST], t[MOST], atom;                                                         \
        const int count = points * beside;                                                     \
        EACH_VECTOR s[l] = ALL(0.0);                                                           \
        for (ptrdiff_t k = 0; k < p; k++)                                                      \
            EACH_BESIDE {                                                                      \
                double at = x[k];                                                              \
                atom = AT(atoms, k * stride + w * WIDTH), s[w] += STATISTIC;                   \
                if (points > 1) at = x[p + k], s[beside + w] += STATISTIC;                     \
            }                                                                                  \
        (void)c, (void)scales, (void)t;                                                        \
        PROFILE;                                                                               \
        EACH_BESIDE PUT(out, w * WIDTH) = s[w];                                                \
        if (points > 1) EACH_BESIDE PUT(out, width + w * WIDTH) = s[beside + w];               \
    }                                                                                          \
    LANES void NAME(name)(const double *restrict atoms, ptrdiff_t stride, ptrdiff_t n,         \
                          const double *restrict points, ptrdiff_t p, ptrdiff_t size,          \
                          const double *restrict scales, double c, double *restrict out,       \
                          ptrdiff_t width)                                                     \
    {                                                                                          \
        for (ptrdiff_t b = 0; b < size; b += 2) {                                              \
            const double *restrict x = points + b * p;                                         \
            double *restrict to = out + b * width, *last = b + 1 < size ? to + width : to;     \
            for (ptrdiff_t j = 0; j < n; j += BESIDE * WIDTH) {                                \
                const double *restrict from = atoms + j;                                       \
                if (last > to && n - j > WIDTH)                                                \
                    NAME(name##_turn)(from, stride, x, p, scales, c, to + j, width, 2, BESIDE);\
                else if (last > to)                                                            \
                    NAME(name##_turn)(from, stride, x, p, scales, c, to + j, width, 2, 1);     \
                else if (n - j > WIDTH)                                                        \
                    NAME(name##_turn)(from, stride, x, p, scales, c, to + j, width, 1, BESIDE);\
                else NAME(name##_turn)(from, stride, x, p, scales, c, to + j, width, 1, 1);    \
            }                                                                                  \
            for (ptrdiff_t j = n; j < VECTORS(n); j++) to[j] = last[j] = 0.0;                  \
        }                                                                                      \
    }
#define DIFFERENCE ((atom - at) * scales[k])
#define SQUARE (DIFFERENCE * DIFFERENCE)
/* In units of sqrt(2 nu) r, capped where the value is 0. */
#define ROOTS(factor) EACH_VECTOR t[l] = least((factor) * root(s[l]), 1e4), s[l] = -t[l]

COLUMNS(gaussian, SQUARE, EACH_VECTOR s[l] *= -0.5; exponentials(s, count))
COLUMNS(laplacian, magnitude(DIFFERENCE), EACH_VECTOR s[l] = -s[l]; exponentials(s, count))
COLUMNS(matern_of_one_half, SQUARE, EACH_VECTOR s[l] = -root(s[l]); exponentials(s, count))
COLUMNS(matern_of_three_halves, SQUARE, ROOTS(1.7320508075688772); exponentials(s, count);
        EACH_VECTOR s[l] *= 1.0 + t[l])
COLUMNS(matern_of_five_halves, SQUARE, ROOTS(2.23606797749979); exponentials(s, count);
        EACH_VECTOR s[l] *= 1.0 + t[l] + t[l] * t[l] * (1.0 / 3.0))
COLUMNS(rational_quadratic, SQUARE, EACH_VECTOR s[l] = raised(1.0 + s[l] * (0.5 / c), -c))
COLUMNS(polynomial, atom *at, EACH_VECTOR s[l] = power(s[l] + scales[0], (ptrdiff_t)c))
COLUMNS(linear, atom *at, )

/* scale * cos(2 pi turns), in place: sin y = y Sum_k (-1)^k y^2k/(2k + 1)! on [-pi/2, pi/2]. */
LANES void NAME(cosines)(double *restrict turns, double scale, ptrdiff_t n)
{
    const double magic = 6755399441055744.0; /* adding and subtracting it rounds */
#define TERM(x) tail = tail * s + (x)
    EACH_NUMBER (ptrdiff_t j = 0; j < VECTORS(n); j++) {
        double whole = (turns[j] + magic) - magic, tail = -8.22063524662433e-18;
        double y = 6.283185307179586 * (0.25 - fabs(turns[j] - whole)), s = y * y;
        TERM(2.8114572543455206e-15), TERM(-7.647163731819816e-13), TERM(1.6059043836821613e-10);
        TERM(-2.505210838544172e-08), TERM(2.7557319223985893e-06), TERM(-0.0001984126984126984);
        TERM(0.008333333333333333), TERM(-0.16666666666666666);
        turns[j] = scale * (y * (1.0 + s * tail));
    }
}

LANES double NAME(dot)(const double *restrict a, const double *restrict b, ptrdiff_t n)
{
    const int beside = BESIDE;
    vector total[BESIDE] = {0};
    for (ptrdiff_t j = 0; j < n; j += BESIDE * WIDTH)
        EACH_BESIDE total[w] += AT(a, j + w * WIDTH) * AT(b, j + w * WIDTH);
    for (int w = 1; w < BESIDE; w++) total[0] += total[w];
    return sum(total[0]);
}

#define ROWS(name, arguments, statement)                                                       \
    LANES void NAME(name) arguments                                                            \
    {                                                                                          \
        EACH_NUMBER (ptrdiff_t j = 0; j < VECTORS(n); j++) statement;                          \
    }
ROWS(add, (double *restrict w, const double *restrict u, double a, ptrdiff_t n), w[j] += a * u[j])
ROWS(add_two, (double *restrict w, const double *u, const double *v, double a, double b,
               ptrdiff_t n), w[j] += a * u[j] + b * v[j])
ROWS(approach, (double *restrict w, const double *restrict u, double rate, ptrdiff_t n),
     w[j] += rate * (u[j] - w[j]))
ROWS(multiply, (double *restrict w, const double *restrict u, ptrdiff_t n), w[j] *= u[j])
ROWS(scale, (double *restrict w, double factor, ptrdiff_t n), w[j] *= factor)
/* Multiply by `factor` where the codes of two categories differ. */
ROWS(overlap, (double *restrict w, const double *restrict codes, double code, double factor,
               ptrdiff_t n), w[j] *= codes[j] == code ? 1.0 : factor)
ROWS(keep_and_scale, (double *restrict kept, double *restrict w, double factor, ptrdiff_t n),
     (kept[j] = w[j], w[j] *= factor))

/* out = x A for a matrix A of p rows of whole vectors; out has n numbers. Each number is a sum over
 * the rows in their order, so it does not depend on what is transformed with it. `count` vectors of
 * out at a time hide latency. */
LANES INLINE void NAME(transform_turn)(const double *restrict x, ptrdiff_t p,
                                       const double *restrict A, ptrdiff_t stride,
                                       double *restrict out, ptrdiff_t n, int count)
{
    vector s[4];
    EACH_VECTOR s[l] = ALL(0.0);
    for (ptrdiff_t k = 0; k < p; k++)
        EACH_VECTOR s[l] += x[k] * AT(A, k * stride + l * WIDTH);
    EACH_VECTOR
        if (n - l * WIDTH >= WIDTH) PUT(out, l * WIDTH) = s[l];
        else memcpy(out + l * WIDTH, &s[l], (size_t)(n - l * WIDTH) * sizeof(double));
}
LANES void NAME(transform)(const double *restrict x, ptrdiff_t p, const double *restrict A,
                           ptrdiff_t stride, double *restrict out, ptrdiff_t n)
{
    ptrdiff_t j = 0;
    for (; n - j > 3 * WIDTH; j += 4 * WIDTH)
        NAME(transform_turn)(x, p, A + j, stride, out + j, n - j, 4);
    for (; j < n; j += WIDTH) NAME(transform_turn)(x, p, A + j, stride, out + j, n - j, 1);
}

#include "triangles.h"

/* The cost of merging an atom of weight `light` with each other, for the Gaussian kernel divided by
 * its value at 0: column = e^-decay. Three steps of Newton's method from h = 0, for all atoms at
 * once, solve h = (1 - h) light/heavy e^-decay(1 - 2h); if heavy is 0, light is 0 too. */
LANES void NAME(price_mergers)(const double *restrict weights, const double *restrict column,
                               double light, double own, double *restrict decays,
                               double *restrict places, double *restrict losses, ptrdiff_t n)
{
#define EACH for (ptrdiff_t j = 0; j < n; j += WIDTH)
#define WITHIN(h) least(-least(-(h), 1.0), 0.5) /* [-1, 1/2] */
    EACH {
        vector share = AT(column, j) / own, decay = -logarithm(-least(-share, -1e-304));
        vector ratio = least(light / AT(weights, j), 1.0), pull = ratio * share;
        PUT(decays, j) = decay, PUT(losses, j) = ratio;
        PUT(places, j) = WITHIN(pull / (1.0 + pull - 2.0 * decay * pull));
    }
    for (int step = 1; step < 3; step++)
        EACH {
            vector decay = AT(decays, j), h = AT(places, j), rest = 1.0 - h;
            vector pull = decay * (h - rest);
            exponentials(&pull, 1), pull *= AT(losses, j);
            h -= (h - rest * pull) / (1.0 + pull - 2.0 * decay * rest * pull);
            PUT(places, j) = WITHIN(h);
        }
    EACH {
        vector heavy = AT(weights, j), decay = AT(decays, j), h = AT(places, j), rest = 1.0 - h;
        vector values[2] = {-decay * rest * rest, -decay * h * h}; /* far and near */
        exponentials(values, 2);
        vector merged = light * values[0] + heavy * values[1], mixed = light * heavy * AT(column, j);
        PUT(losses, j) = light * light + heavy * heavy + 2.0 * mixed / own - merged * merged;
    }
}
#undef WIDTH
#undef vector
#undef bits
#undef magnitude
#undef least
#undef exponentials
#undef root
#undef raised
#undef logarithm
#undef sum
#undef any_of
#undef one_within
#undef rows_within
#undef row_sums
#undef whiten_rows
#undef solve_panel
#undef solve_rows
#undef product
#undef product_of_rows
#undef pass
#undef power
#undef LANES
#undef BESIDE
#undef HOLD
#endif
