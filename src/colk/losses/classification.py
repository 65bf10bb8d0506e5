"""Losses of the margin y·f, y ∈ {−1, +1}, and the softmax loss over classes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from colk._core import losses as core
from colk._validation import Array, check_number, check_rows
from colk.losses.base import Kind, Loss

__all__ = ["Hinge", "Logistic", "SmoothHinge", "Softmax", "SquaredHinge"]


@dataclass(frozen=True)
class MarginLoss(Loss):
    """A loss of the margin y·f, for targets −1 and +1."""

    kind: ClassVar[Kind] = "binary"


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """log(1 + exp(−y·f)): the negative log-likelihood of P(y = +1) = 1/(1 + exp(−f)).

    Computed without overflow at any size of f.

    Examples
    --------
    >>> Logistic().value([0.0, 1000.0, 1000.0], [1, 1, -1]).round(6)
    array([6.93147e-01, 0.00000e+00, 1.00000e+03])
    >>> Logistic().probability([0.0, 1000.0])
    array([0.5, 1. ])
    """

    is_likelihood: ClassVar[bool] = True

    def _constants(self) -> tuple[float, ...]:
        return (core.LOGISTIC, 0.0)

    def probability(self, f: ArrayLike) -> Array:
        """P(y = +1), in the shape of `f`: the slope of the loss against y = −1."""
        return self.slope(f, -np.ones(np.shape(f)))


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """(1 − y·f)₊. At the kink y·f = 1 the margin counts as reached: the slope is 0.

    Examples
    --------
    >>> Hinge().value([2.0, 0.5, -1.0], [1, 1, 1])
    array([0. , 0.5, 2. ])
    >>> Hinge().slope([1.0, 0.5, 0.5], [1, 1, -1])
    array([ 0., -1.,  1.])
    """

    @property
    def kinks(self) -> tuple[float, ...]:
        """A margin of 1."""
        return (1.0,)

    def _constants(self) -> tuple[float, ...]:
        return (core.HINGE, 0.0)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """((1 − y·f)₊)²; no kink.

    Examples
    --------
    >>> SquaredHinge().value([2.0, 0.5, -1.0], [1, 1, 1])
    array([0.  , 0.25, 4.  ])
    """

    def _constants(self) -> tuple[float, ...]:
        return (core.SQUARED_HINGE, 0.0)


@dataclass(frozen=True)
class SmoothHinge(MarginLoss):
    """The hinge with its corner rounded to a parabola of width γ.

    With the shortfall u = (1 − y·f)₊: u²/(2γ) for u < γ, u − γ/2 beyond.

    Parameters
    ----------
    smoothing : float
        γ > 0. As it goes to 0 the loss becomes `Hinge`.

    Examples
    --------
    >>> SmoothHinge(smoothing=1.0).value([2.0, 0.5, -1.0], [1, 1, 1])
    array([0.   , 0.125, 1.5  ])
    """

    smoothing: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.smoothing, "smoothing", above=0.0)

    def _constants(self) -> tuple[float, ...]:
        return (core.SMOOTH_HINGE, self.smoothing)


@dataclass(frozen=True)
class Softmax(Loss):
    """log Σ_k exp(f_k) − f_y: the negative log-likelihood of class y under softmax scores.

    Predictions have one output for each of C classes; a target is the index 0, …, C − 1 of a
    class. Computed without overflow, and exactly in the tails of well-classified points.

    Examples
    --------
    >>> Softmax().value([[0.0, 0.0], [800.0, 0.0]], [1, 0]).round(6)
    array([0.693147, 0.      ])
    >>> Softmax().slope([[0.0, 0.0]], [1])
    array([[ 0.5, -0.5]])
    >>> Softmax().probability([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    kind: ClassVar[Kind] = "multiclass"
    is_likelihood: ClassVar[bool] = True

    def _constants(self) -> tuple[float, ...]:
        return (core.SOFTMAX, 0.0)

    def check_targets(self, y: ArrayLike, n_outputs: int, n_rows: int | None = None) -> Array:
        """Targets as an (n, 1) array of class indices."""
        Y = super().check_targets(y, 1, n_rows)
        if n_outputs < 2:
            raise ValueError("Softmax needs predictions of shape (n, C) with C >= 2 classes")
        known = (Y >= 0) & (n_outputs > Y) & (np.floor(Y) == Y)
        if not known.all():
            raise ValueError(
                f"targets of Softmax must be class indices 0, ..., {n_outputs - 1}, "
                f"got {Y[~known][0]:g}"
            )
        return Y

    def probability(self, f: ArrayLike) -> Array:
        """Class probabilities, in the shape (n, C) of `f`."""
        F = check_rows(f, len(np.atleast_1d(f)), "f")
        best = np.argmax(np.atleast_2d(F), axis=1)
        # The slope against the likeliest class is p, with p − 1 at that class.
        probabilities = self.slope(F, best)
        probabilities[np.arange(len(best)), best] += 1.0
        return probabilities
