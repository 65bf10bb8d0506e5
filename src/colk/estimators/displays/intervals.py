"""Display of prediction intervals and their coverage."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from colk._extras import needed_for
from colk._validation import Array, check_vector
from colk.estimators.displays.axes import axes_of
from colk.estimators.displays.pipelines import final, unwrapped

__all__ = ["IntervalDisplay"]

_MISSED, _COVERED, _BAND = "C3", "0.65", "C0"


@dataclass(eq=False)
class IntervalDisplay:
    """Prediction intervals with the targets, and the coverage in a moving window.

    Parameters
    ----------
    y : array of shape (n,)
        Targets.
    lower, upper : array of shape (n, k)
        Ends of k intervals per target, the widest first.
    nominal : sequence of k floats
        Nominal coverage of each interval.
    position : array of shape (n,)
        Horizontal position of the targets: the value of a feature, or the time.
    label : str
        Label of the horizontal axis.
    baseline : array of shape (n,), optional
        Values to subtract in the plot, usually the predictions of a stream.

    Attributes
    ----------
    coverage : array of shape (k,)
        Share of targets inside the intervals.
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.
    coverage_ax_ : matplotlib axes or None
        Axes of the coverage; None if `plot` was given axes.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLK, ConformalRegressor
    >>> from colk.estimators import IntervalDisplay
    >>> from colk.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.2 * rng.normal(size=1000)
    >>> model = ConformalRegressor(COLK(Gaussian(0.2)))
    >>> display = IntervalDisplay.from_stream(model, X, y, coverage=0.8)
    >>> display.coverage.round(2)
    array([0.8])
    """

    y: Array
    lower: Array
    upper: Array
    nominal: Sequence[float]
    position: Array
    label: str = "samples"
    baseline: Array | None = None

    def __post_init__(self) -> None:
        self.y = check_vector(self.y, None, "y")
        n, k = len(self.y), len(self.nominal)
        self.lower = np.asarray(self.lower, dtype=np.float64).reshape(n, k)
        self.upper = np.asarray(self.upper, dtype=np.float64).reshape(n, k)

    @property
    def covered(self) -> Array:
        """1 where a target lies in its interval, else 0, of shape (n, k)."""
        y = self.y[:, None]
        return np.asarray((self.lower <= y) & (y <= self.upper), dtype=np.float64)

    @property
    def coverage(self) -> Array:
        """Share of targets inside the intervals, of shape (k,)."""
        return np.asarray(self.covered.mean(axis=0))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        coverage: float = 0.9,
        feature: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the intervals of a fitted model at samples.

        Parameters
        ----------
        estimator : estimator
            A fitted `ConformalRegressor`, a model that predicts one column for each of its
            `quantiles`, or a pipeline that ends in such a model. The first and the last quantile
            form one interval, the second and the last but one form another, and so on.
        X : array of shape (n, p)
            Points.
        y : array of shape (n,)
            Targets.
        coverage : float
            Nominal coverage; ignored for a model with quantiles.
        feature : int, optional
            The feature on the horizontal axis. Default: the only one; with several features the
            samples are sorted by prediction.
        ax : matplotlib axes, optional
            Axes to draw the intervals on. Default: a new figure that shows coverage as well.
        """
        lower, upper, nominal = _ends(unwrapped(estimator), X, coverage)
        table = np.asarray(X, dtype=np.float64)
        if feature is None and table.shape[1] == 1:
            feature = 0
        if feature is None:
            position: Array = np.empty(len(lower))
            position[np.argsort(lower[:, -1] + upper[:, -1])] = np.arange(len(lower))
            label = "samples, sorted by prediction"
        else:
            names = list(getattr(X, "columns", []))
            label = str(names[feature]) if names else f"feature {feature}"
            position = table[:, feature]
        return cls(np.asarray(y), lower, upper, nominal, position, label).plot(ax)

    @classmethod
    def from_stream(
        cls, model: Any, X: Any, y: ArrayLike, *, coverage: float = 0.9, ax: Any = None
    ) -> Self:
        """Run a copy of the model over a stream and draw its intervals from before learning.

        The plot shows targets and intervals minus the predictions.

        Parameters
        ----------
        model : ConformalRegressor
            The model; it is not changed.
        X : array of shape (n, p)
            The stream.
        y : array of shape (n,)
            The targets.
        coverage : float
            Nominal coverage.
        ax : matplotlib axes, optional
            Axes to draw the intervals on. Default: a new figure that shows coverage as well.
        """
        model, targets, points = copy.deepcopy(model), np.asarray(y), np.asarray(X)
        ends, middle = np.empty((len(targets), 2)), np.array(targets, dtype=np.float64)
        for i in range(len(targets)):
            point = points[i : i + 1]
            ends[i] = model.predict_interval(point, coverage)[0]
            if np.isfinite(ends[i]).all():
                middle[i] = model.predict(point).mean()
            model.learn(point, targets[i : i + 1])
        time = np.arange(len(targets), dtype=np.float64)
        display = cls(targets, ends[:, :1], ends[:, 1:], (coverage,), time, baseline=middle)
        return display.plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        coverage: float = 0.9,
        position: ArrayLike | None = None,
        label: str = "samples",
        ax: Any = None,
    ) -> Self:
        """Draw given intervals.

        Parameters
        ----------
        y, lower, upper : array of shape (n,)
            Targets and the ends of their intervals.
        coverage : float
            Nominal coverage.
        position : array of shape (n,), optional
            Horizontal positions. Default: 0, 1, 2, …
        label : str
            Label of the horizontal axis.
        ax : matplotlib axes, optional
            Axes to draw the intervals on. Default: a new figure that shows coverage as well.
        """
        targets = np.asarray(y, dtype=np.float64)
        places = np.arange(len(targets)) if position is None else position
        places = check_vector(places, len(targets), "position")
        return cls(targets, np.asarray(lower), np.asarray(upper), (coverage,), places, label).plot(
            ax
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the intervals; a new figure also shows the coverage below them.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw the intervals on. Default: a new figure that shows coverage as well.
        """
        self.ax_, self.coverage_ax_ = ax, None
        if ax is None:
            with needed_for("a display", extra="plot"):
                import matplotlib.pyplot as plt
            _, (self.ax_, self.coverage_ax_) = plt.subplots(
                2, 1, sharex=True, height_ratios=(3, 1), layout="constrained"
            )
        self.figure_ = self.ax_.figure
        order = np.argsort(self.position, kind="stable")
        self._plot_intervals(order)
        if self.coverage_ax_ is not None:
            self._plot_coverage(self.coverage_ax_, order)
        (self.ax_ if self.coverage_ax_ is None else self.coverage_ax_).set_xlabel(self.label)
        return self

    def plot_widths(self, ax: Any = None, n_groups: int = 10) -> Any:
        """Draw the width against the difficulty, for the widest intervals; return the axes.

        The samples are grouped by width. In each group the half width is drawn against the quantile
        of the distances from the middle, at the level of the nominal coverage. On the diagonal the
        group is covered as promised; below it, intervals are too narrow.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        n_groups : int
            Number of groups of equal size.
        """
        axes, half = axes_of(ax), 0.5 * (self.upper[:, 0] - self.lower[:, 0])
        finite = np.flatnonzero(np.isfinite(half))
        order = finite[np.argsort(half[finite], kind="stable")]
        apart = np.zeros(len(half))
        apart[finite] = np.abs(self.y[finite] - self.lower[finite, 0] - half[finite])
        groups = np.array_split(order, n_groups)
        found = np.array(
            [[np.quantile(apart[g], self.nominal[0]), half[g].mean()] for g in groups if len(g)]
        )
        axes.plot(found[:, 0], found[:, 1], "o", color=_BAND)
        axes.plot([0.0, found.max()], [0.0, found.max()], "k--", lw=1)
        axes.set(
            xlabel=f"{100 * self.nominal[0]:g} % quantile of |y − middle|", ylabel="half width"
        )
        return axes

    def _plot_intervals(self, order: Any) -> None:
        ax, n = self.ax_, len(self.y)
        base = np.zeros(n) if self.baseline is None else self.baseline
        y, inside = self.y - base, self.covered[:, 0] > 0.0
        size, dense = (4.0, False) if n <= 2000 else (1.5, True)
        for mask, color, layer in ((inside, _COVERED, 1.0), (~inside, _MISSED, 2.0)):
            ax.plot(
                self.position[mask], y[mask], ".", ms=size, color=color, zorder=layer,
                rasterized=dense,
            )  # fmt: skip
        margin = 0.1 * (np.ptp(y) or 1.0)
        limits = (y.min() - margin, y.max() + margin)
        for k, (nominal, found) in enumerate(zip(self.nominal, self.coverage, strict=True)):
            # Infinite ends reach the edges of the plot.
            low, high = (
                np.clip((ends[:, k] - base)[order], *limits) for ends in (self.lower, self.upper)
            )
            ax.fill_between(
                self.position[order], low, high, color=_BAND, alpha=0.3 + 0.2 * min(k, 2), lw=0.5,
                zorder=1.5, label=f"{100 * nominal:g} % interval: {100 * found:.1f} % covered",
            )  # fmt: skip
        ax.set(ylim=limits, ylabel="y" if self.baseline is None else "y − prediction")
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)

    def _plot_coverage(self, ax: Any, order: Any) -> None:
        """Plot the coverage in a moving window of neighbouring samples."""
        x, n = self.position[order], len(self.y)
        width = max(n // 40, min(n, 100))
        for k, nominal in enumerate(self.nominal):
            sums = np.concatenate([[0.0], np.cumsum(self.covered[order, k])])
            share = (sums[width:] - sums[:-width]) / width
            middle = x[(width - 1) // 2 : (width - 1) // 2 + len(share)]
            ax.plot(middle, share, color=_BAND, lw=1, alpha=1.0 / (k + 1))
            ax.axhline(nominal, color="k", ls="--", lw=1)
        ax.set(ylabel="coverage", ylim=(max(0.0, 2.0 * min(self.nominal) - 1.05), 1.02))
        ax.set_title(f"of {width} neighbouring samples", loc="right", fontsize="small")


def _ends(estimator: Any, X: Any, coverage: float) -> tuple[Array, Array, tuple[float, ...]]:
    """Return lower and upper ends of shape (n, k), widest first, and the nominal coverages."""
    if hasattr(estimator, "predict_interval"):
        ends = estimator.predict_interval(X, coverage)
        return ends[:, :1], ends[:, 1:], (coverage,)
    levels = np.asarray(getattr(final(estimator), "quantiles", ()), dtype=np.float64)
    if len(levels) < 2:
        raise TypeError(
            f"{type(estimator).__name__} has no intervals: it needs predict_interval, as "
            "ConformalRegressor has, or at least two quantiles"
        )
    columns = np.asarray(estimator.predict(X))[:, np.argsort(levels)]
    levels, k = np.sort(levels), len(levels) // 2
    nominal = tuple(round(float(levels[-1 - j] - levels[j]), 10) for j in range(k))
    return columns[:, :k], columns[:, : -1 - k : -1], nominal
