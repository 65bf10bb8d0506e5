"""Streams of methods on features, f(x) = wᵀφ(x), and of NORMA.

The windows of streams on features hold φ(x) instead of points, and the norm is not computed: it is
NaN. Rows of the weights: the iterate, its average, and the previous iterate or NASA's averaged
gradient z.
"""

import math
from typing import Any

import numpy as np

from colk._engine.c_types import Pointer, Readonly
from colk._engine.fourier import Spectrum
from colk._engine.gradient_step import GradientStream
from colk._engine.quasigradient import QuasiGradientStream
from colk._engine.simd import loops
from colk._validation import Array
from colk.losses.regression import AdaptiveTube

__all__ = ["DrawingStream", "ExtrapolatingStream", "FeatureStream", "NestedStream", "TubeStream"]


class TubeStream(GradientStream):
    """NORMA: a gradient stream whose loss has a tube that each step adapts.

    Parameters
    ----------
    tube : AdaptiveTube
        The loss.
    **common
        The arguments of `GradientStream`; their loss is replaced by the tube.
    """

    tube: Readonly[AdaptiveTube]

    def __init__(self, tube: AdaptiveTube, **common: Any) -> None:
        super().__init__(**{**common, "loss": tube})
        self.tube = tube

    def move(self, step: float, coefficients: Array) -> int:
        """Widen the tube if the sample lies outside, else narrow it; then make a step."""
        self.tube.adapt(
            self.window.predictions[0, 0],
            self.window.targets[0, 0],
            step * self.window.weights[0],
        )
        return GradientStream.move(self, step, coefficients)


class FeatureStream(QuasiGradientStream):
    """SCGD: update g first, then w."""

    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.squared_norm = math.nan

    def look(self) -> int:
        """Write the features of the window's samples to the columns, then evaluate f there."""
        self.write_columns()
        self.predict_window()
        return self.evaluate_losses()

    def write_columns(self) -> int:  # cdef
        """Write φ(x) of the window's samples to the columns."""
        for b in range(self.window.size):
            loops.copy(self.dictionary.columns, b, self.window.points, b, self.dictionary.size)
        return 0

    def step(self) -> float:
        """Make one step for the samples in the window; nothing is compressed."""
        g = self.track(self.rate(self.steps))
        coefficients = self.quasi_gradient(g)
        self.move(self.step_size.rate(self.steps), coefficients)
        return 0.0

    def rate(self, t: int) -> float:  # cdef noexcept
        """Return the tracking rate of step t."""
        return self.tracking_rate.rate(t)

    def move(self, step: float, coefficients: Pointer) -> None:  # cdef
        """Set w ← (1 − αλ)w − α Σ_b c_b φ(x_b)."""
        self.remember_and_shrink(1.0 - step * self.regularization)
        self.descend(0, -step, coefficients)

    def descend(self, first: int, factor: float, coefficients: Pointer) -> None:  # cdef
        """Add `factor` times the gradient Σ_b c_b φ(x_b) to the rows from `first` on."""
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                loops.add(
                    self.dictionary.weights_t,
                    first + c,
                    self.dictionary.columns,
                    b,
                    factor * coefficients[b * self.n_outputs + c],
                    self.dictionary.size,
                )


class ExtrapolatingStream(FeatureStream):
    """Accelerated SCGD: the remembered function is w_{t−1} + (w_t − w_{t−1})/β, ahead of w_t."""

    def move(self, step: float, coefficients: Array) -> None:
        """Make a step, then extrapolate the remembered w with the rate of the next step."""
        FeatureStream.move(self, step, coefficients)
        if self.remembered > 0:
            lead = 1.0 / self.rate(self.steps + 1)
            W, n = self.dictionary.weights_t, self.dictionary.size
            for c in range(self.n_outputs):
                loops.approach(W, self.remembered + c, W, c, lead, n)


class NestedStream(FeatureStream):
    """NASA: one time scale, an average z of the gradient; the gradient uses the old g.

    `proximity`, `gradient_gain` and `tracking_gain` are β, a and b of the paper.
    """

    proximity: Readonly[float]
    gradient_gain: Readonly[float]
    tracking_gain: Readonly[float]

    def __init__(
        self, proximity: float, gradient_gain: float, tracking_gain: float, **common: Any
    ) -> None:
        super().__init__(**common)
        self.proximity = proximity
        self.gradient_gain, self.tracking_gain = gradient_gain, tracking_gain

    def rate(self, t: int) -> float:
        """Return bτ, a share of the step size."""
        return min(1.0, self.tracking_gain * self.step_size.rate(t))

    def step(self) -> float:
        """Make one step; the gradient uses the old g (Jacobi's order)."""
        if self.steps == 0:
            self.track(1.0)
        coefficients = self.quasi_gradient(loops.data(self.window.g))
        if self.steps > 0:
            self.track(self.rate(self.steps))
            self.check_soundness()
        self.move(self.step_size.rate(self.steps), coefficients)
        return 0.0

    def move(self, step: float, coefficients: Array) -> None:
        """Set z ← (1 − aτ)z + aτ(Σ_b c_b φ(x_b) + λw), w ← w − (τ/β)z with the next step's τ."""
        W, n = self.dictionary.weights_t, self.dictionary.size
        z, q = self.dictionary.n_rows - self.n_outputs, self.n_outputs
        rate = min(1.0, self.gradient_gain * step)
        ahead = self.step_size.rate(self.steps + 1) / self.proximity
        self.dictionary.begin_step()
        self.dictionary.scale_rows(z, q, 1.0 - rate)
        for c in range(q):
            loops.add(W, z + c, W, c, rate * self.regularization, n)
        self.descend(z, rate, coefficients)
        for c in range(q):
            loops.add(W, c, W, z + c, -ahead, n)


class DrawingStream(FeatureStream):
    """Doubly stochastic gradients: points in the window, one new random feature per step."""

    spectrum: Readonly[Spectrum]

    def __init__(self, spectrum: Spectrum, **common: Any) -> None:
        super().__init__(**common)
        self.spectrum = spectrum

    def write_columns(self) -> int:
        """Draw all features again, including the new one."""
        n = self.dictionary.size
        return self.spectrum.redraw(n + 1, self.window.points, self.dictionary.columns)

    def move(self, step: float, coefficients: Array) -> None:
        """Set f ← (1 − αλ)f − α Σ_b c_b φ_t(x_b) φ_t."""
        W, columns, n = self.dictionary.weights_t, self.dictionary.columns, self.dictionary.size
        self.remember_and_shrink(1.0 - step * self.regularization)
        for b in range(self.window.size):
            for c in range(self.n_outputs):
                W[c, n] -= step * coefficients[b * self.n_outputs + c] * columns[b, n]
        self.dictionary.size = n + 1
        self.dictionary.added = 1

    def evaluate(self, X: Array, row: int) -> Array:
        """Return the values at X of the function whose outputs start at this row."""
        out = np.empty((len(X), self.n_outputs))
        self.enter()
        try:
            self.spectrum.evaluate(self.dictionary.weights_t, row, self.dictionary.size, X, out)
        finally:
            self.leave()
        return out
