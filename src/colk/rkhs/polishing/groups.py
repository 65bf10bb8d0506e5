"""The polish of `fit` under the worst groups of samples."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from colk._validation import Array
from colk.losses import Loss
from colk.risks import GroupRisk, Mean
from colk.risks.base import shares
from colk.rkhs.polishing.weights import Polished, polish

__all__ = ["polish_groups"]

# Accuracy of the weighted polishes, relative to the requested accuracy.
_SHARPER = 1e-2
_MOST_STEPS = 60


def polish_groups(
    mean: Polished,
    X: Array,
    y: Array,
    loss: Loss,
    risk: GroupRisk,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    tolerance: float = 1e-3,
) -> Polished:
    """Minimise the risk of groups plus λ/2 ‖f‖² over the weights of a function.

    For given weights q of the groups, the minimum of Σ q_g L_g + λ/2 ‖f‖² is a polish under the
    mean loss with sample weights. It is concave in q, with the mean losses L_g of the groups as
    gradient, and its maximum over q equals the minimum of the risk of groups plus λ/2 ‖f‖². The
    difference of the two objectives bounds the error.

    Parameters
    ----------
    mean : Polished
        Weights and λ for the mean loss.
    X, y, loss, sample_weight
        As in `polish`.
    risk : GroupRisk
        The risk.
    groups : array of shape (n,)
        The group of each sample.
    tolerance : float
        The gap relative to the objective. Default: 1e-3.

    Examples
    --------
    >>> from colk.kernels import Linear
    >>> from colk.losses import Squared
    >>> from colk.rkhs.expansion import KernelExpansion
    >>> X, y, groups = np.ones((4, 1)), np.array([0.0, 0.0, 0.0, 1.0]), np.array([0, 0, 0, 1])
    >>> f = KernelExpansion(Linear(), np.ones((1, 1)), np.zeros(1))
    >>> mean = polish(f, X, y, Squared(), regularization=1e-9)
    >>> worst = polish_groups(mean, X, y, Squared(), GroupRisk(), groups)
    >>> mean.function.weights.round(2), worst.function.weights.round(2)
    (array([0.25]), array([0.5]))
    """
    search = _GroupSearch(mean, X, y, loss, risk, groups, shares(len(X), sample_weight), tolerance)
    return search.run()


class _GroupSearch:
    """The maximum over the weights of groups, and the best function on the way."""

    def __init__(
        self,
        mean: Polished,
        X: Array,
        y: Array,
        loss: Loss,
        risk: GroupRisk,
        groups: ArrayLike,
        share: Array,
        tolerance: float,
    ) -> None:
        counted = share > 0.0
        self.X, self.y, self.share = X[counted], y[counted], share[counted]
        self.groups = np.unique(np.asarray(groups)[counted], return_inverse=True)[1]
        self.within = self.share / np.bincount(self.groups, self.share)[self.groups]
        self.loss, self.risk, self.tolerance = loss, risk, tolerance
        self.decay, self.function = mean.regularization, mean.function
        self.bound, self.n_steps = -np.inf, 0
        before, _ = self._objective(mean)
        self.best = replace(mean, value=before, value_before=before, gap=np.inf, converged=False)

    def run(self) -> Polished:
        """Return the best function that was found, with its gap."""
        n_groups = int(self.groups.max()) + 1
        most = self.risk.largest_weight(n_groups)
        with suppress(_CloseEnoughError):
            minimize(
                self._negative_dual,
                np.full(n_groups, 1.0 / n_groups),
                jac=True,
                method="SLSQP",
                bounds=[(0.0, most)] * n_groups,
                constraints={"type": "eq", "fun": _surplus, "jac": np.ones_like},
                options={"maxiter": _MOST_STEPS, "ftol": 1e-12},
            )
        gap = max(self.best.value - self.bound, 0.0)
        return replace(self.best, gap=gap, n_steps=self.n_steps, converged=self._is_close())

    def _negative_dual(self, q: Array) -> tuple[float, Array]:
        """Return minus the least weighted objective, and minus the mean losses there."""
        q = np.maximum(q, 0.0) / np.maximum(q, 0.0).sum()
        found = polish(
            self.function,
            self.X,
            self.y,
            self.loss,
            Mean(),
            self.decay,
            sample_weight=q[self.groups] * self.within,
            tolerance=_SHARPER * self.tolerance,
        )
        self.function = found.function
        self.n_steps += found.n_steps
        value, means = self._objective(found)
        if value < self.best.value:
            self.best = replace(self.best, function=found.function, value=value)
        if np.isfinite(found.gap):
            self.bound = max(self.bound, found.value - found.gap)
        if self._is_close():
            raise _CloseEnoughError
        return -found.value, -means

    def _is_close(self) -> bool:
        return bool(self.best.value - self.bound <= self.tolerance * abs(self.best.value))

    def _objective(self, polished: Polished) -> tuple[float, Array]:
        """Return the risk of groups plus λ/2 ‖f‖², and the mean losses of the groups."""
        function = polished.function
        losses = self.loss.value(function(self.X), self.y)
        means = self.risk.group_means(losses, self.groups, self.share)
        penalty = 0.5 * self.decay * function.norm() ** 2
        return float(self.risk.group_weights(means) @ means) + penalty, means


class _CloseEnoughError(Exception):
    """The gap is below the tolerance."""


def _surplus(q: Array) -> float:
    return float(q.sum()) - 1.0
