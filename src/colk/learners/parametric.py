"""Streams of the methods that do more than a kernel stream, or something else.

Those on features, f(x) = wᵀφ(x), hold φ(x) in their window in place of points, and do not follow
the norm: it is NaN. Rows of the weights: the iterate, its average, and what the method remembers,
the previous iterate or NASA's averaged gradient z.
"""

import math
from typing import Any

import numpy as np

from colk._engine.fourier import Spectrum
from colk._engine.gradient_step import KernelStream
from colk._engine.quasigradient import QuasiGradientStream
from colk._engine.simd import loops
from colk._validation import Array
from colk.losses.regression import AdaptiveTube

__all__ = ["DrawingStream", "ExtrapolatingStream", "FeatureStream", "NestedStream", "TubeStream"]


class TubeStream(KernelStream):
    """NORMA: a kernel stream with the loss `AdaptiveTube`, which each step widens or narrows."""

    adaptive: AdaptiveTube

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.adaptive = common["loss"]

    def adapt(self, step: float, factor: float) -> float:
        """Widen the tube where the sample lies outside it, narrow it otherwise."""
        self.adaptive.adapt(
            self.window.predictions[0, 0],
            self.window.targets[0, 0],
            step * self.window.weights[0],
        )
        return step


class FeatureStream(QuasiGradientStream):
    """SCGD: g is renewed first, then w descends."""

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.squared_norm = math.nan

    def step(self) -> int:
        """One step for the samples in the window; 0 where it would diverge."""
        t = self.steps
        step, share = self.step_size.rate(t), self.averaging_rate()
        self.show()
        if self.assess(self.rate(t), self.tracks_first()) == 0:
            return 0
        self.move(step)
        self.average(share)
        self.steps = t + 1
        self.record(0, 0.0, step)
        return 1

    def show(self) -> int:
        """Lay the features of the window's samples where predictions are made from."""
        for b in range(self.window.size):
            loops.copy(self.dictionary.columns, b, self.window.points, b, self.dictionary.size)
        return 0

    def rate(self, t: int) -> float:
        """How far g moves at step t."""
        return self.tracking_rate.rate(t)

    def tracks_first(self) -> bool:
        """Whether g is renewed before the gradient is taken."""
        return True

    def move(self, step: float) -> None:
        """Set w ← (1 − αλ)w − α Σ_b c_b φ(x_b)."""
        self.remember_and_shrink(1.0 - step * self.regularization)
        self.descend(0, -step)

    def descend(self, first: int, factor: float) -> None:
        """Add `factor` times the gradient Σ_b c_b φ(x_b) to the rows from `first` on."""
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                loops.add(
                    self.dictionary.weights_t,
                    first + c,
                    self.dictionary.columns,
                    b,
                    factor * self.window.coefficients[b, c],
                    self.dictionary.size,
                )


class ExtrapolatingStream(FeatureStream):
    """Accelerated SCGD: what is remembered is w_{t−1} + (w_t − w_{t−1})/β, ahead of w_t."""

    def move(self, step: float) -> None:
        """Descend, then lead the remembered w by the rate of the step that comes next."""
        FeatureStream.move(self, step)
        if self.remembered > 0:
            lead = 1.0 / self.rate(self.steps + 1)
            W, n = self.dictionary.weights_t, self.dictionary.size
            for c in range(self.n_outputs):
                loops.approach(W, self.remembered + c, W, c, lead, n)


class NestedStream(FeatureStream):
    """NASA: one time scale, an average z of the gradient, the gradient before g.

    `proximity`, `gradient_gain` and `tracking_gain` are β, a and b of its paper.
    """

    def __init__(
        self, proximity: float, gradient_gain: float, tracking_gain: float, **common: Any
    ) -> None:
        super().__init__(**common)
        self.proximity = proximity
        self.gradient_gain, self.tracking_gain = gradient_gain, tracking_gain

    def rate(self, t: int) -> float:
        """Return bτ, a share of the step size."""
        return min(1.0, self.tracking_gain * self.step_size.rate(t))

    def tracks_first(self) -> bool:
        """No: the gradient sees the old g, in Jacobi's order."""
        return False

    def move(self, step: float) -> None:
        """Set z ← (1 − aτ)z + aτ(Σ_b c_b φ(x_b) + λw), w ← w − (τ/β)z with the next step's τ."""
        W, n = self.dictionary.weights_t, self.dictionary.size
        z, q = self.dictionary.n_rows - self.n_outputs, self.n_outputs
        rate = min(1.0, self.gradient_gain * step)
        ahead = self.step_size.rate(self.steps + 1) / self.proximity
        self.dictionary.forget()
        self.dictionary.scale_rows(z, q, 1.0 - rate)
        for c in range(q):
            loops.add(W, z + c, W, c, rate * self.regularization, n)
        self.descend(z, rate)
        for c in range(q):
            loops.add(W, c, W, z + c, -ahead, n)


class DrawingStream(FeatureStream):
    """Doubly stochastic gradients: points in the window, one more feature of a spectrum a step."""

    def __init__(self, spectrum: Spectrum, **common: Any) -> None:
        super().__init__(**common)
        self.spectrum = spectrum

    def show(self) -> int:
        """Draw all features again, and the new one."""
        n = self.dictionary.size
        return self.spectrum.redraw(n + 1, self.window.points, self.dictionary.columns)

    def move(self, step: float) -> None:
        """Set f ← (1 − αλ)f − α Σ_b c_b φ_t(x_b) φ_t."""
        W, columns, n = self.dictionary.weights_t, self.dictionary.columns, self.dictionary.size
        self.remember_and_shrink(1.0 - step * self.regularization)
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                W[c, n] -= step * self.window.coefficients[b, c] * columns[b, n]
        self.dictionary.size = n + 1
        self.dictionary.added = 1

    def evaluate(self, X: Array, row: int) -> Array:
        """Values at the points X of the function whose outputs begin at this row."""
        out = np.empty((len(X), self.n_outputs))
        self.enter()
        try:
            self.spectrum.evaluate(self.dictionary.weights_t, row, self.dictionary.size, X, out)
        finally:
            self.leave()
        return out
