"""Losses of the margin y·f, y ∈ {−1, +1}, and the softmax loss over classes."""

import math

import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Matrix, Readonly
from colk._validation import Array, check_number
from colk.losses.base import Loss, as_rows


class Logistic(Loss):
    """log(1 + exp(−y·f)): the negative log-likelihood of P(y = +1) = 1/(1 + exp(−f)).

    Examples
    --------
    >>> Logistic().value([0.0, 1000.0, 1000.0], [1, 1, -1]).round(6)
    array([6.93147e-01, 0.00000e+00, 1.00000e+03])
    >>> Logistic().probability([0.0, 1000.0])
    array([0.5, 1. ])
    """

    kind = "binary"
    is_likelihood = True

    def loss_at(self, f: float, y: float) -> float:
        margin = y * f
        return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))

    def slope_at(self, f: float, y: float) -> float:
        tail = math.exp(-abs(y * f))  # of the less likely class
        return -y * (tail if y * f > 0.0 else 1.0) / (1.0 + tail)

    def curvature_at(self, f: float, y: float, width: float) -> float:
        """Return p(1 − p), the second derivative; a secant would make steps too small."""
        tail = math.exp(-abs(f))
        return tail / ((1.0 + tail) * (1.0 + tail))

    def probability(self, f: ArrayLike) -> Array:
        """Return P(y = +1) in the shape of `f`; it equals the slope of the loss for y = −1."""
        return self.slope(f, -np.ones(np.shape(f)))


class Hinge(Loss):
    """(1 − y·f)₊. At the kink y·f = 1 the slope is 0.

    Examples
    --------
    >>> Hinge().slope([1.0, 0.5, 0.5], [1, 1, -1])
    array([ 0., -1.,  1.])
    """

    kind = "binary"
    kinks = (1.0,)

    def loss_at(self, f: float, y: float) -> float:
        return max(1.0 - y * f, 0.0)

    def slope_at(self, f: float, y: float) -> float:
        return -y if y * f < 1.0 else 0.0


class SquaredHinge(Loss):
    """((1 − y·f)₊)², without a kink.

    Examples
    --------
    >>> SquaredHinge().value([2.0, 0.5, -1.0], [1, 1, 1])
    array([0.  , 0.25, 4.  ])
    """

    kind = "binary"

    def loss_at(self, f: float, y: float) -> float:
        shortfall = max(1.0 - y * f, 0.0)
        return shortfall * shortfall

    def slope_at(self, f: float, y: float) -> float:
        return -2.0 * y * max(1.0 - y * f, 0.0)


class SmoothHinge(Loss):
    """`Hinge` with its corner rounded to a parabola of width γ > 0, the smoothing.

    With the shortfall u = (1 − y·f)₊: u²/(2γ) for u < γ, u − γ/2 beyond.

    Examples
    --------
    >>> SmoothHinge(smoothing=1.0).value([2.0, 0.5, -1.0], [1, 1, 1])
    array([0.   , 0.125, 1.5  ])
    """

    _fields = ("smoothing",)
    kind = "binary"

    smoothing: Readonly[float]

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = check_number(smoothing, "smoothing", above=0.0)

    def loss_at(self, f: float, y: float) -> float:
        shortfall = max(1.0 - y * f, 0.0)
        if shortfall < self.smoothing:
            return 0.5 * shortfall * shortfall / self.smoothing
        return shortfall - 0.5 * self.smoothing

    def slope_at(self, f: float, y: float) -> float:
        return -y * min(max(1.0 - y * f, 0.0) / self.smoothing, 1.0)


class Softmax(Loss):
    """log Σ_k exp(f_k) − f_y: the negative log-likelihood of class y under softmax scores.

    Predictions have one output for each of C classes. A target is the index 0, …, C − 1 of a class.
    Values do not overflow, and are accurate for well-classified points.

    Examples
    --------
    >>> Softmax().value([[0.0, 0.0], [800.0, 0.0]], [1, 0]).round(6)
    array([0.693147, 0.      ])
    >>> Softmax().slope([[0.0, 0.0]], [1])
    array([[ 0.5, -0.5]])
    >>> Softmax().probability([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    kind = "multiclass"
    couples_outputs = True
    is_likelihood = True

    def evaluate(self, F: Array, Y: Array, row: int, slopes: Array) -> float:
        """Return −log p of the label; the slopes are the probabilities, minus 1 at the label.

        A label that is not a class gives NaN.
        """
        classes, label, top = F.shape[1], -1, 0
        for k in range(classes):
            slopes[row, k] = math.nan
            if Y[row, 0] == k:
                label = k
            if F[row, k] > F[row, top]:
                top = k
        if label < 0:
            return math.nan
        # The sums leave out the largest score, and that of the label, so that they are exact if p
        # is near 1.
        rest = others = 0.0
        for k in range(classes):
            share = math.exp(F[row, k] - F[row, top])
            rest += share if k != top else 0.0
            others += share if k != label else 0.0
            slopes[row, k] = share
        for k in range(classes):
            slopes[row, k] /= 1.0 + rest
        slopes[row, label] = -others / (1.0 + rest)
        return F[row, top] - F[row, label] + math.log1p(rest)

    # cdef
    def curvature(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix, width: float) -> float:
        """Return the largest p(1 − p) of the classes."""
        largest = 0.0
        for k in range(F.shape[1]):
            size: float = abs(slopes[row, k])  # p, or 1 − p at the label
            largest = max(largest, size * (1.0 - size))
        return largest

    def check_targets(self, y: ArrayLike, n_outputs: int, n_rows: int | None = None) -> Array:
        """Validate class indices; return an (n, 1) array."""
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
        """Return class probabilities, in the shape (n, C) of `f`."""
        F = as_rows(f, "f")
        best = np.argmax(F, axis=1)
        probabilities = self.slope(F, best)  # p, with p − 1 at the likeliest class
        probabilities[np.arange(len(best)), best] += 1.0
        return probabilities
