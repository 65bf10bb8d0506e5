"""The default rule: its guarantee on every sequence, and how soon it follows changes."""

import math
import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk import ConformalRegressor
from colk.conformal import AdaptiveInterval, TrackedInterval, interval_score
from colk.conformal.tails import RecentValues

STREAMS = st.lists(
    st.one_of(
        st.floats(-1e6, 1e6),
        st.sampled_from([0.0, 1.0, -1.0, 1e3]),  # ties, and jumps
    ),
    min_size=50,
    max_size=300,
)


def limit(distance, size=1):
    """The bound on the misses beyond an end, minus Tα/2, that the docstring states."""
    excess = 10.0 / 3.0 * math.asinh(10.0 * distance)
    return excess + size if size <= 25 else (excess + 25.0) * size / 25.0


def walk(interval, residuals, coverage, size=1):
    """Samples after the first interval, misses of each end, distance, and ties or cut-offs."""
    seen, missed, distance, cut = 0, np.zeros(2), 0.0, np.zeros(2, dtype=bool)
    for start in range(0, len(residuals) - size + 1, size):
        part = np.asarray(residuals[start : start + size])
        low, high = interval.reach(coverage)
        level = interval._levels[coverage]
        if math.isfinite(low):
            seen += size
            missed += [(part < low).sum(), (part > high).sum()]
            sides = ((level.low, interval._below, -part), (level.high, interval._above, part))
            for tail, recent, values in sides:
                tail.reach(recent)
                mean, unit = tail.distance, tail.unit
                cut |= unit == 0.0
                apart = np.abs(values - mean).max()
                distance = max(distance, apart / unit if unit > 0.0 else math.inf if apart else 0.0)
        interval.update(part.tolist(), part.tolist())
        cut |= [level.low.excess == -10.0, level.high.excess == -10.0]
    return seen, missed, distance, cut


@settings(max_examples=40, deadline=None)
@given(
    residuals=STREAMS, coverage=st.floats(0.5, 0.95), size=st.sampled_from([1, 2, 7, 40]),
)  # fmt: skip
def test_the_guarantee_holds_for_every_sequence(residuals, coverage, size):
    seen, missed, distance, cut = walk(TrackedInterval(), residuals, coverage, size)
    excess = missed - seen * 0.5 * (1.0 - coverage)
    if math.isfinite(distance):
        assert excess.max() <= limit(distance, size) + 1e-6
        assert np.all(cut | (excess >= -limit(distance, size) - 1e-6))


def test_the_guarantee_is_not_empty():
    """A random walk under which the experts alone miss too often: the bound is 5 % there."""
    residuals = np.cumsum(np.random.default_rng(0).standard_t(2.0, size=3000))
    seen, missed, distance, _ = walk(TrackedInterval(), residuals, 0.9)
    assert limit(distance) < 0.02 * seen
    assert np.all(missed <= 0.05 * seen + limit(distance))
    assert missed.sum() / seen == pytest.approx(0.1, abs=0.012)


def test_ties_do_not_wind_up_the_correction():
    """After many exact predictions, the first noise must not meet a wrong correction."""
    interval, rng = TrackedInterval(), np.random.default_rng(0)
    interval.follow(0.9)
    missed = 0
    for t in range(4000):
        value = 0.0 if t < 3000 else rng.normal()
        low, high = interval.reach(0.9)
        missed += t > 3100 and not low <= value <= high
        interval.update([value], [value])
    assert missed / 900 == pytest.approx(0.1, abs=0.03)


def pursue(interval, n, step, coverage=0.9):
    """An adversary who sees the interval and steps beyond its upper end, by `step` units."""
    residuals, ends = [], []
    for t in range(n):
        low, high = interval.reach(coverage)
        ends.append((low, high))
        value = float(t % 7) if math.isinf(high) else high + step * (high - low) + 1e-9
        residuals.append(value)
        interval.update([value], [value])
    return np.array(residuals), np.array(ends)


@pytest.mark.parametrize("rule", ["rises for ever", "alternates", "grows by factors of 1000"])
def test_adversaries_get_their_share_and_no_more(rule):
    """A sequence fixed in advance, but built to mislead trackers of one rate."""
    t = np.arange(4000)
    residuals = {
        "rises for ever": 1.001**t,
        "alternates": np.where(t // 40 % 2, 100.0, 1.0) * np.where(t % 2, 1.0, -1.0),
        "grows by factors of 1000": np.random.default_rng(0).normal(size=4000)
        * 1000.0 ** (t // 500),
    }[rule]
    interval = TrackedInterval()
    seen, missed, _, _ = walk(interval, residuals, 0.9)
    assert interval.observed_coverage(0.9) == pytest.approx(1.0 - missed.sum() / seen, abs=1e-9)
    assert np.all(missed / seen < 0.065)


def test_who_sees_the_interval_must_run_away_exponentially():
    """Beyond the end by its own width each time, he needs residuals that grow without bound."""
    residuals, ends = pursue(TrackedInterval(), 90, step=0.5)
    assert np.isfinite(ends[40:]).all()
    assert np.log10(residuals[-1] / residuals[40]) > 30.0


def test_no_interval_is_infinite_after_30_residuals():
    for coverage in (0.5, 0.9, 0.99, 0.999):
        interval, rng = TrackedInterval(), np.random.default_rng(0)
        for t, value in enumerate(rng.standard_cauchy(size=3000) * 10.0 ** rng.integers(0, 9)):
            assert t < 30 or np.isfinite(interval.reach(coverage)).all()
            interval.update([value], [value])


def test_one_gross_residual_is_forgotten():
    rng, interval = np.random.default_rng(0), TrackedInterval()
    widths = []
    for t, value in enumerate(rng.normal(size=1500)):
        value = 1e8 if t == 500 else value
        widths.append(np.ptp(interval.reach(0.9)))
        interval.update([value], [value])
    assert np.max(widths[530:]) < 2.0 * np.median(widths[300:500])


@pytest.mark.parametrize("gross", [1e3, 1e6])
def test_local_intervals_forget_one_gross_target(gross):
    """The widths 4,000 rows after one gross target are those without it."""

    class Zero:
        quantiles = ()

        def learn(self, X, y):
            pass

        def predict(self, X):
            return np.zeros(len(X))

    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (6000, 1))
    y = (1.2 + X[:, 0]) * rng.normal(size=6000)
    bad = y.copy()
    bad[1000] = gross
    widths = []
    for targets in (y, bad):
        model = ConformalRegressor(Zero(), local=True)
        for start in range(0, 5000, 20):
            model.learn(X[start : start + 20], targets[start : start + 20])
        widths.append(np.ptp(model.predict_interval(X[5000:]), axis=1).mean())
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


CHANGES = {
    "stationary": lambda t, rng: rng.normal(size=len(t)),
    "abrupt": lambda t, rng: rng.normal(size=len(t)) * np.where(t // 700 % 2, 10.0, 1.0),
    "seasonal": lambda t, rng: (1.0 + 0.8 * np.sin(t / 10.0)) * rng.normal(size=len(t)),
    "drifting": lambda t, rng: rng.normal(size=len(t)) * 1.002**t + 0.01 * t,
    "skewed": lambda t, rng: rng.exponential(size=len(t)) - 1.0,
}


@pytest.mark.parametrize("name", CHANGES)
def test_coverage_and_score_where_things_change(name):
    residuals = CHANGES[name](np.arange(3000), np.random.default_rng(5))
    scores = []
    for interval in (TrackedInterval(), AdaptiveInterval()):
        ends = np.empty((3000, 2))
        for t, value in enumerate(residuals.tolist()):
            ends[t] = interval.reach(0.9)
            interval.update([value], [value])
        ends = np.clip(ends, -1e3 * np.abs(residuals).max(), 1e3 * np.abs(residuals).max())
        scores.append(interval_score(residuals[300:], *ends[300:].T, 0.9))
        if len(scores) == 1:
            missed = (residuals < ends[:, 0]) | (residuals > ends[:, 1])
            assert missed[300:].mean() == pytest.approx(0.1, abs=0.015)
    assert scores[0] < (1.05 if name in ("stationary", "skewed") else 0.97) * scores[1]


def test_rounds_judge_the_intervals_that_were_given():
    rng, interval = np.random.default_rng(0), TrackedInterval()
    interval.follow(0.8)
    missed = seen = 0
    for _ in range(60):
        values = rng.normal(size=10)
        low, high = interval.reach(0.8)
        if math.isfinite(low):
            seen, missed = seen + 10, missed + ((values < low) | (values > high)).sum()
        interval.update(values, values)
    assert interval.observed_coverage(0.8) == pytest.approx(1.0 - missed / seen)


def test_views_are_mixed_towards_the_better_one():
    rng, interval = np.random.default_rng(0), TrackedInterval(2)
    for _ in range(600):
        good, bad = 0.1 * rng.normal(), 3.0 * rng.normal()
        interval.update([[good + bad, good]], [[good + bad, good]])
    interval.follow(0.9)
    for _ in range(600):
        good, bad = 0.1 * rng.normal(), 3.0 * rng.normal()
        interval.update([[good + bad, good]], [[good + bad, good]])
    low, high = interval.ends(0.9, np.array([[5.0, 0.0]]), np.array([[5.0, 0.0]]))[0]
    assert -0.5 < low < 0.0 < high < 0.5


def test_calibrated_ends_are_those_of_split_conformal_prediction():
    interval = TrackedInterval()
    interval.follow(0.9)
    interval.calibrate(range(1, 40), range(1, 40))
    assert interval.reach(0.9) == pytest.approx((2.0, 38.0))  # (39 + 1)·0.05 and (39 + 1)·0.95
    assert interval.reach(0.99) == (-math.inf, math.inf)
    interval.calibrate(range(18), range(18))
    assert interval.reach(0.9) == (-math.inf, math.inf)  # a new target may be the largest


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=60))
def test_memories_are_the_sorted_latest_values(values):
    recent = RecentValues((20, 5))
    for value in values:
        recent.add(float(value))
    for memory, size in enumerate((20, 5)):
        assert recent.memory(memory).tolist() == sorted(map(float, values[-size:]))
    assert recent.rows()[:, 0].tolist() == values[-20:]


def test_a_window_limits_all_memories():
    """A file may have any window; compiled code does not check bounds."""
    recent = RecentValues((5, 100, 10))
    for value in range(50):
        recent.add(float(value))
    assert [recent.memory(k).tolist() for k in range(3)] == 3 * [[45.0, 46.0, 47.0, 48.0, 49.0]]


def test_an_empty_memory_has_no_quantile():
    recent = RecentValues((20, 5))
    assert math.isnan(recent.quantile(0, 0, 0.5))
    assert math.isnan(recent.unit(0, 1))


@pytest.mark.parametrize("n", [10, 300, 1500])
def test_a_copy_continues_with_the_same_numbers(n):
    rng, interval = np.random.default_rng(0), TrackedInterval(2)
    interval.follow(0.9)
    for row in rng.normal(size=(n, 1, 2)):
        interval.update(row, row + 0.1)
    copy = pickle.loads(pickle.dumps(interval))
    for row in rng.normal(size=(60, 1, 2)):
        for each in (interval, copy):
            each.update(row, row + 0.1)
        assert interval.reach(0.9) == copy.reach(0.9)


def test_a_hundred_thousand_residuals_calibrate_at_once():
    residuals = np.random.default_rng(0).normal(size=100_000)
    interval, start = TrackedInterval(), time.process_time()
    interval.follow(0.9)
    interval.calibrate(residuals, residuals)
    low, high = interval.reach(0.9)
    assert time.process_time() - start < 1.0
    assert high == pytest.approx(np.quantile(residuals, 0.95, method="weibull"))
    assert low == pytest.approx(np.quantile(residuals, 0.05, method="weibull"))
