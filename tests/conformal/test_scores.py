"""Interval score, CRPS and pinball loss: against their definitions."""

import numpy as np
import pytest
from river import conf
from scipy.stats import norm

from colk.conformal import (
    coverage_by_group,
    infinite_share,
    interval_score,
    longest_miss_run,
    quantile_crps,
    worst_slab_coverage,
)
from colk.river import (
    CRPS,
    InfiniteShare,
    IntervalCoverage,
    IntervalScore,
    LongestMissRun,
    PinballLoss,
)

Y = np.random.default_rng(0).normal(size=200)


def test_the_interval_score_is_least_for_the_quantiles():
    ends = [(low, high) for low in np.linspace(-2.5, 0.0, 26) for high in np.linspace(0.0, 2.5, 26)]
    y = norm.ppf(np.linspace(0.001, 0.999, 999))
    scores = [interval_score(y, np.full(999, a), np.full(999, b), 0.8) for a, b in ends]
    assert ends[int(np.argmin(scores))] == pytest.approx((-1.3, 1.3))  # the deciles are ±1.28


def test_crps_of_the_normal_law():
    levels = np.linspace(0.005, 0.995, 199)
    found = quantile_crps(Y, np.tile(norm.ppf(levels), (200, 1)), levels)
    exact = Y * (2 * norm.cdf(Y) - 1) + 2 * norm.pdf(Y) - 1 / np.sqrt(np.pi)
    assert found == pytest.approx(exact.mean(), rel=0.01)
    weights = np.arange(200.0)
    weighted = quantile_crps(Y, np.tile(norm.ppf(levels), (200, 1)), levels, weights)
    assert weighted == pytest.approx(np.average(exact, weights=weights), rel=0.01)


def test_metrics_are_means_and_can_be_reverted():
    cases = [
        (PinballLoss(0.9), 0.5, 0.45),
        (PinballLoss(0.9), {0.9: 2.0}, 0.1),
        (IntervalScore(0.8), conf.interval.Interval(0.0, 0.5), 0.5 + 10.0 * 0.5),
        (CRPS(), 0.0, 1.0),
        (CRPS(), {0.5: 3.0, 0.1: 0.0}, 2.0 * (0.3 * 0.1 + 0.7 * 1.0)),
    ]
    for metric, predicted, expected in cases:
        metric.update(1.0, predicted)
        assert metric.get() == pytest.approx(expected)
        metric.update(7.0, predicted, w=3.0)
        metric.revert(7.0, predicted, w=3.0)
        assert metric.get() == pytest.approx(expected)
        assert not metric.bigger_is_better


def test_runs_of_misses_are_counted_at_the_edges_too():
    for inside, longest in (([1, 1], 0), ([0, 0, 1], 2), ([1, 0, 0, 0], 3), ([0, 0], 2)):
        y = np.where(np.array(inside) == 1, 0.0, 5.0)
        assert longest_miss_run(y, np.full(len(y), -1.0), np.full(len(y), 1.0)) == longest
        metric = LongestMissRun()
        for target in y:
            metric.update(target, conf.interval.Interval(-1.0, 1.0))
        assert metric.get() == longest
        with pytest.raises(NotImplementedError, match="cannot remove"):
            metric.revert(0.0, conf.interval.Interval(-1.0, 1.0))


def test_either_infinite_end_counts():
    assert infinite_share([-np.inf, 0.0, 0.0, 0.0], [1.0, np.inf, 1.0, 1.0]) == 0.5


def test_coverage_by_group_is_the_mean_in_each_group():
    groups = np.arange(200) % 3
    found = coverage_by_group(Y, np.full(200, -1.0), np.full(200, 1.0), groups)
    for k in range(3):
        assert found[k] == pytest.approx(np.mean(np.abs(Y[groups == k]) <= 1.0))


def test_the_worst_slab_is_found_and_not_too_low_by_chance():
    rng = np.random.default_rng(0)
    X, noise, ends = rng.normal(size=(6000, 3)), rng.normal(size=6000), np.full(6000, 1.645)
    assert worst_slab_coverage(X, noise, -ends, ends) == pytest.approx(0.9, abs=0.06)
    uneven = noise * np.where(X @ [1.0, 1.0, 0.0] > 1.8, 4.0, 1.0)
    assert worst_slab_coverage(X, uneven, -ends, ends) < 0.6


def test_metrics_of_coverage_for_river():
    covered, infinite = IntervalCoverage(), InfiniteShare()
    for low, high in ((0.0, 2.0), (2.0, 3.0), (-np.inf, np.inf), (0.5, 1.5)):
        for metric in (covered, infinite):
            metric.update(1.0, conf.interval.Interval(low, high))
    assert (covered.get(), infinite.get()) == (0.75, 0.25)
