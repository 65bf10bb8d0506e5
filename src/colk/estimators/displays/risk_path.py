"""Display of the path from the mean to a risk."""

from dataclasses import dataclass
from typing import Any, Self

from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.pipelines import found_by_fit
from colk.rkhs.polishing import RiskPath

__all__ = ["RiskPathDisplay"]


@dataclass(eq=False)
class RiskPathDisplay(OneAxesDisplay):
    """Held-out risk against the share of the risk, one line per λ.

    Share 0 is the mean, share 1 the risk that the user set. A bar is the standard error of the
    difference from the model of the mean, whose held-out risk is the dashed line.

    Parameters
    ----------
    path : RiskPath
        The points between the mean and the risk that `fit` tried.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import RiskPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(500, 1))
    >>> y = np.sin(3.0 * X[:, 0]) + rng.exponential(size=500)
    >>> model = COLKRegressor(kernel="gaussian", risk="cvar", random_state=0).fit(X, y)
    >>> RiskPathDisplay.from_estimator(model).path.chosen.share
    1.0
    """

    path: RiskPath

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted estimator.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            An estimator that was fitted under a risk other than the mean, a pipeline that ends in
            one, or a fitted search.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        advice = "call fit under a risk other than the mean, with polish=True and risk_path=True"
        return cls(found_by_fit(estimator, "risk_path_", advice)).plot(ax)

    def _draw(self, ax: Any) -> None:
        points, chosen = self.path.points, self.path.chosen
        factors = list(dict.fromkeys(point.factor for point in points))
        for place, factor in enumerate(factors):
            line = [point for point in points if point.factor == factor]
            aside = 0.01 * (place - 0.5 * (len(factors) - 1))  # keeps the bars apart
            ax.errorbar(
                [point.share + aside for point in line],
                [point.held_out for point in line],
                [point.error for point in line],
                marker=".",
                capsize=2,
                color=f"C{place}",
                label="λ of the mean" if factor == 1.0 else f"{factor:g} λ",
            )
            if chosen.factor == factor:
                star = (chosen.share + aside, chosen.held_out)
                ax.plot(*star, "*", ms=12, color="k", label="chosen", zorder=3)
        ax.axhline(points[0].held_out, ls="--", lw=1.0, color="k", label="model of the mean")
        ax.set(xlabel="share of the risk", ylabel=f"{type(self.path.risk).__name__}, held out")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
