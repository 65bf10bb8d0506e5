"""Confidence intervals have their nominal coverage."""

import numpy as np
import pytest

from colk_lab.statistics import mean_interval, slope_interval, spread_change


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def _coverage(intervals, truth):
    return np.mean([found.low <= truth <= found.high for found in intervals])


def test_mean_interval_covers(rng):
    assert (
        0.93 < _coverage([mean_interval(rng.normal(1.0, 2.0, 8)) for _ in range(1000)], 1.0) < 0.97
    )


@pytest.mark.parametrize("spread", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("runs", [8, 20])
def test_spread_change_covers_for_skewed_pairs(rng, spread, runs):
    """Errors are skewed. Pitman and Morgan's interval covers .93, .73 and .52 here for 20 runs."""
    found = []
    for _ in range(400):
        first, own = rng.normal(size=(2, runs))
        second = 0.6 * first + 0.8 * own
        found.append(spread_change(np.exp(spread * first), 2.0 * np.exp(spread * second)))
    assert 0.92 < _coverage(found, -50.0) < 0.98


@pytest.mark.parametrize(("kind", "least"), [("normal", 0.92), ("gamma", 0.90)])
def test_spread_change_covers_for_other_laws(rng, kind, least):
    """Normal errors with a tenth of their mean as spread, and exponential errors."""
    shape = (400, 2, 20)
    errors = 1.0 + 0.1 * rng.normal(size=shape) if kind == "normal" else rng.gamma(1.0, size=shape)
    found = [spread_change(first, 2.0 * second) for first, second in errors]
    assert least < _coverage(found, -50.0) < 0.98


def test_slope_interval_of_one_run_covers(rng):
    x = np.geomspace(1.0, 100.0, 9)
    found = [slope_interval(x, 3.0 * x**-0.5 * np.exp(rng.normal(0, 0.1, 9))) for _ in range(1000)]
    assert 0.93 < _coverage(found, -0.5) < 0.97
