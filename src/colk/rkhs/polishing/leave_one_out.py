"""Choice of λ by leave-one-out predictions in closed form.

At a minimum of Σ_j ℓ_j + λ/2‖v‖² with slopes s and curvatures b in the predictions, one step of
Newton's method without sample i predicts it by f_i + s_i h_i/(1 − b_i h_i), where h_i = z_iᵀ(λI + Σ
b z zᵀ)⁻¹z_i is its leverage. This is exact for the squared loss. Couplings of samples or outputs
are ignored, and kinks are smoothed.
"""

from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.rkhs.polishing.newton_solver import Point, descend
from colk.rkhs.polishing.smoothing import RoundedTerms, Terms
from colk.rkhs.polishing.span import Solver, Span

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


def leave_one_out(point: Point, terms: RoundedTerms) -> Array:
    """Return leave-one-out predictions (n, q) at a minimum.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> span = Span(Linear(), np.ones((3, 1)), np.ones((1, 1)))  # f is a constant: the mean
    >>> terms = Terms(Squared(), Mean(), np.array([0.0, 3.0, 6.0]), np.full(3, 1 / 3), 1)
    >>> rounded = RoundedTerms(terms, 1.0, 1.0)
    >>> point = Point(span, 1e-12, np.zeros((1, 1)))
    >>> _ = descend(point, rounded, 1e-9, 5)
    >>> leave_one_out(point, rounded)[:, 0].round(6)
    array([4.5, 3. , 1.5])
    """
    slopes, curvature = terms.slopes(point.F), terms.curvature(point.F, shared=False)
    point.factor = point.span.solver(curvature, point.decay)  # reused by the next search
    leverage = point.span.leverages(point.factor)
    return np.asarray(point.F + slopes * leverage / np.maximum(1.0 - curvature * leverage, 1e-2))


def left_out_and_kept(
    span: Span, terms: Terms, regularization: float, start: Array
) -> tuple[Array, Array]:
    """Return leave-one-out and full predictions (n, q) from a minimum, with smoothed kinks."""
    point = Point(span, regularization, start)
    rounded = RoundedTerms(terms, *terms.unit(point.F))
    reference = float(np.linalg.norm(Point(span, 0.0, 0.0 * start).gradient(rounded))) or 1.0
    descend(point, rounded, _ACCURACY * reference, _NEWTON_STEPS)
    return leave_one_out(point, rounded), point.F


def choose_regularization(span: Span, terms: Terms, least: float, start: Array) -> Choice:
    """Return the λ of at least `least` with the least leave-one-out risk.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Squared
    >>> from colk.risks import Mean
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.uniform(size=(200, 1)), rng.normal(size=200)
    >>> span = Span(Gaussian(0.05), X, X[:50])
    >>> def chosen(y):
    ...     terms = Terms(Squared(), Mean(), y, np.full(200, 1 / 200), 1)
    ...     return choose_regularization(span, terms, 0.0, np.zeros((span.rank, 1)))
    >>> chosen(noise).regularization > chosen(np.sin(40 * X[:, 0])).regularization
    True
    """
    point = Point(span, 1.0, start)
    rounded = RoundedTerms(terms, *terms.unit(point.F))
    origin = Point(span, 1.0, np.zeros_like(start))
    total = float(np.sum(rounded.curvature(origin.F, shared=False))) / start.shape[1]
    one = float(np.sum(terms.share**2)) * (total or 1.0) * span.size  # weight of one sample
    reference = float(np.linalg.norm(origin.gradient(rounded))) or 1.0
    decays = list(dict.fromkeys(max(least, strength * one) for strength in _STRENGTHS))
    tried: dict[float, float] = {}
    best: Choice | None = None
    first = min(_FIRST, len(decays) - 1)
    # Try smaller λ as long as they are better, then larger ones.
    for way in (decays[first:], decays[first - 1 :: -1] if first else []):
        for decay in way:
            point.regularize(decay)
            descend(point, rounded, _ROUGH_ACCURACY * reference, _NEWTON_STEPS)
            left_out = leave_one_out(point, rounded)
            tried[decay] = terms.value(left_out)
            if not tried[decay] <= min(tried.values()):
                break
            best = Choice(decay, point.v, point.factor, ())
        if best is not None and best.regularization < decays[first]:
            break
    if best is None:
        raise ValueError("no candidate for the regularisation has a finite risk; scale the data")
    return Choice(best.regularization, best.coordinates, best.factor, tuple(tried.items()))
