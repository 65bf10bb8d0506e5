/* Loops over triangles: the factor U of the inverse Gram matrix, of which the rows of U' are stored,
 * prices of atoms by its diagonal, and the symmetric P. Included by loops.h for each width. */
/* z = U'k and v = Uz of one column k, or of two; sums = (z0 z0, z0 z1, z1 z1), for one
 * column only the first. The rows are split into panels (one panel if there are few atoms): z
 * first, then v, while the panel is in the cache. An iteration takes WIDTH rows, or TALL rows for
 * one column, and at the end half or a quarter of them; the last may include rows beyond the atoms,
 * which are 0. For short rows the length is a compile-time constant and needs no register. */
#define PANEL 64
#define SHORT_ROW 40
#define TURN (WIDTH > 1 ? 2 : 1)
#define TALL (BESIDE * WIDTH)
LANES INLINE void whiten_rows(const double *restrict rows, ptrdiff_t stride, ptrdiff_t i,
                             const double *restrict k, int two, int count, double *x, double *y)
{
    vector a[TALL] = {0}, b[TALL] = {0};
    PRAGMA("GCC unroll 1") /* else GCC rounds some products of a short row apart from their sums */
    for (ptrdiff_t j = 0; j < i + count; j += WIDTH)
        for (int l = 0; l < count; l++) {
            vector row = AT(rows, l * stride + j);
            if (two) HOLD(row);
            a[l] += row * AT(k, j);
            if (two) b[l] += row * AT(k, stride + j);
        }
    for (int l = 0; l < count; l += WIDTH) {
        PUT(x, l) = row_sums(a + l);
        if (two) PUT(y, l) = row_sums(b + l);
    }
}
LANES INLINE void solve_panel(const double *restrict factor, ptrdiff_t stride, ptrdiff_t top,
                              ptrdiff_t end, ptrdiff_t last, const double *restrict k,
                              double *restrict v, int two, vector *sums)
{
    const int beside = BESIDE;
    double z0[PANEL], z1[PANEL];
    for (ptrdiff_t i = top; i < end; i += WIDTH) {
        const double *rows = factor + i * stride;
        double *x = z0 + i - top, *y = z1 + i - top;
        if (!two && WIDTH < TALL && WIDTH < end - i)
            whiten_rows(rows, stride, i, k, 0, TALL, x, y), i += TALL - WIDTH;
        else if (4 * (end - i) <= WIDTH) whiten_rows(rows, stride, i, k, two, WIDTH / 4, x, y);
        else if (2 * (end - i) <= WIDTH) whiten_rows(rows, stride, i, k, two, WIDTH / 2, x, y);
        else whiten_rows(rows, stride, i, k, two, WIDTH, x, y);
    }
    for (ptrdiff_t i = 0; i < end - top; i += WIDTH) {
        vector x = AT(z0, i);
        sums[0] += x * x;
        if (two) sums[1] += x * AT(z1, i), sums[2] += AT(z1, i) * AT(z1, i);
    }
    for (ptrdiff_t j = 0; j < last; j += BESIDE * WIDTH) {
        vector a[BESIDE][2] = {0}, b[BESIDE][2] = {0};
        if (j < top) EACH_BESIDE a[w][0] = AT(v, j + w * WIDTH);
        if (two && j < top) EACH_BESIDE b[w][0] = AT(v, stride + j + w * WIDTH);
        for (ptrdiff_t i = j < top ? top : j; i < end; i += TURN)
            for (int l = 0; l < TURN; l++)
                EACH_BESIDE {
                    vector row = AT(factor, (i + l) * stride + j + w * WIDTH);
                    if (two) HOLD(row);
                    a[w][l] += z0[i + l - top] * row;
                    if (two) b[w][l] += z1[i + l - top] * row;
                }
        EACH_BESIDE PUT(v, j + w * WIDTH) = a[w][0] + a[w][1];
        if (two) EACH_BESIDE PUT(v, stride + j + w * WIDTH) = b[w][0] + b[w][1];
    }
}
LANES INLINE void solve_rows(const double *factor, ptrdiff_t stride, ptrdiff_t n, const double *k,
                             double *v, int two, double *sums)
{
    vector nothing = ALL(0.0), s[3] = {nothing, nothing, nothing};
    if (n <= PANEL) solve_panel(factor, stride, 0, n, VECTORS(n), k, v, two, s);
    else
        for (ptrdiff_t top = 0, height = 16; top < n; top += height) {
            ptrdiff_t end = top + height < n ? top + height : n;
            solve_panel(factor, stride, top, end, end < n ? end : VECTORS(n), k, v, two, s);
        }
    for (int i = 0; i < (two ? 3 : 1); i++) sums[i] = sum(s[i]);
}
LANES void NAME(solve)(const double *factor, ptrdiff_t stride, ptrdiff_t n, const double *columns,
                       ptrdiff_t size, double *solutions, double *sums)
{
#define SOLVE(length, two) solve_rows(factor, length, n, columns, solutions, two, sums)
    if (stride == SHORT_ROW && size == 2) SOLVE(SHORT_ROW, 1);
    else if (stride == SHORT_ROW) SOLVE(SHORT_ROW, 0);
    else if (size == 2) SOLVE(stride, 1);
    else SOLVE(stride, 0);
}

/* Rotate column j of U out of rows j.. of U' into `carry`, close the gap, and recompute the
 * diagonal as sums of squares, because subtracting would cancel. */
#define ROTATE(k, to)                                                                          \
    double p = carry[k], q = next[k], r = c * p - s * q;                                       \
    row[to] = r, carry[k] = s * p + c * q, diagonal[to] += r * r
LANES void NAME(rotate_out)(double *restrict factor, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t j,
                            double *restrict carry, double *restrict diagonal)
{
    EACH_NUMBER (ptrdiff_t k = 0; k < n; k++)
        carry[k] = k <= j ? factor[j * stride + k] : 0.0, diagonal[k] = 0.0;
    for (ptrdiff_t i = 0; i < j; i++) {
        const double *restrict row = factor + i * stride;
        EACH_NUMBER (ptrdiff_t k = 0; k <= i; k++) diagonal[k] += row[k] * row[k];
    }
    for (ptrdiff_t i = j; i < n - 1; i++) {
        double *restrict row = factor + i * stride;
        const double *restrict next = row + stride;
        double top = carry[j], side = next[j], length = sqrt(top * top + side * side);
        double c = side / length, s = top / length;
        EACH_NUMBER (ptrdiff_t k = 0; k < j; k++) { ROTATE(k, k); }
        carry[j] = length;
        EACH_NUMBER (ptrdiff_t k = j + 1; k < i + 2; k++) { ROTATE(k, k - 1); }
    }
}

/* Bit 0: an atom costs at most `price` with a new point of novelty s; bit 1: at most `rest`
 * without it. A cost is a sum over rows of weights. */
LANES INLINE int one_within(const double *restrict weights, ptrdiff_t stride, ptrdiff_t rows,
                            const double *restrict a, const double *restrict diagonal, ptrdiff_t n,
                            const double *restrict v, double s, double price, double rest)
{
    bits within = {0};
    for (ptrdiff_t j = 0; j < n; j += WIDTH) {
        vector u = AT(v, j), d = AT(diagonal, j), now = ALL(0.0), then = now;
        for (ptrdiff_t row = 0; row < rows; row++)
            now += AT(weights, row * stride + j) * AT(weights, row * stride + j);
        within |= AT_MOST(s * now, price * (s * d + u * u), 1);
        if (!(rest >= 0.0)) continue; /* no cost is negative */
        for (ptrdiff_t row = 0; row < rows; row++) {
            vector moved = AT(weights, row * stride + j) + a[row] * u;
            then += moved * moved;
        }
        within |= AT_MOST(then, rest * d, 2);
    }
    return any_of(within);
}
/* There are separate loops for one and two rows, the iterate and its average. */
#define BY_ROWS(n, CALL) ((n) == 1 ? CALL(1) : (n) == 2 ? CALL(2) : CALL(n))
LANES int NAME(atoms_within_one)(const double *weights, ptrdiff_t stride, ptrdiff_t n_priced,
                                 const double *a, const double *diagonal, ptrdiff_t n,
                                 const double *v, double s, double price, double rest)
{
#define ONE_OF(rows) one_within(weights, stride, rows, a, diagonal, n, v, s, price, rest)
    return BY_ROWS(n_priced, ONE_OF);
}

/* Bit 0: an atom costs at most `price` with both new points p and q; bit 1: at most `later`
 * without p; bit 2: at most `rest` without both. c is the share of q in p, 1/t_p the
 * novelty of p given q, 1/t_q that of q. */
LANES INLINE int rows_within(const double *restrict weights, ptrdiff_t stride, ptrdiff_t rows,
                             const double *a_p, const double *a_q, const double *restrict diagonal,
                             ptrdiff_t n, const double *v_p, const double *v_q, double c,
                             double t_p, double t_q, double price, double later, double rest)
{
    bits within = {0};
    for (ptrdiff_t j = 0; j < n; j += WIDTH) {
        vector u = AT(v_p, j), v = AT(v_q, j), own = u - c * v, d = AT(diagonal, j);
        vector beside_q = d + t_q * v * v, now = ALL(0.0), then = now, last = now;
        for (ptrdiff_t row = 0; row < rows; row++) {
            vector w = AT(weights, row * stride + j), moved = w + a_p[row] * own;
            now += w * w, then += moved * moved;
        }
        within |= AT_MOST(now, price * (beside_q + t_p * own * own), 1)
                  | AT_MOST(then, later * beside_q, 2);
        if (!(rest >= 0.0)) continue;
        for (ptrdiff_t row = 0; row < rows; row++) {
            vector settled = AT(weights, row * stride + j) + a_p[row] * u + a_q[row] * v;
            last += settled * settled;
        }
        within |= AT_MOST(last, rest * d, 4);
    }
    return any_of(within);
}
LANES int NAME(atoms_within)(const double *weights, ptrdiff_t stride, ptrdiff_t n_priced,
                             const double *a_p, const double *a_q, const double *diagonal,
                             ptrdiff_t n, const double *v_p, const double *v_q, double c,
                             double t_p, double t_q, double price, double later, double rest)
{
#define WITHIN_OF(rows)                                                                        \
    rows_within(weights, stride, rows, a_p, a_q, diagonal, n, v_p, v_q, c, t_p, t_q, price,    \
                later, rest)
    return BY_ROWS(n_priced, WITHIN_OF);
}

/* Whether some atom costs at most `price`. */
LANES int NAME(any_within)(const double *restrict weights, ptrdiff_t stride, ptrdiff_t n_priced,
                           const double *restrict diagonal, ptrdiff_t n, double price)
{
    bits within = {0};
    for (ptrdiff_t j = 0; j < n; j += WIDTH) {
        vector squares = AT(weights, j) * AT(weights, j);
        for (ptrdiff_t row = 1; row < n_priced; row++)
            squares += AT(weights, row * stride + j) * AT(weights, row * stride + j);
        within |= AT_MOST(squares, price * AT(diagonal, j), 1);
    }
    return any_of(within);
}

/* z = U'k of `columns` columns k, `wide` at a time, and v = Uh if there is an h, in one pass. */
#define FOUR PRAGMA("GCC unroll 4") for (int l = 0; l < 4; l++)
#define EACH_OF(wide) PRAGMA("GCC unroll 8") for (int w = 0; w < (wide); w++)
#define SPREAD(z) (((z)[0] * row[0] + (z)[1] * row[1]) + ((z)[2] * row[2] + (z)[3] * row[3]))
#define UP_TO(end) for (ptrdiff_t j = 0; j < (end); j += WIDTH)
#define WIDE 4
LANES INLINE void pass(const double *restrict factor, ptrdiff_t stride, ptrdiff_t n,
                       const double *restrict k, double *restrict z, int columns, int wide,
                       const double *restrict h, double *restrict v)
{
    EACH_OF(columns) UP_TO(VECTORS(n)) PUT(z, w * stride + j) = ALL(0.0);
    if (h) UP_TO(VECTORS(n)) PUT(v, j) = ALL(0.0);
    for (ptrdiff_t i = 0; i < n; i += 4)
        for (int first = 0; first < columns; first += wide) {
            vector a[WIDE][4], row[4];
            EACH_OF(wide) FOUR a[w][l] = ALL(0.0);
            UP_TO(i + 4) {
                FOUR row[l] = AT(factor, (i + l) * stride + j);
                EACH_OF(wide) FOUR a[w][l] += row[l] * AT(k, (first + w) * stride + j);
                if (h) PUT(v, j) += SPREAD(h + i);
            }
            EACH_OF(wide) FOUR z[(first + w) * stride + i + l] = sum(a[w][l]);
        }
}
LANES void NAME(whiten)(const double *factor, ptrdiff_t stride, ptrdiff_t n, const double *k,
                       double *z, int columns)
{
    pass(factor, stride, n, k, z, columns, WIDE, 0, 0);
}
LANES void NAME(whiten_and_spread)(const double *factor, ptrdiff_t stride, ptrdiff_t n,
                                  const double *k, double *z, const double *h, double *v)
{
    pass(factor, stride, n, k, z, 1, 1, h, v);
}
LANES void NAME(spread)(const double *restrict factor, ptrdiff_t stride, ptrdiff_t n,
                        const double *restrict h, double *restrict v)
{
    vector row[4];
    UP_TO(VECTORS(n)) PUT(v, j) = ALL(0.0);
    for (ptrdiff_t i = 0; i < n; i += 4)
        UP_TO(i + 4) {
            FOUR row[l] = AT(factor, (i + l) * stride + j);
            PUT(v, j) += SPREAD(h + i);
        }
}

/* P <- P - Sum_r m_r g_r g_r' for up to eight rows g, and h = Pz of `columns` z, `wide` at a time,
 * in one pass over the 8 x 8 blocks on and below the diagonal, four rows at a time. Of the symmetric P
 * only these blocks are stored. */
#define TAKE_IN(j)                                                                             \
    FOUR row[l] = AT(P, (i + l) * stride + (j));                                               \
    for (ptrdiff_t r = 0; r < count; r++) FOUR row[l] -= c[r][l] * AT(g, r * stride + (j));    \
    if (count > 0) FOUR PUT(P, (i + l) * stride + (j)) = row[l];                               \
    EACH_OF(wide) FOUR a[w][l] += row[l] * AT(z, w * stride + (j))
LANES INLINE void product_of_rows(double *restrict P, ptrdiff_t stride, ptrdiff_t i,
                                  const double *restrict g, const double *m, ptrdiff_t count,
                                  const double *restrict z, double *restrict h, int wide)
{
    ptrdiff_t block = i & ~(ptrdiff_t)7;
    vector a[WIDE][4], row[4];
    double c[8][4];
    EACH_OF(wide) FOUR a[w][l] = ALL(0.0);
    for (ptrdiff_t r = 0; r < count; r++) FOUR c[r][l] = m[r] * g[r * stride + i + l];
    for (ptrdiff_t j = 0; j < block; j += WIDTH) {
        TAKE_IN(j);
        EACH_OF(wide) PUT(h, w * stride + j) += SPREAD(z + w * stride + i);
    }
    for (ptrdiff_t j = block; j < block + 8; j += WIDTH) { TAKE_IN(j); }
    EACH_OF(wide) FOUR h[w * stride + i + l] += sum(a[w][l]);
}
LANES INLINE void product(double *restrict P, ptrdiff_t stride, ptrdiff_t n,
                          const double *restrict g, const double *m, ptrdiff_t count,
                          const double *restrict z, double *restrict h, int columns, int wide)
{
    EACH_OF(columns) UP_TO(VECTORS(n)) PUT(h, w * stride + j) = ALL(0.0);
    for (ptrdiff_t i = 0; i < VECTORS(n); i += 4) {
        product_of_rows(P, stride, i, g, m, count, z, h, wide);
        for (ptrdiff_t w = wide; w < columns; w += wide)
            product_of_rows(P, stride, i, g, m, 0, z + w * stride, h + w * stride, wide);
    }
}
LANES void NAME(settle_and_multiply)(double *P, ptrdiff_t stride, ptrdiff_t n, const double *g,
                                     const double *m, ptrdiff_t count, const double *z, double *h,
                                     int columns)
{
    if (columns > 1 && count == 8) product(P, stride, n, g, m, 8, z, h, columns, WIDE);
    else if (columns > 1) product(P, stride, n, g, m, count, z, h, columns, WIDE);
    else if (count == 8) product(P, stride, n, g, m, 8, z, h, 1, 1);
    else if (count == 0) product(P, stride, n, g, m, 0, z, h, 1, 1);
    else product(P, stride, n, g, m, count, z, h, 1, 1);
}

/* Rotate the symmetric P from both sides as `rotate_out` rotates the rows of U', in one pass, and
 * drop the last coordinate. Columns are rotated first, for eight rows at a time, each in its own
 * register; then rows, with the dropped one in `carry`. */
#define TURN_ALONG(r, b)                                                                       \
    double *at = P + (top + (r)) * stride + (b), p = turned[r], q = at[1];                     \
    at[0] = cosines[b] * p - sines[b] * q, turned[r] = sines[b] * p + cosines[b] * q
LANES void NAME(rotate_out_symmetric)(double *restrict P, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t j,
                          const double *restrict cosines, const double *restrict sines,
                          double *restrict carry)
{
    double own = P[j * stride + j], turned[8];
    for (ptrdiff_t k = 0; k < j; k++) carry[k] = P[j * stride + k];
    for (ptrdiff_t top = j + 1; top < n; top += 8) {
        ptrdiff_t rows = n - top < 8 ? n - top : 8;
        for (ptrdiff_t r = 0; r < rows; r++) turned[r] = P[(top + r) * stride + j];
        for (ptrdiff_t b = j; b < top - 1 && rows == 8; b++)
            for (int r = 0; r < 8; r++) { TURN_ALONG(r, b); }
        for (ptrdiff_t r = 0; r < rows; r++) {
            ptrdiff_t i = top + r - 1;
            for (ptrdiff_t b = rows == 8 ? top - 1 : j; b < i; b++) { TURN_ALONG(r, b); }
            double *restrict row = P + i * stride, c = cosines[i], s = sines[i], x = turned[r];
            const double *restrict next = row + stride;
            EACH_NUMBER (ptrdiff_t k = 0; k < i; k++) {
                double p = carry[k], q = next[k];
                row[k] = c * p - s * q, carry[k] = s * p + c * q;
            }
            double last = next[i + 1], out = c * own - s * x, across = c * x - s * last;
            row[i] = c * out - s * across, carry[i] = s * out + c * across;
            own = s * (s * own + c * x) + c * (s * x + c * last);
        }
    }
    for (ptrdiff_t i = j; i < n - 1; i++)
        for (ptrdiff_t k = i & ~(ptrdiff_t)7; k < i; k++) P[k * stride + i] = P[i * stride + k];
}
