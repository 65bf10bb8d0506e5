"""Streams of the methods with a vector of parameters, f(x) = wᵀφ(x).

The window holds features φ(x) in place of points. Rows of the weights: the iterate, its average,
and what the method remembers, the previous iterate or NASA's averaged gradient z.
"""

import math
from typing import Any

import numpy as np

from colk import lanes
from colk._validation import Array
from colk.quasigradient import QuasiGradientStream
from colk.spectral import Spectrum

__all__ = ["DrawingStream", "ExtrapolatingStream", "FeatureStream", "NestedStream"]


class FeatureStream(QuasiGradientStream):
    """SCGD: g is renewed first, then w descends. The norm of w is not followed: it is NaN."""

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

    def show(self) -> None:
        """Lay the features of the window's samples where predictions are made from."""
        for b in range(self.window.size):
            for j in range(self.dictionary.size):
                self.dictionary.columns[b, j] = self.window.points[b, j]

    def rate(self, t: int) -> float:
        """How far g moves at step t."""
        return self.tracking_rate.rate(t)

    def tracks_first(self) -> bool:
        """Whether g is renewed before the gradient is taken."""
        return True

    def move(self, step: float) -> None:
        """Set w ← (1 − αλ)w − α Σ_b c_b φ(x_b)."""
        self.remember_and_shrink(1.0 - step * self.regularization)
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                lanes.add(
                    self.dictionary.weights_t,
                    c,
                    self.dictionary.columns,
                    b,
                    -step * self.window.coefficients[b, c],
                    self.dictionary.size,
                )


class ExtrapolatingStream(FeatureStream):
    """Accelerated SCGD: what is remembered is w_{t−1} + (w_t − w_{t−1})/β, ahead of w_t."""

    def move(self, step: float) -> None:
        """Descend, then lead the remembered w by the rate of the step that comes next."""
        FeatureStream.move(self, step)
        if self.remembered > 0:
            for c in range(self.n_outputs):
                lanes.approach(
                    self.dictionary.weights_t,
                    self.remembered + c,
                    self.dictionary.weights_t,
                    c,
                    1.0 / self.rate(self.steps + 1),
                    self.dictionary.size,
                )


class NestedStream(FeatureStream):
    """NASA: one time scale, an average z of the gradient, the gradient before g.

    Parameters
    ----------
    proximity, gradient_gain, tracking_gain : float
        β, a and b of its paper.
    **common
        The arguments of `QuasiGradientStream`; the last rows of the weights are those of z.
    """

    def __init__(
        self, proximity: float, gradient_gain: float, tracking_gain: float, **common: Any
    ) -> None:
        super().__init__(**common)
        self.proximity = proximity
        self.gradient_gain, self.tracking_gain = gradient_gain, tracking_gain

    def rate(self, t: int) -> float:
        """B·τ, a share of the step size."""
        return min(1.0, self.tracking_gain * self.step_size.rate(t))

    def tracks_first(self) -> bool:
        """No: the gradient sees the old g, in Jacobi's order."""
        return False

    def move(self, step: float) -> None:
        """Set z ← (1 − aτ)z + aτ(Σ_b c_b φ(x_b) + λw), w ← w − (τ/β)z with the next step's τ."""
        n, first = self.dictionary.size, self.dictionary.n_rows - self.n_outputs
        rate = min(1.0, self.gradient_gain * step)
        ahead = self.step_size.rate(self.steps + 1) / self.proximity
        self.dictionary.forget()
        for c in range(self.n_outputs):
            z = first + c
            self.dictionary.scale_rows(z, 1, 1.0 - rate)
            lanes.add(
                self.dictionary.weights_t,
                z,
                self.dictionary.weights_t,
                c,
                rate * self.regularization,
                n,
            )
            for b in range(self.window.size):
                lanes.add(
                    self.dictionary.weights_t,
                    z,
                    self.dictionary.columns,
                    b,
                    rate * self.window.coefficients[b, c],
                    n,
                )
            lanes.add(self.dictionary.weights_t, c, self.dictionary.weights_t, z, -ahead, n)


class DrawingStream(QuasiGradientStream):
    """Doubly stochastic gradients: a window of samples and one more random feature a step.

    Parameters
    ----------
    spectrum : Spectrum
        Where features are drawn from, again and again.
    **common
        The arguments of `QuasiGradientStream`.
    """

    def __init__(self, spectrum: Spectrum, **common: Any) -> None:
        super().__init__(**common)
        self.spectrum = spectrum
        self.squared_norm = math.nan

    def step(self) -> int:
        """Set f ← (1 − αλ)f − α Σ_b c_b φ_t(x_b) φ_t; 0 where it would diverge."""
        t, n = self.steps, self.dictionary.size
        step, share = self.step_size.rate(t), self.averaging_rate()
        self.spectrum.redraw(n + 1, self.window.points, self.dictionary.columns)
        if self.assess(self.tracking_rate.rate(t), True) == 0:
            return 0
        self.remember_and_shrink(1.0 - step * self.regularization)
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                self.dictionary.weights_t[c, n] -= (
                    step * self.window.coefficients[b, c] * self.dictionary.columns[b, n]
                )
        self.dictionary.size = n + 1
        self.dictionary.added = 1
        self.average(share)
        self.steps = t + 1
        self.record(0, 0.0, step)
        return 1

    def evaluate(self, X: Array, row: int) -> Array:
        """Values at the points X of the function whose outputs begin at this row."""
        out = np.empty((len(X), self.n_outputs))
        self.enter()
        try:
            self.spectrum.evaluate(self.dictionary.weights_t, row, self.dictionary.size, X, out)
        finally:
            self.leave()
        return out
