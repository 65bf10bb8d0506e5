"""Adaptive conformal inference: the proven bounds hold for every stream of residuals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk.conformal import AdaptiveInterval

STREAMS = st.lists(
    st.one_of(
        st.floats(-1e6, 1e6),
        st.sampled_from([0.0, 1.0, -1.0, 1e3]),  # ties, and jumps
    ),
    min_size=50,
    max_size=300,
)


def walk(interval, residuals, coverage, size=1):
    """Samples since the first interval, misses, and whether intervals could not become narrower.

    Each interval is given before its round. If residuals are equal, the narrowest one covers all.
    """
    seen, missed, capped = 0, 0, False
    for start in range(0, len(residuals) - size + 1, size):
        part = residuals[start : start + size]
        low, high = interval.reach(coverage)
        if seen or math.isfinite(low):
            seen += len(part)
            missed += sum(not low <= value <= high for value in part)
        interval.update(part, part)
        capped = capped or interval._levels[coverage].aim == 1.0
    return seen, missed, capped


@settings(max_examples=40, deadline=None)
@given(
    residuals=STREAMS,
    coverage=st.floats(0.5, 0.95),
    rate=st.floats(0.005, 0.5),
    window=st.integers(2, 60),
    size=st.sampled_from([1, 2, 7, 40]),
)
def test_misses_are_bounded_whatever_comes(residuals, coverage, rate, window, size):
    interval = AdaptiveInterval(rate, window)
    seen, missed, capped = walk(interval, residuals, coverage, size)
    allowed = 1.0 - coverage
    slowed = rate * min(1.0, 25.0 / size)
    assert missed <= allowed * seen + (allowed + slowed * size) / slowed + 1e-9
    if seen:
        assert interval.observed_coverage(coverage) == pytest.approx(1.0 - missed / seen)
        assert capped or missed >= allowed * seen - 1.0 / slowed - 1e-9


def test_an_adversary_who_always_steps_outside_gets_his_share_and_no_more():
    interval, missed = AdaptiveInterval(0.01, 100), 0
    for t in range(5000):
        high = interval.reach(0.9)[1]
        target = float(t) if math.isinf(high) else high + 1.0
        missed += target > high
        interval.update([target], [target])
    assert missed / 5000 == pytest.approx(0.1, abs=0.003)


def test_the_reach_is_that_of_the_recent_residuals_at_first():
    interval = AdaptiveInterval(rate=1e-9, window=400)
    residuals = np.random.default_rng(0).exponential(size=1000)
    for value in residuals.tolist():
        interval.update([value], [value + 1.0])
    low, high = interval.reach(0.8)
    assert low == pytest.approx(np.quantile(residuals[-400:], 0.1, method="weibull"), rel=1e-6)
    quantile = np.quantile(residuals[-400:], 0.9, method="weibull")  # of rank (n + 1)·0.9
    assert high == pytest.approx(quantile + 1.0, rel=1e-6)


def test_levels_are_steered_one_by_one_and_nested_where_nothing_moves():
    interval = AdaptiveInterval(0.01, 300)
    for value in np.random.default_rng(0).normal(size=3000).tolist():
        reaches = [interval.reach(coverage) for coverage in (0.5, 0.8, 0.95)]
        interval.update([value], [value])
    assert reaches[2][0] < reaches[1][0] < reaches[0][0] < 0.0 < reaches[0][1] < reaches[1][1]
    for coverage in (0.5, 0.8, 0.95):
        assert interval.observed_coverage(coverage) == pytest.approx(coverage, abs=0.01)
    assert math.isnan(interval.observed_coverage(0.3))


def test_exact_predictions_have_intervals_without_width():
    interval = AdaptiveInterval(0.05, 50)
    for _ in range(2000):
        interval.update([0.0], [0.0])
        assert interval.reach(0.9) in ((0.0, 0.0), (-math.inf, math.inf))
    assert interval.observed_coverage(0.9) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AdaptiveInterval(rate=0.0), "rate"),
        (lambda: AdaptiveInterval(window=0), "window"),
        (lambda: AdaptiveInterval().reach(1.0), "coverage must lie between 0 and 1, got 1.0"),
        (lambda: AdaptiveInterval().reach(90), "coverage must lie between 0 and 1, got 90"),
        (lambda: AdaptiveInterval().follow(0.0), "coverage must be finite and greater than 0"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("size", "counted"), [(1, 1), (10, 10), (25, 25), (26, 25), (100, 25)])
def test_a_round_counts_as_25_targets_at_most(size, counted):
    """α moves by rate · (α − 1) for each of the targets that count, if all are missed."""
    interval = AdaptiveInterval(rate=0.001, window=1000)
    interval.follow(0.9)
    for residual in np.linspace(-1.0, 1.0, 101):
        interval.update([residual], [residual])
    before = interval._levels[0.9].aim
    interval.update([9.0] * size, [9.0] * size)
    moved = interval._levels[0.9].aim - before
    np.testing.assert_allclose(moved, -0.001 * 0.9 * counted, rtol=1e-9)
