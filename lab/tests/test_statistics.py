"""Confidence intervals have their nominal coverage."""

import numpy as np
import pytest

from colk_lab.statistics import mean_interval, slope_interval, spread_ratio


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def _coverage(intervals, truth):
    return np.mean([found.low <= truth <= found.high for found in intervals])


def test_mean_interval_covers(rng):
    assert (
        0.93 < _coverage([mean_interval(rng.normal(1.0, 2.0, 8)) for _ in range(1000)], 1.0) < 0.97
    )


def test_spread_ratio_covers_for_correlated_pairs(rng):
    found = []
    for _ in range(1000):
        common = rng.normal(size=12)
        found.append(
            spread_ratio(common + rng.normal(size=12), 2.0 * (common + rng.normal(size=12)))
        )
    assert 0.93 < _coverage(found, 0.5) < 0.97


def test_slope_interval_of_one_run_covers(rng):
    x = np.geomspace(1.0, 100.0, 9)
    found = [slope_interval(x, 3.0 * x**-0.5 * np.exp(rng.normal(0, 0.1, 9))) for _ in range(1000)]
    assert 0.93 < _coverage(found, -0.5) < 0.97
