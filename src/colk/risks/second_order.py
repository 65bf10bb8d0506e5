"""The second derivative of any risk of losses, from its first derivatives.

Let a(ℓ, g) be the slope of a row, ∂outer/∂ℓ + Σ_j u_j ∂inner_j/∂ℓ with u = E ∂outer/∂g over the
components of g that are expectations. The exact g and u solve E ∂outer/∂g = u, with u = 0 for
stationary components, and E inner = g for expectations. The derivative of this system by the losses
gives

    diag(s a') − V K⁻¹ Vᵀ,   V = s (∂a/∂g, ∂inner/∂ℓ),   K = (E ∂²outer/∂g², −I; −Iᵀ, 0),

with shares s: a diagonal plus a few columns, so that a step of Newton's method costs little more
than under the mean. Derivatives of slopes are differences, which affects the length of a step and
not the minimum. For `Variance`, for example, it is diag(b) − bsᵀ − sbᵀ + (Σ b)ssᵀ with b = 2ηs.
"""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from colk._validation import Array
from colk.risks.samples import APART, Joint, LossPart, LossSample, Statistics

if TYPE_CHECKING:
    from colk.risks.of_losses import LossRisk

__all__ = ["bend_of_losses", "joint_of_losses", "joint_terms", "vectors_of_losses"]

# Relative step of differences.
_STEP = 1e-5
# The largest step as a share of the smoothing of a kink.
_OF_SMOOTHING = 0.01
# Entries below this are rounding errors of differences, in units in which g and losses are of
# order 1.
_NOISE = 1e-7


def _steps(risk: "LossRisk", found: Statistics) -> tuple[float, Array]:
    """Return the steps of differences in the loss and in g."""
    by_loss = _STEP * (found.unit or 1.0)
    by_inner = _STEP * np.where(found.sizes > 0.0, found.sizes, found.unit or 1.0)
    if risk.has_kink:
        widest = _OF_SMOOTHING * float(cast(Any, risk).smoothing)
        return min(by_loss, widest), np.minimum(by_inner, widest)
    return by_loss, by_inner


def bend_of_losses(risk: "LossRisk", found: Statistics, part: LossPart) -> Array:
    """Return the share times a' of each row, at least 0."""
    if found.mass > 0.0:
        return np.zeros(len(part.share))
    h = _steps(risk, found)[0]

    def slopes(losses: Array) -> Array:
        out = risk.outer_slope_loss(losses, found.g)
        if found.slopes.any():
            out = out + risk.inner_slope(losses, found.g) @ found.slopes
        return out

    above, below = slopes(part.losses + h), slopes(part.losses - h)
    return np.asarray(part.share * np.maximum((above - below) / (2.0 * h), 0.0))


def _by_inner(risk: "LossRisk", found: Statistics, losses: Array, i: int) -> Array:
    """Return ∂²outer/∂ℓ∂g_i of each row."""
    move = np.zeros(len(found.g))
    move[i] = _steps(risk, found)[1][i]
    above = risk.outer_slope_loss(losses, found.g + move)
    return np.asarray((above - risk.outer_slope_loss(losses, found.g - move)) / (2.0 * move[i]))


def _joint_sums(part: LossPart, risk: "LossRisk", found: Statistics) -> tuple[Array, Array]:
    """Return E |∂²outer/∂ℓ∂g| (m,), and E ∂²outer/∂g² (m, m)."""
    m, steps = len(found.g), _steps(risk, found)[1]
    mixed, second = np.empty(m), np.empty((m, m))
    for i in range(m):
        mixed[i] = np.sum(part.share * np.abs(_by_inner(risk, found, part.losses, i)))
        move = steps * (np.arange(m) == i)
        above, below = (risk.outer_slope_inner(part.losses, found.g + s) for s in (move, -move))
        second[:, i] = ((above - below).T * part.share).sum(axis=1) / (2.0 * steps[i])
    return mixed, second


def joint_of_losses(risk: "LossRisk", found: Statistics, sample: LossSample) -> Joint | None:
    """Return how rows are coupled under a risk of losses; None at a kink."""
    if found.mass > 0.0:
        return None
    if len(found.g) == 0:
        return APART
    with np.errstate(all="ignore"):  # components at the edge of their range are left out
        mixed, second = sample.total(_joint_sums, risk, found)
    return joint_terms(found, mixed, second)


def joint_terms(found: Statistics, mixed: Array, second: Array) -> Joint:
    """Return the coupling from E |∂a/∂g| (m,) and E ∂²outer/∂g² (m, m).

    With P the columns of V that are derivatives in g, N the others, and A = E ∂²outer/∂g²: for
    stationary components s it is −P A_ss⁻¹ Pᵀ, and for expectations PNᵀ + NPᵀ + NANᵀ with P and A
    reduced by the stationary ones. In the basis of the eigenvectors of A the latter is, for each
    eigenvalue σ, Σ c/(1 + c²) (P + cN)(P + cN)ᵀ over the two roots of c² = σc + 1. Unlike K⁻¹,
    these terms do not cancel if A is large.

    Examples
    --------
    >>> found = Statistics(0.0, np.ones(1), np.array([0.5]), np.ones(1))  # as for a variance
    >>> terms = joint_terms(found, np.ones(1), np.array([[2.0]]))
    >>> ((terms.mix.T * terms.coefficients) @ terms.mix).round(9) + 0.0
    array([[0., 1.],
           [1., 2.]])
    """
    unit, size = found.unit or 1.0, np.where(found.sizes > 0.0, found.sizes, found.unit or 1.0)
    is_known = np.isfinite(np.diagonal(second)) & np.isfinite(mixed)
    scaled = size[:, None] * (second + second.T) * size / (2.0 * unit)
    scaled = np.where(np.isfinite(scaled) & is_known & is_known[:, None], scaled, 0.0)
    large = np.abs(scaled).max(axis=1) + np.where(is_known, mixed, 0.0) * size
    moves = (large > _NOISE) & (found.slopes != 0.0)
    still, moving = np.flatnonzero((large > _NOISE) & ~moves), np.flatnonzero(moves)
    s, e = len(still), len(moving)
    least, eigenvectors = np.linalg.eigh(scaled[np.ix_(still, still)])
    kept = np.abs(least) > _NOISE
    directions = eigenvectors[:, kept].T  # of P_s
    across = directions @ scaled[np.ix_(still, moving)] / least[kept][:, None]
    # P of expectations, reduced by the stationary ones, in the columns (P_s, P_e, N).
    reduced = np.hstack([-across.T @ directions, np.eye(e)])
    schur = scaled[np.ix_(moving, moving)] - (across.T * least[kept]) @ across
    sigma, basis = np.linalg.eigh(schur)
    mix, coefficients = (
        [np.hstack([directions, np.zeros((len(directions), 2 * e))])],
        [-1.0 / least[kept]],
    )
    larger = np.where(sigma < 0.0, -1.0, 1.0) * (np.abs(sigma) + np.hypot(sigma, 2.0)) / 2.0
    for c in (larger, -1.0 / larger):
        mix.append(np.hstack([basis.T @ reduced, c[:, None] * basis.T]))
        coefficients.append(c / (1.0 + c * c))
    scale = np.concatenate([size[still], size[moving], unit / size[moving]])
    columns = np.concatenate([still, moving, moving])
    return Joint(columns, s + e, np.vstack(mix) * scale, np.concatenate(coefficients) / unit)


def vectors_of_losses(risk: "LossRisk", found: Statistics, joint: Joint, part: LossPart) -> Array:
    """Return V (n, k) in the losses."""
    columns = [_by_inner(risk, found, part.losses, int(i)) for i in joint.columns[: joint.n_inner]]
    moving = joint.columns[joint.n_inner :]
    out = np.empty((len(part.share), len(joint.columns)))
    for k, column in enumerate(columns):
        out[:, k] = part.share * column
    if len(moving):
        table = risk.inner_slope(part.losses, found.g)
        out[:, joint.n_inner :] = part.share[:, None] * table[:, moving]
    return out
