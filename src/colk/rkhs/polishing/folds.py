"""Choice of λ by cross-validation, if there are too few samples for closed-form leave-one-out.

The closed form is one step of Newton's method. With few samples a sample at a kink of the loss
changes the function too much for one step, so each fold is predicted by a fit without it.
"""

from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.losses import Loss
from colk.risks import Mean
from colk.risks.base import shares
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing.block_sums import HeldBlock
from colk.rkhs.polishing.newton import Search
from colk.rkhs.polishing.span import Span
from colk.rkhs.polishing.stages import Solution, solve

__all__ = ["CrossPolished", "cross_polish"]

# λ in units of one sample of mean curvature and size, from large to small, and the first index.
_STRENGTHS = (512.0, 128.0, 32.0, 8.0, 2.0, 0.5, 0.12, 0.03)
_FIRST = 3
# Accuracy of the fits of the folds, and of the last one.
_ROUGH_ACCURACY = 1e-2
_ACCURACY = 1e-3
_STEPS = 100


@dataclass(frozen=True)
class CrossPolished:
    """The result of `cross_polish`.

    Attributes
    ----------
    function : KernelExpansion
        The function that minimises the objective over all samples.
    regularization : float
        The chosen λ.
    held_out : array of shape (n,)
        Predictions of each sample by a fit without its fold.
    candidates : tuple of (float, float)
        Each λ that was tried, and the mean loss of its predictions.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> f = KernelExpansion(Linear(), [[1.0]], [0.0])
    >>> CrossPolished(f, 0.1, np.zeros(2), ((0.1, 1.0),)).regularization
    0.1
    """

    function: KernelExpansion
    regularization: float
    held_out: Array
    candidates: tuple[tuple[float, float], ...]


def cross_polish(
    function: KernelExpansion,
    span: Span,
    y: Array,
    loss: Loss,
    regularization: float,
    folds: Array,
    *,
    sample_weight: Array | None = None,
) -> CrossPolished:
    """Find the weights of the atoms with the least mean loss plus λ/2 ‖f‖², and choose λ.

    The chosen λ has the least mean loss of the held-out predictions. The best constant is added to
    them before they are compared, as `COLKQuantileRegressor` does with its functions.

    Parameters
    ----------
    function : KernelExpansion
        Supplies the kernel and the atoms, with one output; its weights are not used.
    span : Span
        The same kernel and atoms, and the points.
    y : array of shape (n,)
        Targets.
    loss : Loss
        A loss of the residual y − f.
    regularization : float
        The least λ.
    folds : array of shape (n,)
        The fold of each sample; at least two different numbers.
    sample_weight : array of shape (n,), optional
        Weights of the samples, above 0.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X, folds = rng.uniform(size=(60, 1)), np.arange(60) % 5
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> f = KernelExpansion(Gaussian(0.3), X, np.zeros(60))
    >>> span = Span(f.kernel, X, f.atoms)
    >>> found = cross_polish(f, span, y, Pinball(0.5), 1e-9, folds)
    >>> bool(np.mean(np.abs(y - found.held_out)) < 0.15), found.held_out.shape
    (True, (60,))
    """
    search = _FoldSearch(span, y, loss, sample_weight, folds)
    chosen = search.walk(regularization)
    weights = (search.span.basis @ search.solution(chosen)).reshape(function.weights.shape)
    return CrossPolished(
        KernelExpansion(function.kernel, function.atoms, weights),
        chosen,
        search.predictions[chosen],
        tuple(search.losses.items()),
    )


class _FoldSearch:
    """The held-out predictions and their loss for each λ that was tried."""

    def __init__(
        self, span: Span, y: Array, loss: Loss, sample_weight: Array | None, folds: Array
    ) -> None:
        self.span, self.y, self.loss = span, y, loss
        self.share = shares(len(y), sample_weight)
        self.rows = HeldBlock(span, y, self.share)
        self.zero = np.zeros((span.rank, 1))
        self.parts = []
        for fold in np.unique(folds):
            kept, held = folds != fold, folds == fold
            part = float(self.share[kept].sum())
            rows = HeldBlock(span.part(kept), y[kept], self.share[kept] / part)
            self.parts.append((held, part, rows, span.part(held)))
        self.predictions: dict[float, Array] = {}
        self.losses: dict[float, float] = {}

    def walk(self, least: float) -> float:
        """Return the best λ: smaller ones are tried while they are better, then larger ones."""
        one = self._one_sample()
        decays = list(dict.fromkeys(max(least, strength * one) for strength in _STRENGTHS))
        first = min(_FIRST, len(decays) - 1)
        best = self._try_until_worse(decays[first:])
        if best == decays[first] and first > 0:
            self._try_until_worse(decays[first - 1 :: -1])
        return min(self.losses, key=self.losses.__getitem__)

    def _try_until_worse(self, decays: list[float]) -> float:
        for decay in decays:
            self._try(decay)
            if not self.losses[decay] <= min(self.losses.values()):
                break
        return min(self.losses, key=self.losses.__getitem__)

    def _one_sample(self) -> float:
        """Return the curvature of one sample at f = 0, the unit of λ."""
        search = Search.held(self.rows, self.loss, Mean(), 1.0, 1)
        search.smooth(*search.units(self.zero))
        total = float(search.rows_at(self.zero)[2].sum()) or 1.0
        return float(self.share @ self.share) * total * self.span.size

    def _try(self, decay: float) -> None:
        held_out = np.empty(len(self.y))
        for held, part, rows, held_span in self.parts:
            found = self._solved(rows, decay / part, _ROUGH_ACCURACY)
            held_out[held] = held_span.predict(found.coordinates)[:, 0]
        self.predictions[decay] = held_out
        self.losses[decay] = self._shifted_loss(held_out)

    def _shifted_loss(self, held_out: Array) -> float:
        """Return the mean loss after the best constant, one of the residuals, was added."""
        shifts = np.unique(self.y - held_out)
        low, high = 0, len(shifts) - 1

        def value(place: int) -> float:
            return float(self.share @ self.loss.value(held_out + shifts[place], self.y))

        while low < high:  # the loss is convex in the constant
            middle = (low + high) // 2
            if value(middle) <= value(middle + 1):
                high = middle
            else:
                low = middle + 1
        return value(low)

    def solution(self, decay: float) -> Array:
        """Return the coordinates of the minimiser over all samples."""
        return self._solved(self.rows, decay, _ACCURACY).coordinates

    def _solved(self, rows: HeldBlock, decay: float, accuracy: float) -> Solution:
        terms = self.loss, Mean(), decay, self.zero
        return solve(rows, *terms, tolerance=accuracy, max_steps=_STEPS)
