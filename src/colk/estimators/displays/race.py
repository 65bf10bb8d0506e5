"""Display of the kernel race."""

from dataclasses import dataclass
from typing import Any, Self

from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.pipelines import found_by_fit
from colk.selection import Race

__all__ = ["RaceDisplay"]


@dataclass(eq=False)
class RaceDisplay(OneAxesDisplay):
    """The left-out loss of each kernel, with and without a metric, the best at the top.

    Bars are standard errors of the lead over the default.

    Parameters
    ----------
    race : Race
        The result of the race.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import RaceDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = COLKRegressor(kernel="auto", bandwidth="auto").fit(X, np.sin(2.0 * X[:, 0]))
    >>> RaceDisplay.from_estimator(model).race.n_samples
    300
    """

    race: Race

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the race in which a fitted estimator chose its kernel.

        Parameters
        ----------
        estimator : COLKRegressor or COLKClassifier
            A fitted estimator with kernel="auto" or bandwidth="auto", a pipeline that ends in one,
            or a fitted search.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        advice = (
            "set kernel='auto' or bandwidth='auto'; with partial_fit the race runs after the "
            "first 500 samples"
        )
        return cls(found_by_fit(estimator, "race_", advice)).plot(ax)

    def _draw(self, ax: Any) -> None:
        entries = sorted(self.race.entries, key=lambda entry: entry.loss)
        names = [f"{e.name}, {e.metric}" if e.scaled else e.name for e in entries]
        places = range(len(entries))
        ax.errorbar(
            [e.loss for e in entries], places, xerr=[e.error for e in entries], fmt="o", color="C0"
        )
        for entry, style in ((self.race.winner, "*"), (self.race.default, "s")):
            label = "chosen" if style == "*" else "default"
            ax.plot(entry.loss, entries.index(entry), style, ms=12, mfc="none", label=label)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlabel("mean left-out loss ± standard error of the lead over the default")
        ax.legend(fontsize="small")
