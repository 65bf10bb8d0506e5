"""The losses of some rows, with smoothed kinks: values, slopes and curvature.

A loss with kinks is a smooth loss plus positive parts at known points, ℓ(f) = s(f) + Σ_k j_k (f −
t_k)₊. The loss lists its kinks; the jumps j_k follow from its slopes on both sides. Smoothed over a
width h, the positive part u₊ becomes (u + h)²/(4h) for |u| < h. It is too large by at most h/4,
which bounds the smoothing error of the objective.
"""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.losses import Loss, Quantiles, Softmax

__all__ = ["RowLosses", "couples_outputs"]

# Relative steps of finite differences.
_STEP = 1e-5
# Distance from a kink at which the slopes on both sides are evaluated.
_ASIDE = 1e-7


def couples_outputs(loss: Loss, n_outputs: int) -> bool:
    """Return whether the loss of a row is not a sum over its outputs."""
    return bool(n_outputs > 1 and loss.couples_outputs and not isinstance(loss, Quantiles))


class RowLosses:
    """The losses of some rows, as functions of their predictions F of shape (n, q).

    Parameters
    ----------
    loss : Loss
        The loss.
    y : array of shape (n,) or (n, r)
        Targets.
    n_outputs : int
        q.
    width : float
        Width over which kinks are smoothed. Default: 0, no smoothing.

    Examples
    --------
    >>> from colk.losses import Hinge
    >>> F = np.array([[0.0], [1.0]])  # the second row sits on the kink
    >>> losses = RowLosses(Hinge(), np.ones(2), 1)
    >>> losses.values(F), losses.smoothed(0.5).values(F)
    (array([1., 0.]), array([1.   , 0.125]))
    >>> losses.smoothed(0.5).slopes(F)[:, 0]
    array([-1. , -0.5])
    """

    def __init__(self, loss: Loss, y: Array, n_outputs: int, width: float = 0.0) -> None:
        self.loss, self.n_outputs, self.width = loss, n_outputs, width
        self.Y = loss.check_targets(y, n_outputs, len(y))
        self.kinks: list[Array] = []
        self.jumps: list[Array] = []
        if loss.kinks:
            places = [self._place(kink) for kink in sorted(set(np.add(loss.kinks, 0.0)))]
            self.kinks = list(np.sort(places, axis=0))  # a label of −1 reverses the order
            self.jumps = [self._jump(kink) for kink in self.kinks]

    def smoothed(self, width: float) -> "RowLosses":
        """Return the losses with another width."""
        if width == self.width:
            return self
        other = object.__new__(RowLosses)
        other.__dict__ = {**self.__dict__, "width": width}
        return other

    def _place(self, kink: float) -> Array:
        """Return the predictions at a kink, which is a residual or a margin."""
        place = self.Y * kink if self.loss.kind == "binary" else self.Y + kink
        return np.ascontiguousarray(np.broadcast_to(place, (len(place), self.n_outputs)))

    def _jump(self, place: Array) -> Array:
        aside = _ASIDE * (1.0 + np.abs(place))
        above, below = (self.loss.slope(place + side, self.Y) for side in (aside, -aside))
        return np.asarray(above - below)

    @property
    def steepness(self) -> Array:
        """Sum of the jumps of each row, of shape (n,)."""
        return sum((jump.sum(axis=1) for jump in self.jumps), np.zeros(len(self.Y)))

    @property
    def is_piecewise_linear(self) -> bool:
        """Whether the losses are sums of lines and positive parts."""
        if not self.kinks or not self.loss.is_convex or couples_outputs(self.loss, self.n_outputs):
            return False
        slopes = self.left_slopes()
        edges = [self.kinks[0] - 2.0, *self.kinks, self.kinks[-1] + 2.0]
        for k, jump in enumerate([np.zeros(1), *self.jumps]):
            slopes = slopes + jump
            for share in (0.25, 0.75):
                between = (1.0 - share) * edges[k] + share * edges[k + 1]
                if not np.allclose(self.loss.slope(between, self.Y), slopes, atol=1e-6):
                    return False
        return True

    def left_slopes(self) -> Array:
        """Return slopes of the loss below its kinks, of shape (n, q)."""
        lowest = np.min(self.kinks, axis=0)
        return self.loss.slope(lowest - _ASIDE * (1.0 + np.abs(lowest)), self.Y)

    def evaluate(self, F: Array) -> tuple[Array, Array]:
        """Return values (n,) and slopes (n, q)."""
        if self.width and self.kinks:
            return self.values(F), self.slopes(F)
        values, slopes = np.empty(len(F)), np.empty_like(F)
        self.loss.evaluate_rows(F, self.Y, values, slopes)
        return values, slopes

    def values(self, F: Array) -> Array:
        """Return losses of shape (n,)."""
        exact, slopes = np.empty(len(F)), np.empty_like(F)
        self.loss.evaluate_rows(F, self.Y, exact, slopes)
        for place, jump in zip(self.kinks, self.jumps, strict=True) if self.width else ():
            u = np.minimum(np.abs(F - place), self.width)
            exact = exact + (jump * (self.width - u) ** 2).sum(axis=1) / (4.0 * self.width)
        return exact

    def slopes(self, F: Array) -> Array:
        """Return slopes of shape (n, q)."""
        if not self.kinks or not self.width:
            return self.evaluate(F)[1]
        aside = F  # at a kink the slope on its right is used
        for place in self.kinks:
            aside = np.where(
                place == F, F + _ASIDE * (1.0 + np.abs(F)) * min(self.width, 1.0), aside
            )
        slopes = self.loss.slope(aside, self.Y)
        for place, jump in zip(self.kinks, self.jumps, strict=True):
            u = np.clip((F - place) / self.width, -1.0, 1.0)
            slopes = slopes + jump * (0.5 * (u + 1.0) - (place <= F))
        return slopes

    def _step_of(self, F: Array) -> Array:
        """Return a step of each prediction for finite differences; it depends on no other row."""
        size = np.abs(F) + 1.0
        return _STEP * (np.minimum(self.width, size) if self.kinks else size)

    def curvature(self, F: Array, slopes: Array, shared: bool = True) -> Array:
        """Return second derivatives (n, q), at least 0.

        If the loss couples its outputs, `shared` uses the largest entry for all outputs.
        """
        if isinstance(self.loss, Softmax):
            size = np.abs(slopes)  # p, or 1 − p at the label
            return self._shared(size * (1.0 - size), shared)
        step = self._step_of(F)
        if not couples_outputs(self.loss, self.n_outputs):
            return np.maximum(self._slope_change(F, slopes, step) / step, 0.0)
        curved = np.empty_like(F)
        for c in range(F.shape[1]):
            move = step * (np.arange(F.shape[1]) == c)
            curved[:, c] = self._slope_change(F, slopes, move)[:, c] / step[:, c]
        return self._shared(np.maximum(curved, 0.0), shared)

    @staticmethod
    def _shared(curved: Array, shared: bool) -> Array:
        if not shared:
            return curved
        return np.broadcast_to(curved.max(axis=1, keepdims=True), curved.shape)

    def product(self, F: Array, slopes: Array, change: Array) -> Array:
        """Return the second derivative of each row times a change (n, q) of the predictions."""
        if isinstance(self.loss, Softmax):
            p = slopes.copy()
            p[np.arange(len(F)), self.Y[:, 0].astype(np.intp)] += 1.0
            weighted = p * change
            return np.asarray(weighted - p * weighted.sum(axis=1, keepdims=True))
        if not couples_outputs(self.loss, self.n_outputs):
            return self.curvature(F, slopes) * change
        largest = np.abs(change).max(axis=1, keepdims=True)
        step = self._step_of(F).min(axis=1, keepdims=True)
        h = 10.0 * step / np.where(largest > 0.0, largest, 1.0)
        return np.asarray((self.slopes(F + h * change) - self.slopes(F - h * change)) / (2.0 * h))

    def _slope_change(self, F: Array, slopes: Array, move: Any) -> Array:
        """Return the change of slopes after a move; with kinks, half of a central difference."""
        if not self.kinks:
            return np.asarray(self.evaluate(F + move)[1] - slopes)
        return 0.5 * np.asarray(self.slopes(F + move) - self.slopes(F - move))
