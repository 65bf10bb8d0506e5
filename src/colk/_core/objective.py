"""What a step asks of the objective: g, the coefficients of both samples, the value.

`loss` and `risk` are programs; f and y are one prediction (q,) and one target (r,). A risk of the
kind COMPOSITION acts on predictions and targets themselves, in the paper's general form: inner
h(f, y) ∈ R^m, outer ℓ(f, y, g); its loss program is not read. Its program holds, after the code
and m, the addresses of inner, its slope, outer and its slopes in f and in g.

`work` is scratch of at least m·(q + 1) entries; risks of a loss leave it alone, and it may be
empty for them.
"""

# NumPy's and the compiler's functions of one number are `Any` to a type checker.
# mypy: disable-error-code="no-any-return, call-arg"

from colk._core.jit import call_vectors, inner, piece, shared, stepper
from colk._core.losses import loss_slope, loss_value
from colk._core.risks import COMPOSITION, outer_slopes, outer_value
from colk._core.trackers import start, track
from colk._validation import Array

__all__ = ["composition_rows", "gradient", "inner_track", "sample_loss", "sample_value"]

# Where a composition's program keeps the address of each function.
INNER = 2
INNER_SLOPE = 3
OUTER = 4
OUTER_SLOPE_PREDICTION = 5
OUTER_SLOPE_INNER = 6


@piece
def _call(risk: Array, which: int, f: Array, y: Array, g: Array, out: Array) -> float:
    return call_vectors(
        int(risk[which]),
        int(f.ctypes.data),
        int(y.ctypes.data),
        int(g.ctypes.data),
        int(out.ctypes.data),
    )


@inner
def _composition_track(
    risk: Array,
    g: Array,
    f_previous: Array,
    f_xi: Array,
    y_xi: Array,
    rate: float,
    momentum: bool,
    work: Array,
) -> None:
    m = int(risk[1])
    if momentum:
        _call(risk, INNER, f_previous, y_xi, g, work)
        for i in range(m):
            g[i] = (1.0 - rate) * (g[i] - work[i])
    _call(risk, INNER, f_xi, y_xi, g, work)
    for i in range(m):
        g[i] = g[i] + work[i] if momentum else (1.0 - rate) * g[i] + rate * work[i]


@shared
def inner_track(
    loss: Array,
    risk: Array,
    g: Array,
    f_previous: Array,
    f_xi: Array,
    y_xi: Array,
    rate: float,
    momentum: bool,
    first: bool,
    work: Array,
) -> None:
    """Update g in place by the sample ξ, or start it where `first`.

    `f_previous` is the previous function's prediction of the same ξ; only momentum reads it.
    """
    if int(risk[1]) == 0:
        return
    if int(risk[0]) == COMPOSITION:
        if first or rate >= 1.0:
            _call(risk, INNER, f_xi, y_xi, g, g)
        else:
            _composition_track(risk, g, f_previous, f_xi, y_xi, rate, momentum, work)
    elif first:
        start(risk, g, loss_value(loss, f_xi, y_xi))
    else:
        previous = loss_value(loss, f_previous, y_xi) if momentum else 0.0
        track(risk, g, previous, loss_value(loss, f_xi, y_xi), rate, momentum)


@inner
def _composition_gradient(
    risk: Array,
    g: Array,
    f_theta: Array,
    y_theta: Array,
    f_xi: Array,
    y_xi: Array,
    c_theta: Array,
    c_xi: Array,
    work: Array,
) -> None:
    m, q = int(risk[1]), f_xi.size
    by_inner, jacobian = work[:m], work[m : m + m * q]
    _call(risk, OUTER_SLOPE_PREDICTION, f_theta, y_theta, g, c_theta)
    _call(risk, OUTER_SLOPE_INNER, f_theta, y_theta, g, by_inner)
    _call(risk, INNER_SLOPE, f_xi, y_xi, g, jacobian)
    for c in range(q):
        c_xi[c] = 0.0
        for i in range(m):
            c_xi[c] += by_inner[i] * jacobian[i * q + c]


@shared
def gradient(
    loss: Array,
    risk: Array,
    g: Array,
    f_theta: Array,
    y_theta: Array,
    f_xi: Array,
    y_xi: Array,
    c_theta: Array,
    c_xi: Array,
    work: Array,
) -> None:
    """Write the coefficients of κ(x_θ, ·) and κ(x_ξ, ·) into `c_theta[:q]` and `c_xi[:q]`.

    c_θ = ∂outer/∂ℓ · ℓ'(f_θ, y_θ) and c_ξ = Σ_i ∂outer/∂g_i · ∂inner_i/∂ℓ · ℓ'(f_ξ, y_ξ). Where no
    component of g is an expectation (Mean, CVaR, Entropic), c_ξ is 0.
    """
    if int(risk[0]) == COMPOSITION:
        _composition_gradient(risk, g, f_theta, y_theta, f_xi, y_xi, c_theta, c_xi, work)
        return
    loss_theta, loss_xi = 0.0, 0.0
    if int(risk[1]) > 0:
        loss_theta, loss_xi = loss_value(loss, f_theta, y_theta), loss_value(loss, f_xi, y_xi)
    by_loss, through = outer_slopes(risk, loss_theta, g, loss_xi)
    loss_slope(loss, f_theta, y_theta, c_theta)
    for c in range(f_theta.size):
        c_theta[c] *= by_loss
        c_xi[c] = 0.0
    if through != 0.0:
        loss_slope(loss, f_xi, y_xi, c_xi)
        for c in range(f_xi.size):
            c_xi[c] *= through


@shared
def sample_loss(loss: Array, f: Array, y: Array) -> float:
    """ℓ(f, y)."""
    return loss_value(loss, f, y)


@stepper
def sample_value(loss: Array, risk: Array, g: Array, f: Array, y: Array) -> float:
    """Return the outer function at one sample: its mean over the stream is the risk."""
    if int(risk[0]) == COMPOSITION:
        return _call(risk, OUTER, f, y, g, g)
    return outer_value(risk, loss_value(loss, f, y), g)


@stepper
def composition_rows(risk: Array, which: int, F: Array, Y: Array, g: Array, out: Array) -> None:
    """Tabulate one function of a composition over the rows of F (n, q) and Y (n, r)."""
    for row in range(F.shape[0]):
        value = _call(risk, which, F[row], Y[row], g, out[row])
        if which == OUTER:
            out[row, 0] = value
