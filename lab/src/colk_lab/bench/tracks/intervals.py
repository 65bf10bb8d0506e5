"""Intervals: coverage, width and interval score, in a batch and on a stream."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from river import conf, linear_model, preprocessing, tree

from colk import river as colk_river
from colk.conformal import interval_score
from colk_lab.arrays import Array
from colk_lab.bench.capymoa_peers import CapyMoa
from colk_lab.bench.cells import BenchPlan, Cell, CellScore, Measure, Track, cell, guarded, measured
from colk_lab.bench.peers import absence
from colk_lab.bench.peers.intervals import INTERVAL_PEERS
from colk_lab.bench.splits import TEST_SHARE, split
from colk_lab.bench.stream_problems import friedman
from colk_lab.bench.tracks.batch import chosen_sets, told
from colk_lab.data import REGRESSION_SETS
from colk_lab.tasks import Result

__all__ = ["TRACK"]

_COVERAGE = 0.95
_N_TRAIN, _STREAM = 1000, "Friedman stream"
# Sets with enough rows to count the misses of 95 % intervals.
_SETS = {name: each for name, each in REGRESSION_SETS.items() if each.rows >= 500}
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


@guarded
def run_at_rest(problem: str, peer: str, seed: int, n_train: int) -> Result:
    """Measure intervals on a split of a real set."""
    rows = split(problem, seed, n_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = INTERVAL_PEERS[peer].intervals(rows.X, rows.y, rows.X_test, _COVERAGE)
    return _summary(ends, rows.y_test)


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


@guarded
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
    found = list[Cell]()
    n_train = plan.rows(_N_TRAIN)
    for each, seeds in chosen_sets(_SETS, plan):
        if plan.final and each.part != "final" and not plan.quick:
            continue
        for name, peer in INTERVAL_PEERS.items():
            share = min(n_train, each.rows) / 1000.0 * (0.5 + each.features / 20.0)
            seconds = 0.05 + peer.seconds * share
            found += [
                cell(run_at_rest, each.name, name, s, seconds, peer.uses_package, n_train=n_train)
                for s in seeds
            ]
    size = plan.rows(_FRIED)
    return found + [
        cell(run_on_stream, _STREAM, peer, seed, _COST[peer] * size, size=size)
        for peer in ON_STREAM
        for seed in plan.seeds[:1]
    ]


def fried(scores: Sequence[CellScore]) -> list[str]:
    """Compare with the intervals that CapyMOA published for the Fried data."""
    told = "CapyMOA published intervals on the Fried data: AdaPI covers 96.25 of 100 targets with "
    told += "a width of 27.4 % of the range, and MVE covers 97.4 with 29.6 %. "
    here = {s.peer: s.values for s in scores if s.problem == _STREAM and s.values}
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
        **{name: told(each) for name, each in _SETS.items()},
        _STREAM: "The noise alone needs a width of 12.3 % of the range. The Fried data, "
        "for which CapyMOA published intervals, come from the same function.",
    },
    remarks=fried,
    parts={name: each.part for name, each in _SETS.items()},
    chosen={name: each.chosen for name, each in _SETS.items()},
    overlap=TEST_SHARE / (1.0 - TEST_SHARE),
)
