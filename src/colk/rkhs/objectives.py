"""Evaluate the objective of a function on data: mean, dispersion, penalty, quantiles, tail."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from colk._notebook import facts_table
from colk._validation import Array, check_number, check_points
from colk.losses import Loss
from colk.risks import Mean, Risk
from colk.risks.base import average, shares
from colk.risks.tail import cvar_of

__all__ = ["Objective", "objective"]

_LEVELS = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, repr=False)
class Objective:
    """Result of `colk.objective`; printing it shows a table.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    mean : float
        Mean loss.
    dispersion : float
        Risk minus mean loss.
    penalty : float
        λ/2 ‖f‖²_H.
    total : float
        mean + dispersion + penalty, the objective of a learner.
    quantiles : dict of float to float
        Quantiles of the loss by level: the smallest loss that this share of samples does not
        exceed.
    cvar : float
        Mean of the largest losses, a share `tail_fraction` of all samples.
    tail_fraction : float
        The share that `cvar` averages.

    Examples
    --------
    >>> from colk import objective
    >>> from colk.losses import Squared
    >>> found = objective(lambda X: X[:, 0], [[0.0], [1.0]], [1.0, 4.0], Squared())
    >>> found.n_samples, found.mean
    (2, 5.0)
    >>> found
    Objective(total=5, mean=5, cvar=9, n_samples=2)
    """

    n_samples: int
    mean: float
    dispersion: float
    penalty: float
    total: float
    quantiles: dict[float, float] = field(hash=False)
    cvar: float
    tail_fraction: float

    def _rows(self) -> list[tuple[str, float]]:
        return [
            ("mean loss", self.mean),
            ("dispersion", self.dispersion),
            ("penalty", self.penalty),
            ("total", self.total),
            *((f"quantile {level:g}", value) for level, value in self.quantiles.items()),
            (f"mean of worst {self.tail_fraction:.3g}", self.cvar),
        ]

    def __repr__(self) -> str:
        return (
            f"Objective(total={self.total:.4g}, mean={self.mean:.4g}, cvar={self.cvar:.4g}, "
            f"n_samples={self.n_samples})"
        )

    def _repr_html_(self) -> str:
        facts = {name: f"{value:.6g}" for name, value in self._rows()}
        return facts_table(f"objective on {self.n_samples} samples", facts)

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value:12.6g}" for name, value in rows]
        return "\n".join([f"objective on {self.n_samples} samples", *lines])


def objective(
    f: Callable[[Array], Array],
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    risk: Risk | None = None,
    regularization: float = 0.0,
    *,
    sample_weight: ArrayLike | None = None,
    tail_fraction: float = 0.05,
) -> Objective:
    """Evaluate the empirical objective of a function, and the distribution of its losses.

    Parameters
    ----------
    f : callable
        A `KernelExpansion`, or any function that maps points (n, p) to predictions (n,) or
        (n, q), such as `learner.predict`.
    X : array of shape (n, p)
        Points.
    y : array of shape (n,) or (n, r)
        Targets.
    loss : Loss
        The loss.
    risk : Risk, optional
        `Mean()` by default.
    regularization : float
        λ ≥ 0. Default: 0. If λ > 0, `f` must have a method `norm`, as a `KernelExpansion` has.
    sample_weight : array of shape (n,), optional
        Weights of the samples.
    tail_fraction : float
        Share of the largest losses that `cvar` averages. Default: 0.05.

    Returns
    -------
    Objective
        The parts of the objective.

    Examples
    --------
    >>> from colk.losses import Squared
    >>> from colk.risks import Variance
    >>> found = objective(lambda X: X[:, 0], [[0.0], [1.0]], [1.0, 4.0], Squared(), Variance(0.5))
    >>> found.mean, found.dispersion, found.total
    (5.0, 8.0, 13.0)
    >>> print(found)
    objective on 2 samples
    mean loss                      5
    dispersion                     8
    penalty                        0
    total                         13
    quantile 0.5                   1
    quantile 0.9                   9
    quantile 0.95                  9
    quantile 0.99                  9
    mean of worst 0.05             9
    """
    points = check_points(X)
    risk = Mean() if risk is None else risk
    predictions = f(points)
    losses = loss.value(predictions, y)
    weights = shares(len(losses), sample_weight)
    mean = float(average(losses, weights))
    value = risk.value_at(loss, predictions, y, weights)
    penalty = _penalty(f, check_number(regularization, "regularization", at_least=0.0))
    return Objective(
        n_samples=len(losses),
        mean=mean,
        dispersion=value - mean,
        penalty=penalty,
        total=value + penalty,
        quantiles=_quantiles(losses, weights),
        cvar=cvar_of(tail_fraction).value(losses, weights),
        tail_fraction=tail_fraction,
    )


def _penalty(f: Callable[[Array], Array], regularization: float) -> float:
    if regularization == 0.0:
        return 0.0
    norm = getattr(f, "norm", None)
    if norm is None:
        raise TypeError(
            "regularization needs a function that has a norm; pass a KernelExpansion "
            "(learner.function), or regularization=0"
        )
    return 0.5 * regularization * float(norm()) ** 2


def _quantiles(losses: Array, weights: Array) -> dict[float, float]:
    order = np.argsort(losses, kind="stable")
    below = np.cumsum(weights[order])
    # The tolerance allows for rounding in the weights.
    places = np.searchsorted(below, np.array(_LEVELS) * (1.0 - 1e-12))
    found = losses[order[np.minimum(places, len(losses) - 1)]]
    return {level: float(value) for level, value in zip(_LEVELS, found, strict=True)}
