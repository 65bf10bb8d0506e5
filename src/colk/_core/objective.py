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

from typing import TYPE_CHECKING

from colk._core.jit import call_at, data_of, few_turns, inner, piece, stepper
from colk._core.losses import loss_and_slope
from colk._core.risks import COMPOSITION, outer_slopes, outer_value
from colk._core.trackers import track
from colk._validation import Array

if TYPE_CHECKING:
    from colk._core.window import Learner

__all__ = ["composition_rows", "pair_slopes", "sample_value", "track_sample"]

# Where a composition's program keeps the address of each function.
INNER = 2
INNER_SLOPE = 3
OUTER = 4
OUTER_SLOPE_PREDICTION = 5
OUTER_SLOPE_INNER = 6


@piece
def _call(risk: Array, which: int, f: Array, y: Array, g: Array, out: Array) -> float:
    here, target = data_of(f), data_of(y)
    return call_at(int(risk[which]), (here, target, data_of(g), data_of(out)))


@piece
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


@inner
def track_sample(m: "Learner", xi: int, rate: float, momentum: bool, ahead: bool) -> None:
    """Update g in place by the sample at place ξ of the window; a rate of 1 starts it there.

    `previous` holds the previous function's prediction of the same ξ, for momentum; or that of a
    function ahead of f, which then takes the place of f.
    """
    few_turns()
    risk, g, y = m.risk, m.g, m.window_y[xi]
    f = m.previous[xi] if ahead else m.predictions[xi]
    if int(risk[0]) != COMPOSITION:
        loss, previous_loss = m.losses[xi], 0.0
        if momentum or ahead:
            previous_loss = loss_and_slope(m.loss, m.previous[xi], y, m.slopes[1])
        track(risk, g, previous_loss, previous_loss if ahead else loss, rate, momentum)
    elif rate >= 1.0:
        _call(risk, INNER, f, y, g, g)
    else:
        _composition_track(risk, g, m.previous[xi], f, y, rate, momentum, m.work)


@piece
def _composition_slopes(
    risk: Array,
    g: Array,
    f_theta: Array,
    y_theta: Array,
    f_xi: Array,
    y_xi: Array,
    slopes: Array,
    work: Array,
) -> None:
    m, q = int(risk[1]), f_xi.size
    by_inner, jacobian = work[:m], work[m : m + m * q]
    _call(risk, OUTER_SLOPE_PREDICTION, f_theta, y_theta, g, slopes[0])
    _call(risk, OUTER_SLOPE_INNER, f_theta, y_theta, g, by_inner)
    _call(risk, INNER_SLOPE, f_xi, y_xi, g, jacobian)
    for c in range(q):
        slopes[1, c] = 0.0
        for i in range(m):
            slopes[1, c] += by_inner[i] * jacobian[i * q + c]


@inner
def pair_slopes(m: "Learner", theta: int, xi: int) -> None:
    """Write the coefficients of κ(x_θ, ·) and κ(x_ξ, ·) into the rows of `slopes`.

    c_θ = ∂outer/∂ℓ · ℓ'(f_θ, y_θ) and c_ξ = Σ_i ∂outer/∂g_i · ∂inner_i/∂ℓ · ℓ'(f_ξ, y_ξ). Where no
    component of g is an expectation (Mean, CVaR, Entropic), c_ξ is 0.
    """
    few_turns()
    risk, f, y, slopes, by_f = m.risk, m.predictions, m.window_y, m.slopes, m.loss_slopes
    if int(risk[0]) == COMPOSITION:
        _composition_slopes(risk, m.g, f[theta], y[theta], f[xi], y[xi], slopes, m.work)
        return
    by_loss, through = outer_slopes(risk, m.losses[theta], m.g, m.losses[xi])
    for c in range(slopes.shape[1]):
        slopes[0, c] = by_loss * by_f[theta, c]
        slopes[1, c] = through * by_f[xi, c] if through != 0.0 else 0.0


@stepper
def sample_value(risk: Array, g: Array, f: Array, y: Array, loss: float) -> float:
    """Return the outer function at one sample: its mean over the stream is the risk."""
    if int(risk[0]) == COMPOSITION:
        return _call(risk, OUTER, f, y, g, g)
    return outer_value(risk, loss, g)


@stepper
def composition_rows(risk: Array, which: int, F: Array, Y: Array, g: Array, out: Array) -> None:
    """Tabulate one function of a composition over the rows of F (n, q) and Y (n, r)."""
    for row in range(F.shape[0]):
        value = _call(risk, which, F[row], Y[row], g, out[row])
        if which == OUTER:
            out[row, 0] = value
