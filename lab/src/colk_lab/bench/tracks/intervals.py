"""Intervals: coverage, width and interval score, in a batch and on a stream."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from river import conf, linear_model, preprocessing, tree
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk import river as colk_river
from colk.conformal import interval_score
from colk.estimators import COLKQuantileRegressor
from colk_lab.arrays import Array
from colk_lab.bench.capymoa_peers import CapyMoa
from colk_lab.bench.cells import BenchPlan, Cell, CellScore, Measure, Track, cell, measured
from colk_lab.bench.peers import absence
from colk_lab.bench.stream_problems import friedman
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_COVERAGE = 0.95
_N_TRAIN, _N_TEST = 2000, 4000
_ADAPI = "AdaPI of CapyMOA"
# Size of the Fried data, on which intervals on streams have been published.
_FRIED = 40_768


def _summary(ends: Array, y: Array) -> Result:
    """Return interval score, coverage, mean width and the number of infinite intervals.

    Score and width are in percent of the range of y. Infinite ends are replaced by the ends of this
    range, because the mean of the widths would otherwise be infinite.
    """
    finite = np.isfinite(ends)
    low, high = np.where(finite, ends, [y.min(), y.max()]).T
    covered = (low <= y) & (y <= high)
    return measured(
        interval_score=100.0 * interval_score(y, low, high, _COVERAGE) / np.ptp(y),
        coverage=100.0 * covered.mean(),
        width=100.0 * (high - low).mean() / np.ptp(y),
        infinite=1e4 * (~finite).any(axis=1).mean(),
    )


class QuantilePair:
    """Two models of scikit-learn's gradient boosting, one for each end."""

    def fit(self, X: Array, y: Array) -> "QuantilePair":
        """Fit both models."""
        tail = 0.5 * (1.0 - _COVERAGE)
        self.models = [
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=0).fit(X, y)
            for level in (tail, 1.0 - tail)
        ]
        return self

    def predict_interval(self, X: Array) -> Array:
        """Return the ends of the intervals, of shape (n, 2)."""
        return np.column_stack([model.predict(X) for model in self.models])


class MapieSplit:
    """MAPIE's split conformal intervals around gradient boosting."""

    def fit(self, X: Array, y: Array) -> "MapieSplit":
        """Fit the model to four fifths of the rows, and calibrate the intervals on the others."""
        from mapie.regression import SplitConformalRegressor

        n = int(0.8 * len(X))
        model = HistGradientBoostingRegressor(random_state=0).fit(X[:n], y[:n])
        self.model = SplitConformalRegressor(model, confidence_level=_COVERAGE, prefit=True)
        self.model.conformalize(X[n:], y[n:])
        return self

    def predict_interval(self, X: Array) -> Array:
        """Return the ends of the intervals, of shape (n, 2)."""
        ends: Array = self.model.predict_interval(X)[1][:, :, 0]
        return ends


class ColkQuantiles:
    """colk's quantile regression."""

    def fit(self, X: Array, y: Array) -> "ColkQuantiles":
        """Fit the two quantiles."""
        tail = 0.5 * (1.0 - _COVERAGE)
        model = COLKQuantileRegressor(quantiles=(tail, 1.0 - tail), random_state=0)
        self.model = make_pipeline(StandardScaler(), model).fit(X, y)
        return self

    def predict_interval(self, X: Array) -> Array:
        """Return the ends of the intervals, of shape (n, 2)."""
        ends: Array = self.model.predict(X)
        return ends


AT_REST: dict[str, Callable[[], Any]] = {
    "colk": ColkQuantiles,
    "HistGradientBoosting, two quantiles": QuantilePair,
    **({"MAPIE around HistGradientBoosting": MapieSplit} if find_spec("mapie") else {}),
}


def _growing(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    spread = 0.1 + 0.5 * (X[:, 0] + 1.0)
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + spread * rng.normal(size=n)


def run_at_rest(problem: str, peer: str, seed: int) -> Result:
    """Measure intervals for noise that grows along a feature."""
    X, y = _growing(_N_TRAIN + _N_TEST, np.random.default_rng([seed, 11]))
    model = AT_REST[peer]().fit(X[:_N_TRAIN], y[:_N_TRAIN])
    return _summary(model.predict_interval(X[_N_TRAIN:]), y[_N_TRAIN:])


def _scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


class RiverIntervals:
    """River's conformal intervals from residuals."""

    def __init__(self, model: Any) -> None:
        self.model = conf.RegressionJackknife(_scaled(model), confidence_level=_COVERAGE)

    def interval(self, x: Any) -> tuple[float, float]:
        """Return the ends of the interval of a sample."""
        found = self.model.predict_one(x, with_interval=True)
        return found.lower, found.upper

    def learn(self, x: Any, y: float) -> None:
        """Learn a sample."""
        self.model.learn_one(x, y)


class ColkIntervals:
    """colk's adaptive conformal intervals around colk."""

    def __init__(self) -> None:
        model = _scaled(colk_river.COLKRegressor())
        self.model = colk_river.ConformalRegressor(model, coverage=_COVERAGE)

    def interval(self, x: Any) -> tuple[float, float]:
        """Return the ends of the interval of a sample."""
        found = self.model.predict_interval(x)
        return found.lower, found.upper

    def learn(self, x: Any, y: float) -> None:
        """Learn a sample."""
        self.model.learn_one(x, y)


class AdaptiveIntervals:
    """CapyMOA's adaptive prediction intervals, at the settings of its published example."""

    def __init__(self) -> None:
        self.model = CapyMoa(self._make, is_classifier=False)

    @staticmethod
    def _make(schema: Any) -> Any:
        from capymoa.regressor import SOKNL
        from capymoa.uncertainty import AdaPI

        trees = SOKNL(schema, random_seed=1, ensemble_size=10)
        return AdaPI(schema, base_learner=trees, confidence_level=_COVERAGE, limit=0.001)

    def interval(self, x: Any) -> tuple[float, float]:
        """Return the ends of the interval of a sample."""
        found = self.model.predict_raw(x)
        return float(found[0]), float(found[-1])

    def learn(self, x: Any, y: float) -> None:
        """Learn a sample."""
        self.model.learn_one(x, y)


ON_STREAM: dict[str, Callable[[], Any]] = {
    "colk": ColkIntervals,
    "linear + jackknife": lambda: RiverIntervals(linear_model.LinearRegression()),
    "HoeffdingAdaptiveTree + jackknife": lambda: RiverIntervals(
        tree.HoeffdingAdaptiveTreeRegressor(seed=1)
    ),
    **({} if absence("capymoa") else {_ADAPI: AdaptiveIntervals}),
}


def run_on_stream(problem: str, peer: str, seed: int, size: int) -> Result:
    """Measure the intervals of samples before they are learned, without the first 500 samples."""
    model, ends, targets = ON_STREAM[peer](), [], []
    for x, y in friedman(size, seed):
        ends.append(model.interval(x))
        targets.append(y)
        model.learn(x, y)
    return _summary(np.array(ends)[500:], np.array(targets)[500:])


# Approximate processor seconds per sample.
_COST = {
    "colk": 1.5e-4,
    "linear + jackknife": 4e-5,
    "HoeffdingAdaptiveTree + jackknife": 3e-4,
    _ADAPI: 5e-4,
}


def _cells(plan: BenchPlan) -> list[Cell]:
    rest = [
        cell(run_at_rest, "growing noise", peer, seed, 0.6)
        for peer in AT_REST
        for seed in plan.seeds
    ]
    size = plan.rows(_FRIED)
    return rest + [
        cell(run_on_stream, "Friedman stream", peer, seed, _COST[peer] * size, size=size)
        for peer in ON_STREAM
        for seed in plan.seeds[:1]
    ]


def fried(scores: Sequence[CellScore]) -> list[str]:
    """Compare with the intervals that CapyMOA published for the Fried data."""
    told = "CapyMOA published intervals on the Fried data: AdaPI covers 96.25 of 100 targets with "
    told += "a width of 27.4 % of the range, and MVE covers 97.4 with 29.6 %. "
    here = {s.peer: s.values for s in scores if s.problem == "Friedman stream"}
    for peer, name in {"colk": "colk", _ADAPI: "AdaPI, with the published settings,"}.items():
        if peer in here:
            told += f"In this run, on as many samples of the same function, {name} covers "
            told += f"{here[peer]['coverage']:.1f} with {here[peer]['width']:.1f} %. "
    if _ADAPI not in here:
        return [told + f"AdaPI itself was not run, because {absence('capymoa')}."]
    return [
        told + "The samples are drawn by this package, and CapyMOA has changed since: an earlier "
        "edition of its page has 96.15 with 28.5 % for the same settings."
    ]


TRACK = Track(
    "intervals",
    "Intervals of 95 %",
    "Do the intervals contain 95 of 100 targets, and how wide are they?",
    (
        Measure(
            "interval score",
            "Width plus 40 times the distance of missed targets, in % of the range.",
        ),
        Measure("coverage", "Targets per 100 inside their interval.", better="aim", aim=95.0),
        Measure("width", "Mean width, in % of the range of the targets."),
        Measure(
            "infinite",
            "Intervals per 10,000 with an infinite end; in the other measures, the range of the "
            "targets replaces it.",
        ),
    ),
    _cells,
    {
        "Friedman stream": "The noise alone needs a width of 12.3 % of the range. The Fried data, "
        "for which CapyMOA published intervals, come from the same function."
    },
    remarks=fried,
)
