"""Distributions of the samples in the synthetic experiments."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from colk_lab.arrays import Array

__all__ = ["LAWS", "OutlierLaw", "generator", "signal", "signal_on_grid"]


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return a separate random generator for each seed and purpose.

    Examples
    --------
    >>> generator(0, "test").random() == generator(0, "test").random()
    True
    >>> generator(0, "test").random() == generator(0, "training", 1).random()
    False
    """
    words = [name if isinstance(name, int) else crc32(name.encode()) for name in names]
    return np.random.default_rng([seed, *words])


def signal(x: Array) -> Array:
    """Return the paper's function, 2x + 3 sin(6x)."""
    values: Array = 2.0 * x + 3.0 * np.sin(6.0 * x)
    return values


def signal_on_grid(n: int) -> dict[str, NDArray[Any]]:
    """Return the paper's function at n points of [0, 1]."""
    x = np.linspace(0.0, 1.0, n)
    return {"x": x, "y": signal(x)}


_OUTLIERS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "symmetric": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "Student": lambda rng, n: rng.standard_t(2.0, size=n),
    "Pareto": lambda rng, n: rng.pareto(1.5, size=n),
}


@dataclass(frozen=True)
class OutlierLaw:
    """y = 2x + 3 sin(6x) + noise·N(0, 1), plus an outlier with probability `share`.

    Parameters
    ----------
    share : float, default=0.1
        Share of samples with an outlier, in [0, 1].
    size : float, default=3.0
        Standard deviation of a symmetric (normal) outlier, mean of a skewed (exponential, positive)
        one, or scale of the others, in the units of y.
    kind : {"symmetric", "skewed", "Student", "Pareto"}, default="symmetric"
        Distribution of the outliers. Student's t with 2 degrees of freedom and the positive Pareto
        (Lomax) law with exponent 1.5 have heavy tails, so that their variance is infinite.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise of every sample.

    Examples
    --------
    >>> X, y = OutlierLaw(share=0.0, noise=0.0).draw(5, generator(0, "example"))
    >>> bool(np.allclose(y, signal(X[:, 0])))
    True
    """

    share: float = 0.1
    size: float = 3.0
    kind: Literal["symmetric", "skewed", "Student", "Pareto"] = "symmetric"
    noise: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share must lie in [0, 1], got {self.share!r}")
        if not (0.0 <= self.size < math.inf and 0.0 <= self.noise < math.inf):
            told = f"size {self.size!r} and noise {self.noise!r}"
            raise ValueError(f"size and noise must be at least 0 and finite, got {told}")
        if self.kind not in _OUTLIERS:
            raise ValueError(f"kind must be one of {', '.join(_OUTLIERS)}, got {self.kind!r}")

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw n samples: points of shape (n, 1) and targets."""
        X = rng.random((n, 1))
        noise = self.noise * rng.normal(size=n)
        hit = rng.random(n) < self.share
        outlier = _OUTLIERS[self.kind](rng, n)
        return X, signal(X[:, 0]) + noise + np.where(hit, self.size * outlier, 0.0)

    @property
    def is_heavy(self) -> bool:
        """Whether the outliers have an infinite variance."""
        return self.kind in ("Student", "Pareto")

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters, for the settings of a task."""
        return asdict(self)

    def __str__(self) -> str:
        if self.share == 0.0:
            return "no outliers"
        unit = {"symmetric": "sd", "skewed": "mean"}.get(self.kind, "scale")
        return f"{100 * self.share:g} % {self.kind}, {unit} {self.size:g}"


LAWS = (
    OutlierLaw(share=0.0),
    OutlierLaw(share=0.1, size=3.0),
    OutlierLaw(share=0.2, size=5.0),
    OutlierLaw(share=0.1, size=3.0, kind="skewed"),
    OutlierLaw(share=0.2, size=5.0, kind="skewed"),
    OutlierLaw(share=0.1, size=3.0, kind="Student"),
    OutlierLaw(share=0.1, size=3.0, kind="Pareto"),
)
