"""Display of mean loss against tail loss for several risks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from colk._validation import Array
from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.losses import losses_of, tail_mean
from colk.estimators.displays.pipelines import final, unwrapped
from colk.risks import Risk

__all__ = ["RiskTradeoffDisplay"]


@dataclass(eq=False)
class RiskTradeoffDisplay(OneAxesDisplay):
    """Mean against CVaR of the test loss, one point per risk.

    Parameters
    ----------
    labels : list of str
        Names of the risks.
    means, tails : array
        Mean loss and CVaR of the loss under each risk.
    tail_fraction : float
        Share of the losses, the largest ones, that CVaR averages.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import RiskTradeoffDisplay
    >>> from colk.risks import Mean, Variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 1))
    >>> y = X[:, 0] + rng.exponential(size=500)
    >>> display = RiskTradeoffDisplay.from_estimator(
    ...     COLKRegressor(random_state=0), X, y, X, y, risks=[Mean(), Variance(0.5)])
    >>> display.labels
    ['Mean()', 'Variance(weight=0.5)']
    """

    labels: list[str]
    means: Array
    tails: Array
    tail_fraction: float = 0.05

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        risks: Sequence[Risk | str],
        labels: Sequence[str] | None = None,
        tail_fraction: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Fit a clone of the estimator under each risk, evaluate it on test data and draw.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            The estimator, or a pipeline that ends in one; it is not changed.
        X, y : arrays
            Training samples.
        X_test, y_test : arrays
            Test samples.
        risks : sequence of Risk or str
            The risks; the curve joins their points in this order.
        labels : sequence of str, optional
            Names in the legend. Default: the risks as text.
        tail_fraction : float
            Share of the losses, the largest ones, that CVaR averages.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        losses = []
        for risk in risks:
            copy = clone(unwrapped(estimator))
            final(copy).set_params(risk=risk)
            losses.append(losses_of(copy.fit(X, y), X_test, y_test))
        means = np.array([values.mean() for values in losses])
        tails = np.array([tail_mean(values, tail_fraction) for values in losses])
        names = [str(name) for name in (labels or risks)]
        return cls(names, means, tails, tail_fraction).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.plot(self.means, self.tails, "-", color="0.7", zorder=1)
        for label, mean, tail in zip(self.labels, self.means, self.tails, strict=True):
            ax.plot(mean, tail, "o", label=label, zorder=2)
        tail = f"CVaR of the {100 * self.tail_fraction:g} % largest losses"
        ax.set(xlabel="mean loss", ylabel=tail)
        ax.legend()
