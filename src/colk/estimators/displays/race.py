"""Display of the kernel race."""

from dataclasses import dataclass
from typing import Any, Self

from colk.estimators.displays.axes import OneAxesDisplay
from colk.estimators.displays.pipelines import found_by_fit
from colk.selection import Race

__all__ = ["RaceDisplay"]


@dataclass(eq=False)
class RaceDisplay(OneAxesDisplay):
    """Loss against bandwidth, one line per kernel.

    Dashed lines are kernels with one scale per feature. Bandwidths are divided by the standard
    bandwidth of the kernel; dashed lines, by the bandwidth that was found with the scales.

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
        winner, default = self.race.winner, self.race.default
        names = list(dict.fromkeys(entry.name for entry in self.race.entries))
        for scaled, style in ((False, "-"), (True, "--")):
            for color, name in enumerate(names):
                line = [e for e in self.race.entries if (e.name, e.scaled) == (name, scaled)]
                if line:
                    label = name + (", features scaled" if scaled else "")
                    points = [e.factor for e in line], [e.loss for e in line]
                    ax.plot(*points, style, marker=".", color=f"C{color}", label=label)
        ax.plot(default.factor, default.loss, "o", mfc="none", color="k", label="default")
        ax.plot(winner.factor, winner.loss, "*", ms=12, color="k", label="chosen")
        ax.set(
            xscale="log",
            xlabel="bandwidth / standard bandwidth",
            ylabel="mean loss, each sample left out",
        )
        ticks = sorted({entry.factor for entry in self.race.entries})
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        ax.set_xticks([], minor=True)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
