"""The specification of a step of policy evaluation, in NumPy."""

from typing import Any, Literal

import numpy as np

from colk._validation import Array
from colk.reference.kernels import gram
from colk.reference.komp import fit_weights, komp

__all__ = ["ReferenceEvaluator"]

Method = Literal["function", "scalar", "momentum", "corrected", "residual", "semi"]


class ReferenceEvaluator:
    """V, z and the average of V, updated by the equations and compressed by brute force.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    n_features : int
        Dimension of a state.
    discount, step_size, tracking_rate, regularization, eps, eps_ratio, growth : float
        γ, α, β (default: 0.2), λ (1e-8), the error bound of V (0.01), the bound of z relative to it
        (1), and the growth of the average (3).
    method : {"function", "scalar", "momentum", "corrected", "residual", "semi"}
        The update equation of V. Default: "function".

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.reference import ReferenceEvaluator
    >>> twin = ReferenceEvaluator(Gaussian(1.0), 1, discount=0.9, step_size=0.5)
    >>> twin.step(np.array([0.0]), 1.0, np.array([1.0]), False)
    1.0
    """

    def __init__(
        self,
        kernel: Any,
        n_features: int,
        discount: float,
        step_size: float,
        tracking_rate: float = 0.2,
        regularization: float = 1e-8,
        eps: float = 0.01,
        eps_ratio: float = 1.0,
        growth: float = 3.0,
        method: Method = "function",
    ) -> None:
        self.kernel, self.method = kernel, method
        self.discount, self.step_size, self.tracking_rate = discount, step_size, tracking_rate
        self.regularization, self.eps, self.eps_ratio = regularization, eps, eps_ratio
        self.growth = growth
        self.steps, self.scalar = 0, 0.0
        self.atoms = np.empty((0, n_features))
        self.value: Array = np.empty(0)
        self.tracker: Array = np.empty(0)
        self.average: Array = np.empty(0)
        self.previous = (self.atoms, self.value)

    def _at(self, weights: Array, x: Array) -> float:
        return float(gram(self.kernel, x[None, :], self.atoms)[0] @ weights)

    def _directions(self, delta: float, z: float, discount: float) -> tuple[float, float]:
        """Return the coefficients of κ(x, ·) and κ(x', ·)."""
        return {
            "function": (z, -discount * z),
            "scalar": (z, -discount * z),
            "momentum": (z, -discount * z),
            "corrected": (delta, -discount * z),
            "residual": (delta, -discount * delta),
            "semi": (delta, 0.0),
        }[self.method]

    def step(self, x: Array, reward: float, x_next: Array, terminated: bool) -> float:
        """Learn from one transition; return δ."""
        discount = 0.0 if terminated else self.discount
        delta = reward + discount * self._at(self.value, x_next) - self._at(self.value, x)
        z = self._at(self.tracker, x)
        if self.method == "scalar":
            self.scalar = (1.0 - self.tracking_rate) * self.scalar + self.tracking_rate * delta
            z = self.scalar
        if self.method == "momentum":
            at, at_next = (
                float(gram(self.kernel, point[None, :], self.previous[0])[0] @ self.previous[1])
                for point in (x, x_next)
            )
            kept = self.scalar - (reward + discount * at_next - at) if self.steps > 0 else 0.0
            self.scalar = z = (1.0 - self.tracking_rate) * kept + delta
            self.previous = (self.atoms, self.value)
        here, there = self._directions(delta, z, discount)
        tracked = (
            self.tracking_rate * (delta - z) if self.method in ("function", "corrected") else 0
        )
        shrunk = (1.0 - self.step_size * self.regularization) * self.value
        self.atoms = np.vstack([self.atoms, x, x_next])
        self.value = np.append(shrunk, self.step_size * np.array([here, there]))
        self.tracker = np.append(self.tracker, [tracked, 0.0])
        self.average = np.append(self.average, [0.0, 0.0])
        self._compress()
        self.steps += 1
        rate = (1.0 + self.growth) / (self.steps + self.growth)
        self.average = self.average + rate * (self.value - self.average)
        return delta

    def _compress(self) -> None:
        """Apply KOMP to the pair (V, z/eps_ratio), and project the average on its atoms."""
        pair = np.column_stack([self.value, self.tracker / self.eps_ratio])
        kept, fitted, _, _ = komp(self.kernel, self.atoms, pair, self.eps)
        self.value, self.tracker = fitted[:, 0], self.eps_ratio * fitted[:, 1]
        self.average = fit_weights(self.kernel, self.atoms[kept], self.atoms, self.average)
        self.atoms = self.atoms[kept]
