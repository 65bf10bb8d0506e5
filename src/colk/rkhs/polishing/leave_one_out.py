"""Choice of λ by leave-one-out predictions in closed form.

At a minimum of Σ_j ℓ_j + λ/2‖v‖² with slopes s and curvatures b in the predictions, one step of
Newton's method without sample i predicts it by f_i + s_i h_i/(1 − b_i h_i), where h_i = z_iᵀ(λI + Σ
b z zᵀ)⁻¹z_i is its leverage. This is exact for the squared loss. Couplings of samples or outputs
are ignored, and kinks are smoothed.
"""

from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.span import Solver

__all__ = ["Choice", "choose_regularization", "leave_one_out"]

# λ in units of one sample of mean curvature and size, from large to small, and the first index.
_STRENGTHS = (8.0, 2.0, 0.5, 0.12, 0.03, 0.008)
_FIRST = 3
_NEWTON_STEPS = 25
_ACCURACY = 1e-3
# Accuracy at which candidates are compared.
_ROUGH_ACCURACY = 3e-3


@dataclass(frozen=True)
class Choice:
    """The λ with the least leave-one-out risk.

    Attributes
    ----------
    regularization : float
        λ.
    coordinates : array of shape (rank, q)
        The minimiser for this λ, with smoothed kinks.
    factor : Solver
        Factor of the second derivative there.
    candidates : tuple of (float, float)
        Each λ that was tried, and its leave-one-out risk.
    """

    regularization: float
    coordinates: Array
    factor: Solver | None
    candidates: tuple[tuple[float, float], ...]


def leave_one_out(search: Search, v: Array) -> Array:
    """Return leave-one-out predictions (n, q) at a minimum; all rows are in memory.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.rkhs.polishing.span import Span
    >>> span = Span(Linear(), np.ones((3, 1)), np.ones((1, 1)))  # f is a constant: the mean
    >>> rows = HeldBlock(span, np.array([0.0, 3.0, 6.0]), np.full(3, 1 / 3))
    >>> search = Search.held(rows, Squared(), Mean(), 1e-12, n_outputs=1)
    >>> v, *_ = search.descend(np.zeros((1, 1)), 1e-9, 5)
    >>> leave_one_out(search, v)[:, 0].round(6)
    array([4.5, 3. , 1.5])
    """
    F, slopes, curvature = search.rows_at(v)
    # The next search uses this factor.
    search.factor = search.span.solver(curvature, search.decay)
    leverage = search.span.leverages(search.factor)
    return np.asarray(F + slopes * leverage / np.maximum(1.0 - curvature * leverage, 1e-2))


def left_out_and_kept(
    rows: HeldBlock, loss: Loss, regularization: float, start: Array
) -> tuple[Array, Array]:
    """Return leave-one-out and full predictions (n, q) from a minimum of the mean loss."""
    search = Search.held(rows, loss, Mean(), regularization, start.shape[1])
    search.smooth(*search.units(start))
    v, *_ = search.descend(start, _ACCURACY * search.reference(start), _NEWTON_STEPS)
    return leave_one_out(search, v), search.rows_at(v)[0]


def choose_regularization(
    rows: HeldBlock, loss: Loss, risk: Risk, least: float, start: Array
) -> Choice:
    """Return the λ of at least `least` with the least leave-one-out risk.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.rkhs.polishing.span import Span
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.uniform(size=(200, 1)), rng.normal(size=200)
    >>> span = Span(Gaussian(0.05), X, X[:50])
    >>> def chosen(y):
    ...     rows, start = HeldBlock(span, y, np.full(200, 1 / 200)), np.zeros((span.rank, 1))
    ...     return choose_regularization(rows, Squared(), Mean(), 0.0, start)
    >>> chosen(noise).regularization > chosen(np.sin(40 * X[:, 0])).regularization
    True
    """
    search = Search.held(rows, loss, risk, 1.0, start.shape[1])
    search.smooth(*search.units(start))
    total = float(np.sum(search.rows_at(0.0 * start)[2])) / start.shape[1]
    one = float(np.sum(rows.share**2)) * (total or 1.0) * rows.span.size  # weight of one sample
    reference = search.reference(start)
    decays = list(dict.fromkeys(max(least, strength * one) for strength in _STRENGTHS))
    tried: dict[float, float] = {}
    best: Choice | None = None
    first, v = min(_FIRST, len(decays) - 1), start
    # Try smaller λ as long as they are better, then larger ones.
    for way in (decays[first:], decays[first - 1 :: -1] if first else []):
        for decay in way:
            search.regularize(decay)
            v, *_ = search.descend(v, _ROUGH_ACCURACY * reference, _NEWTON_STEPS)
            left_out = leave_one_out(search, v)
            tried[decay] = search.risk_of(left_out)
            if not tried[decay] <= min(tried.values()):
                break
            best = Choice(decay, v, search.factor, ())
        if best is not None and best.regularization < decays[first]:
            break
    if best is None:
        raise ValueError("no candidate for the regularisation has a finite risk; scale the data")
    return Choice(best.regularization, best.coordinates, best.factor, tuple(tried.items()))
