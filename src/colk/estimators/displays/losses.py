"""Display of the distribution of the loss."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from colk._validation import Array, check_fraction
from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.pipelines import final, prepared, unwrapped

__all__ = ["LossDistributionDisplay", "losses_of", "tail_mean"]


def tail_mean(losses: Array, tail_fraction: float) -> float:
    """Return CVaR: the mean of the share `tail_fraction` of the losses that are largest.

    Examples
    --------
    >>> import numpy as np
    >>> tail_mean(np.array([0.0, 1.0, 2.0, 3.0]), 0.5)
    2.5
    """
    size = tail_fraction * len(losses)
    largest = np.sort(losses)[::-1]
    shares = np.clip(size - np.arange(len(losses)), 0.0, 1.0)
    return float(largest @ shares / size)


def losses_of(estimator: Any, X: Any, y: Any) -> Array:
    """Return the losses of samples under a fitted estimator or pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> losses_of(COLKRegressor().fit(X, X[:, 0]), X, X[:, 0]).shape
    (50,)
    """
    losses: Array = final(estimator)._losses(prepared(estimator, X), y)
    return losses


@dataclass(eq=False)
class LossDistributionDisplay(OneAxesDisplay):
    """Histogram of the losses with mean, quantile and CVaR.

    Parameters
    ----------
    losses : array of shape (n,)
        Losses of the samples.
    tail_fraction : float
        Share of the losses, the largest ones, that CVaR averages; `quantile` is where they begin.

    Attributes
    ----------
    mean, quantile, cvar : float
        The marked values.
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import LossDistributionDisplay
    >>> X = np.random.default_rng(0).random((500, 1))
    >>> model = COLKRegressor(random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> display = LossDistributionDisplay.from_estimator(model, X, np.sin(6 * X[:, 0]))
    >>> display.mean < display.quantile < display.cvar
    True
    """

    losses: Array
    tail_fraction: float = 0.05

    def __post_init__(self) -> None:
        check_fraction(self.tail_fraction, "tail_fraction")
        self.mean = float(self.losses.mean())
        self.quantile = float(np.quantile(self.losses, 1.0 - self.tail_fraction))
        self.cvar = tail_mean(self.losses, self.tail_fraction)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        tail_fraction: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Compute the losses of a fitted estimator and draw their histogram.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            A fitted estimator, a pipeline that ends in one, or a fitted search.
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        tail_fraction : float
            Share of the losses, the largest ones, that CVaR averages.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        return cls(losses_of(unwrapped(estimator), X, y), tail_fraction).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.hist(self.losses, bins=60, color="0.8")
        level = f"{100 * (1 - self.tail_fraction):g} %"
        for name, value, color in (
            ("mean", self.mean, "C0"),
            (f"{level} quantile", self.quantile, "C1"),
            (f"CVaR of the {100 * self.tail_fraction:g} % largest", self.cvar, "C3"),
        ):
            ax.axvline(value, color=color, lw=2, label=f"{name}: {value:.3g}")
        ax.set(xlabel="loss", ylabel="samples", yscale="log")
        ax.legend()
