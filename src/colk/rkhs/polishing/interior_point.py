"""An interior-point method for piecewise linear losses: hinge, pinball, ε-insensitive.

Such a loss is a line plus positive parts, ω u₊ = max over a in [0, 1] of ω a u with u = f − t. With
slopes p − q = u, p(1 − a) = μ and qa = μ on a path to μ = 0, each step of Mehrotra's predictor and
corrector solves one system with λI + Σ_i z_i z_iᵀ Σ_k ω_ik/θ_ik, as Newton's method does. Any a in
[0, 1] gives a bound: the objective exceeds its minimum by at most Σ ω(u₊ − au) + ‖r‖²/(2λ), where r
is the gradient with a instead of the step 1{u > 0}.
"""

import numpy as np

from colk._validation import Array
from colk.rkhs.polishing.row_losses import RowLosses
from colk.rkhs.polishing.span import Span

__all__ = ["follow_path"]

# Fraction of the distance to the boundary that a step goes.
_BOLDNESS = 0.995
# Number of steps without a better bound after which rounding errors dominate.
_PATIENCE = 8


class _Path:
    """A point of the path: coordinates v, and for each kink a, p and q of shape (n, q)."""

    def __init__(self, span: Span, losses: RowLosses, share: Array, decay: float, v: Array) -> None:
        self.span, self.decay, self.v, self.F = span, decay, v, span.predict(v)
        self.places = np.stack(losses.kinks)
        self.omega = np.stack(losses.jumps) * share[:, None]
        self.line = share[:, None] * losses.left_slopes()
        u = self.F - self.places
        room = float(np.mean(np.abs(u))) or 1.0
        self.p, self.q = np.maximum(u, 0.0) + room, np.maximum(-u, 0.0) + room
        # Start at the a at which slopes vanish, if it is well inside [0, 1]; for quantiles it is τ.
        balance = -self.line / np.maximum(self.omega.sum(axis=0), 1e-300)
        inside = (balance > 1e-3) & (balance < 1.0 - 1e-3)
        self.a = np.broadcast_to(np.where(inside, balance, 0.5), u.shape)

    def gradient(self) -> Array:
        """Return r, the gradient with a instead of the step."""
        slopes = self.line + (self.omega * self.a).sum(axis=0)
        return self.span.gather(slopes) + self.decay * self.v

    def gap(self, gradient: Array) -> float:
        u = self.F - self.places
        slack = float(np.sum(self.omega * (np.maximum(u, 0.0) - self.a * u)))
        return slack + float(np.sum(gradient * gradient)) / (2.0 * self.decay)

    def complementarity(self, p: Array, q: Array, a: Array) -> float:
        return float(np.sum(self.omega * (p * (1.0 - a) + q * a)) / (2.0 * np.sum(self.omega)))

    def step(self, gradient: Array) -> None:
        """Make a step: predict with μ = 0, choose μ by its length, correct, and move."""
        p, q, a = self.p, self.q, self.a
        theta = p / (1.0 - a) + q / a
        solver = self.span.solver((self.omega / theta).sum(axis=0), self.decay)

        def direction(above: Array | float, below: Array | float) -> tuple[Array, ...]:
            rho = above / (1.0 - a) - p - below / a + q
            pull = self.span.gather((self.omega * rho / theta).sum(axis=0))
            dv = solver(pull - gradient)
            dF = self.span.predict(dv)
            da = (dF - rho) / theta
            dp = (above - p * (1.0 - a) + p * da) / (1.0 - a)
            dq = (below - q * a - q * da) / a
            return dv, dF, da, dp, dq

        _, _, da, dp, dq = direction(0.0, 0.0)
        length = self._reach(da, dp, dq)
        now = self.complementarity(p, q, a)
        then = self.complementarity(p + length * dp, q + length * dq, a + length * da)
        mu = now * max(then / now, 0.0) ** 3
        dv, dF, da, dp, dq = direction(mu + dp * da, mu - dq * da)
        length = min(1.0, _BOLDNESS * self._reach(da, dp, dq))
        self.v, self.F = self.v + length * dv, self.F + length * dF
        self.p, self.q, self.a = p + length * dp, q + length * dq, a + length * da

    def _reach(self, da: Array, dp: Array, dq: Array) -> float:
        """Return the longest step ≤ 1/0.995 after which p, q, a and 1 − a are at least 0."""
        shrinking = [(self.p, dp), (self.q, dq), (self.a, da), (1.0 - self.a, -da)]
        ratios = [float(np.max(-change / size)) for size, change in shrinking]
        return 1.0 / max(_BOLDNESS, *ratios)


def follow_path(
    span: Span,
    losses: RowLosses,
    share: Array,
    regularization: float,
    start: Array,
    *,
    tolerance: float,
    steps: int,
) -> tuple[Array, float, float, int]:
    """Return the best coordinates found, their gap, the norm of r and the number of steps.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Pinball
    >>> span = Span(Linear(), np.ones((5, 1)), np.ones((1, 1)))
    >>> losses, zero = RowLosses(Pinball(0.5), np.arange(5.0), 1), np.zeros((1, 1))
    >>> share, settings = np.full(5, 0.2), {"tolerance": 1e-8, "steps": 50}
    >>> v, gap, *_ = follow_path(span, losses, share, 1e-9, zero, **settings)
    >>> bool(abs(v[0, 0] - 2.0) < 1e-6), bool(gap < 1e-8)
    (True, True)
    """
    path = _Path(span, losses, share, regularization, start)
    best_v, best, bound, norm, stale, count = start, np.inf, -np.inf, np.inf, 0, 0
    while True:
        gradient = path.gradient()
        value = float(share @ losses.values(path.F)) + 0.5 * regularization * float(
            np.sum(path.v * path.v)
        )
        lower = value - path.gap(gradient)
        stale = stale + 1 if value >= best and lower <= bound else 0
        if value < best:
            best_v, best = path.v, value
        if lower > bound:
            bound, norm = lower, float(np.linalg.norm(gradient))
        if best - bound <= tolerance * abs(best) or count >= steps or stale >= _PATIENCE:
            return best_v, max(best - bound, 0.0), norm, count
        path.step(gradient)
        count += 1
