"""Loss and risk over a sample with smoothed kinks: values, slopes and curvature.

A loss with kinks is a smooth loss plus positive parts at known points, ℓ(f) = s(f) + Σ_k j_k (f −
t_k)₊. The loss lists its kinks; the jumps j_k follow from its slopes on both sides. Smoothed over a
width h, the positive part u₊ becomes (u + h)²/(4h) for |u| < h. It is too large by at most h/4,
which bounds the smoothing error of the objective.
"""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.losses import Loss, Quantiles, Softmax
from colk.risks import LossRisk, Mean, Risk
from colk.rkhs.polishing.risk_curvature import RiskCurvature, curvature_of, has_kink, softened

__all__ = ["RoundedTerms", "Terms"]

# Relative steps of finite differences.
_STEP = 1e-5
# Distance from a kink at which the slopes on both sides are evaluated.
_ASIDE = 1e-7


class Terms:
    """A risk of a loss on one sample, as a function of the predictions F of shape (n, q).

    Parameters
    ----------
    loss : Loss
        The loss.
    risk : Risk
        The risk.
    y : array of shape (n,) or (n, r)
        Targets.
    share : array of shape (n,)
        Weights of the samples, which sum to 1.
    n_outputs : int
        q.
    """

    def __init__(self, loss: Loss, risk: Risk, y: Array, share: Array, n_outputs: int) -> None:
        self.loss, self.risk, self.share, self.n_outputs = loss, risk, share, n_outputs
        composed = not isinstance(risk, LossRisk)
        self.Y = y if composed else loss.check_targets(y, n_outputs, len(share))
        self.kinks, self.jumps = [], []
        if loss.kinks and not composed:
            places = [self._place(kink) for kink in sorted(set(np.add(loss.kinks, 0.0)))]
            self.kinks = list(np.sort(places, axis=0))  # a label of −1 reverses the order
            self.jumps = [self._jump(kink) for kink in self.kinks]

    def _place(self, kink: float) -> Array:
        """Return the predictions at a kink, which is a residual or a margin."""
        place = self.Y * kink if self.loss.kind == "binary" else self.Y + kink
        return np.ascontiguousarray(np.broadcast_to(place, (len(place), self.n_outputs)))

    def _jump(self, place: Array) -> Array:
        aside = _ASIDE * (1.0 + np.abs(place))
        above, below = (self.loss.slope(place + side, self.Y) for side in (aside, -aside))
        return np.asarray(above - below)

    @property
    def is_kinked(self) -> bool:
        """Whether the loss or the risk has a kink."""
        return bool(self.kinks) or not self.risk.is_smooth

    @property
    def is_convex(self) -> bool:
        """Whether the objective is convex in the predictions."""
        if not isinstance(self.risk, LossRisk):
            return bool(self.risk.is_convex)
        return bool(self.loss.is_convex and self.risk.is_convex and self.risk.is_monotone)

    @property
    def is_separable(self) -> bool:
        """Whether the objective is a sum over samples and outputs."""
        return self.is_sum and not (self.couples_outputs and self.n_outputs > 1)

    @property
    def is_sum(self) -> bool:
        """Whether the objective is a sum over samples."""
        return isinstance(self.risk, LossRisk) and self.risk.n_inner == 0

    @property
    def couples_outputs(self) -> bool:
        """Whether the loss is not a sum over the outputs."""
        return self.loss.couples_outputs and not isinstance(self.loss, Quantiles)

    @property
    def is_piecewise_linear(self) -> bool:
        """Whether the objective is a sum of lines and positive parts."""
        if not self.kinks or not self.is_separable or not self.loss.is_convex:
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
        """Return losses (n,) and their slopes (n, q)."""
        values, slopes = np.empty(len(F)), np.empty_like(F)
        self.loss.evaluate_rows(F, self.Y, values, slopes)
        return values, slopes

    def value(self, F: Array) -> float:
        """Return the exact risk."""
        if type(self.risk) is Mean:
            return float(self.share @ self.evaluate(F)[0])
        return self.risk.value_at(self.loss, F, self.Y, self.share)

    def unit(self, F: Array) -> tuple[float, float]:
        """Return the first smoothing widths, of predictions and of losses."""
        if not isinstance(self.risk, LossRisk):
            return 1.0, 1.0
        losses = self.loss.value(F, self.Y)
        level = float(self.share @ np.abs(losses))
        spread = float(self.share @ np.abs(losses - self.share @ losses))
        steepness = float(sum(self.share @ jump.sum(axis=1) for jump in self.jumps))
        width = level / steepness if steepness > 0.0 else 0.0
        return width or 1.0, max(spread, 0.1 * level) or 1.0


class RoundedTerms:
    """The objective with smoothed kinks: of the loss over `width`, of the risk over `softness`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.losses import Hinge
    >>> from colk.risks import Mean
    >>> terms = Terms(Hinge(), Mean(), np.ones(2), np.full(2, 0.5), 1)
    >>> rounded = RoundedTerms(terms, width=0.5, softness=0.0)
    >>> F = np.array([[0.0], [1.0]])  # the second sample sits on the kink
    >>> terms.value(F), rounded.value(F)
    (0.5, 0.5625)
    >>> rounded.slopes(F)[:, 0], rounded.lower_bound(F)
    (array([-0.5 , -0.25]), 0.4375)
    """

    def __init__(self, terms: Terms, width: float, softness: float) -> None:
        self.terms, self.width = terms, width
        self.risk = softened(terms.risk, softness)
        self._seen: tuple[Array, Array, Array] | None = None
        self._weighed: tuple[Array, Array, float, Array] | None = None
        self._curved: tuple[Array, RiskCurvature] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether nothing is smoothed."""
        return not self.terms.is_kinked and self.risk == self.terms.risk

    def _evaluated(self, F: Array) -> tuple[Array, Array]:
        """Return unsmoothed losses (n,) and slopes (n, q); those of the last F are cached."""
        if self._seen is None or self._seen[0] is not F:
            self._seen = F, *self.terms.evaluate(F)
        return self._seen[1:]

    def losses(self, F: Array) -> Array:
        """Return losses of the samples, of shape (n,)."""
        terms = self.terms
        values = self._evaluated(F)[0]
        for place, jump in zip(terms.kinks, terms.jumps, strict=True):
            u = np.minimum(np.abs(F - place), self.width)
            values = values + (jump * (self.width - u) ** 2).sum(axis=1) / (4.0 * self.width)
        return values

    def loss_slopes(self, F: Array) -> Array:
        """Return slopes of the losses, of shape (n, q)."""
        terms = self.terms
        if not terms.kinks:
            return self._evaluated(F)[1]
        aside = F  # at a kink the slope on its right is used
        for place in terms.kinks:
            aside = np.where(
                place == F, F + _ASIDE * (1.0 + np.abs(F)) * min(self.width, 1.0), aside
            )
        slopes = terms.loss.slope(aside, terms.Y)
        for place, jump in zip(terms.kinks, terms.jumps, strict=True):
            u = np.clip((F - place) / self.width, -1.0, 1.0)
            slopes = slopes + jump * (0.5 * (u + 1.0) - (place <= F))
        return slopes

    def _of_losses(self, F: Array) -> tuple[Array, float, Array]:
        """Return losses, their risk and its gradient in them; those of the last F are cached."""
        risk, share = self.risk, self.terms.share
        if self._weighed is None or self._weighed[0] is not F:
            losses = self.losses(F)
            if not isinstance(risk, LossRisk):
                raise TypeError(f"{type(risk).__name__} is not a risk of a loss")
            if type(risk) is Mean:
                self._weighed = F, losses, float(share @ losses), share
            else:
                self._weighed = F, losses, *risk.value_and_gradient(losses, share)
        return self._weighed[1:]

    def value(self, F: Array) -> float:
        """Return the smoothed risk."""
        if isinstance(self.risk, LossRisk):
            return self._of_losses(F)[1]
        return self.terms.value(F)

    def lower_bound(self, F: Array) -> float:
        """Return a lower bound on the exact risk of other predictions, to first order around F.

        The gradient of a smoothed CVaR, or mean semideviation of order 1, in the losses is a
        probability that the exact risk admits, so Σ q_i ℓ_i bounds the exact risk from below. A
        smoothed loss is too large by at most its jumps times a quarter of the width. The result is
        −∞ if no bound is known.
        """
        if not isinstance(self.risk, LossRisk) or (
            self.terms.is_kinked and not has_kink(self.risk) and self.risk.n_inner > 0
        ):
            return -np.inf if self.terms.is_kinked else self.value(F)
        losses, value, by_loss = self._of_losses(F)
        if not self.terms.risk.is_smooth:
            value = float(by_loss @ losses)
        jumps = sum((jump.sum(axis=1) for jump in self.terms.jumps), np.zeros(len(F)))
        return value - float(by_loss @ jumps) * self.width / 4.0

    def slopes(self, F: Array) -> Array:
        """Return the gradient in the predictions, of shape (n, q)."""
        terms = self.terms
        if isinstance(self.risk, LossRisk):
            return self._of_losses(F)[2][:, None] * self.loss_slopes(F)
        return self.risk.gradient_at(terms.loss, F, terms.Y, terms.share).reshape(F.shape)

    def step_of(self, F: Array) -> float:
        """Return a step of the predictions for finite differences."""
        size = float(np.sqrt(np.mean(F * F))) + 1.0
        return _STEP * (min(self.width, size) if self.terms.kinks else size)

    def curvature_product(self, F: Array, change: Array) -> Array:
        """Return the second derivative times a change of the predictions.

        For softmax it is exact; otherwise it is a difference of gradients.
        """
        if isinstance(self.terms.loss, Softmax) and type(self.risk) is Mean:
            p = self.loss_slopes(F).copy()
            p[np.arange(len(F)), self.terms.Y[:, 0].astype(np.intp)] += 1.0
            weighted = p * change
            product = weighted - p * weighted.sum(axis=1, keepdims=True)
            return np.asarray(self.terms.share[:, None] * product)
        largest = float(np.abs(change).max())
        if largest == 0.0:
            return change
        h = 10.0 * self.step_of(F) / largest
        if has_kink(self.risk):
            moved = float(np.abs((self.loss_slopes(F) * change).sum(axis=1)).max())
            h = min(h, 1e-3 * self.risk.smoothing / max(moved, 1e-300))
        difference = self.slopes(F + h * change) - self.slopes(F - h * change)
        return np.asarray(difference / (2.0 * h))

    def curvature(self, F: Array, shared: bool = True) -> Array:
        """Return a nonnegative diagonal of the second derivative in the predictions, (n, q).

        It is exact if the objective is a sum over samples and outputs. Otherwise it ignores the
        coupling: outer' · ℓ'' + outer'' · ℓ'² with constant g. If the loss couples its outputs,
        `shared` uses the largest entry for all outputs.
        """
        if not isinstance(self.risk, LossRisk):
            known = self._second_derivative(F)
            if known is not None:
                return known[0][:, None]
            step = self.step_of(F)
            curved = (self.slopes(F + step) - self.slopes(F - step)) / (2.0 * step)
            return np.asarray(np.abs(curved))
        by_loss = self._of_losses(F)[2]
        curved = np.maximum(by_loss, 0.0)[:, None] * np.maximum(self.loss_curvature(F, shared), 0.0)
        if self.risk.n_inner > 0:
            outer = self._risk_curvature(self.risk, F).diagonal
            curved = curved + outer[:, None] * self.loss_slopes(F) ** 2
        return np.asarray(curved)

    def _second_derivative(self, F: Array) -> tuple[Array, Array, Array] | None:
        """Return the second derivative of a risk of predictions, or None if it is not known."""
        terms = self.terms
        return self.risk.second_derivative_at(terms.loss, F, terms.Y, terms.share)

    def _risk_curvature(self, risk: LossRisk, F: Array) -> RiskCurvature:
        """Return the second derivative of the risk in the losses; that of the last F is cached."""
        if self._curved is None or self._curved[0] is not F:
            self._curved = F, curvature_of(risk, self._of_losses(F)[0], self.terms.share)
        return self._curved[1]

    def coupling(self, F: Array) -> tuple[Array, Array] | None:
        """Return the coupling that `curvature` ignores, V diag(c) Vᵀ, as V (n, k) and c (k,).

        The result is None if the coupling is not of low rank: for several outputs, and for risks
        that `risk_curvature` does not know.
        """
        if F.shape[1] > 1:
            return None
        if not isinstance(self.risk, LossRisk):
            known = self._second_derivative(F)
            return None if known is None else known[1:]
        found = self._risk_curvature(self.risk, F)
        if found.vectors is None:
            return None
        return found.vectors * self.loss_slopes(F), found.coefficients

    def loss_curvature(self, F: Array, shared: bool = True) -> Array:
        """Return second derivatives of the losses, (n, q); see `curvature` for `shared`."""
        if isinstance(self.terms.loss, Softmax):
            size = np.abs(self.loss_slopes(F))  # p, or 1 − p at the label
            curved = size * (1.0 - size)
            return np.broadcast_to(curved.max(axis=1, keepdims=True), F.shape) if shared else curved
        step = self.step_of(F)
        if not self.terms.couples_outputs:
            return self._slope_change(F, step) / step
        curved = np.empty_like(F)
        for c in range(F.shape[1]):
            curved[:, c] = self._slope_change(F, step * (np.arange(F.shape[1]) == c))[:, c] / step
        return np.broadcast_to(curved.max(axis=1, keepdims=True), F.shape) if shared else curved

    def _slope_change(self, F: Array, move: Any) -> Array:
        """Return the change of slopes after a move; with kinks, half of a central difference."""
        if not self.terms.kinks:
            return np.asarray(self.terms.evaluate(F + move)[1] - self.loss_slopes(F))
        return 0.5 * np.asarray(self.loss_slopes(F + move) - self.loss_slopes(F - move))
