"""Risks of groups of samples: the mean loss of the groups that do worst."""

from typing import ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Readonly
from colk._validation import Array, check_fraction, check_number
from colk.losses import Loss
from colk.risks.base import Risk, Rows
from colk.risks.of_losses import weighed
from colk.risks.samples import LossSample, Statistics


class GroupRisk(Risk):
    """The mean loss of the worst share of groups; every group counts the same.

    With the mean losses L_g of G groups it is the largest Σ q_g L_g over weights q ≥ 0 that sum to
    1, none above 1/(αG): CVaR over groups. Groups are given to `fit` as labels, one for each
    sample. Convex and monotone. It cannot be used on a stream.

    Parameters
    ----------
    tail_fraction : float
        α, in [0, 1]. With 0 (the default) the risk is the mean loss of the worst group, with 1 the
        mean over groups.

    References
    ----------
    S. Sagawa, P. W. Koh, T. B. Hashimoto and P. Liang, "Distributionally robust neural networks
    for group shifts", ICLR 2020.

    Examples
    --------
    >>> losses, groups = [1.0, 1.0, 1.0, 3.0, 5.0], ["a", "a", "a", "b", "b"]
    >>> GroupRisk().value(losses, groups), GroupRisk(tail_fraction=1.0).value(losses, groups)
    (4.0, 2.5)
    """

    _fields = ("tail_fraction",)
    estimator_call = "COLKRegressor(risk='group').fit(X, y, groups=...), or COLKClassifier likewise"
    starts_from_mean = True
    needs_groups: ClassVar[bool] = True
    keeps_weights_of_sample: ClassVar[bool] = True
    can_grow: ClassVar[bool] = False

    tail_fraction: Readonly[float]

    def __init__(self, tail_fraction: float = 0.0) -> None:
        given = check_number(tail_fraction, "tail_fraction", at_least=0.0)
        self.tail_fraction = check_fraction(given, "tail_fraction") if given > 0.0 else 0.0

    def check_stream(self) -> None:
        """Raise ValueError, because the groups are not known."""
        raise ValueError(
            "GroupRisk needs the groups of all samples: use fit(X, y, groups=...) of COLKRegressor "
            "or COLKClassifier, with polish=True"
        )

    def chain_at(
        self, F: Array, Y: Array, theta: int, xi: int, g: Array, slopes: Array, work: Array
    ) -> int:
        with cython.gil:
            self.check_stream()
        return 0

    def estimate_at(self, loss: Loss, f: Rows, y: Rows, sample_weight: Rows | None = None) -> Array:
        return np.zeros(0)

    def statistics(self, sample: LossSample) -> Statistics:
        self.check_stream()
        return super().statistics(sample)

    def largest_weight(self, n_groups: int) -> float:
        """Return the largest weight that a group may have, 1/(αG) or 1."""
        return 1.0 / max(self.tail_fraction * n_groups, 1.0)

    def group_weights(self, group_losses: ArrayLike) -> Array:
        """Return the weights q of groups with these mean losses, of shape (G,)."""
        means = np.asarray(group_losses, dtype=np.float64)
        most, weights = self.largest_weight(len(means)), np.zeros(len(means))
        left = 1.0
        for g in np.argsort(-means, kind="stable"):
            weights[g] = min(most, left)
            left -= weights[g]
        return weights

    def value(
        self, losses: ArrayLike, groups: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the exact risk of losses (n,) of samples in these groups (n,)."""
        means = self.group_means(losses, groups, sample_weight)
        return float(self.group_weights(means) @ means)

    def gradient(
        self, losses: ArrayLike, groups: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Return a gradient of `value` in the losses, of shape (n,)."""
        weights = weighed(losses, sample_weight).share
        index = np.unique(np.asarray(groups), return_inverse=True)[1]
        totals = np.bincount(index, weights)
        means = self.group_means(losses, groups, sample_weight)
        return np.asarray((self.group_weights(means) / totals)[index] * weights)

    def group_means(
        self, losses: ArrayLike, groups: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Return the mean loss of each group, of shape (G,), in the order of sorted labels."""
        values, weights = weighed(losses, sample_weight).together()
        index = np.unique(np.asarray(groups), return_inverse=True)[1]
        return np.asarray(np.bincount(index, weights * values) / np.bincount(index, weights))
