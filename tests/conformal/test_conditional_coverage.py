"""Batch calibration with widths that depend on x: coverage under reweightings, groups, shifts."""

import time

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

import colk
from colk import COLKRegressor, ConformalRegressor


def zero():
    """A fitted model that predicts 0 and learns nothing."""
    return DummyRegressor(strategy="constant", constant=0.0).fit(np.zeros((1, 1)), [0.0])


def samples(seed, n):
    """Noise that grows with the first feature, and is three times larger in one of two groups."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1.0, 1.0, size=(n, 2)), rng.integers(0, 2, size=n)])
    spread = (1.2 + X[:, 0]) * np.where(X[:, 2] > 0.0, 3.0, 1.0)
    return X, spread * rng.normal(size=n)


def covered(model, X, y):
    low, high = model.predict_interval(X).T
    return (low <= y) & (y <= high)


def calibrated(local, n=4000):
    return ConformalRegressor(zero(), local=local).calibrate(*samples(0, n))


def test_reweighted_by_functions_of_the_space_the_coverage_is_nominal():
    """Weights κ(c, x) about any centre c, a special case of which is a shift of x."""
    X, y = samples(1, 40_000)
    worst = {}
    for local in (False, True):
        inside, found = covered(calibrated(local), X, y), []
        for centre in X[:20]:
            weight = np.exp(-2.0 * np.abs(X - centre).sum(axis=1))
            found.append(np.average(inside, weights=weight))
        worst[local] = np.abs(np.array(found) - 0.9).max()
    assert worst[True] < 0.04 < 0.1 < worst[False]


def test_groups_that_are_features_are_covered():
    X, y = samples(1, 40_000)
    inside = covered(calibrated(True), X, y)
    for group in (0.0, 1.0):
        assert inside[X[:, 2] == group].mean() == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("n", [25, 60, 300, 1500])
def test_the_marginal_coverage_is_nominal_for_any_number_of_samples(n):
    rates = []
    for seed in range(8):
        model = ConformalRegressor(zero(), local=True).calibrate(*samples(seed, n))
        rates.append(covered(model, *samples(100 + seed, 4000)).mean())
    assert np.mean(rates) == pytest.approx(0.9, abs=0.035 if n < 100 else 0.02)


def test_many_samples_calibrate_in_seconds():
    X, y = samples(0, 30_000)
    model, start = ConformalRegressor(zero(), local=True), time.process_time()
    model.calibrate(X, y)
    assert time.process_time() - start < 6.0


def test_without_noise_in_x_little_is_lost():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.normal(size=600)
    wide, local = (
        ConformalRegressor(zero(), local=local).calibrate(X, y) for local in (False, True)
    )
    new = rng.normal(size=(4000, 4))
    width = {m: np.ptp(m.predict_interval(new), axis=1).mean() for m in (wide, local)}
    assert width[local] < 1.06 * width[wide]


def test_learning_continues_from_the_calibration():
    """After a change of the noise, the widths follow it."""
    model = calibrated(True)
    X, y = samples(2, 6000)
    far = np.abs(X[:, 0] - 0.8) < 0.15
    before = np.ptp(model.predict_interval(X[far]), axis=1).mean()
    changed = y * np.where(X[:, 0] > 0.0, 0.05, 1.0)
    for start in range(0, 6000, 50):
        rows = slice(start, start + 50)
        model.learn(X[rows], changed[rows])
    after = np.ptp(model.predict_interval(X[far]), axis=1).mean()
    assert after < 0.3 * before


def test_gaps_and_files(tmp_path):
    X, y = samples(0, 500)
    X[::7, 1] = np.nan
    X[:, 0] += 1.0
    model = ConformalRegressor(COLKRegressor(random_state=0), local=True).fit(X, y)
    colk.save(model, tmp_path / "model.colk")
    again = colk.load(tmp_path / "model.colk")
    np.testing.assert_array_equal(again.predict_interval(X[:9]), model.predict_interval(X[:9]))
    whole = X[~np.isnan(X).any(axis=1)][:50]
    again.learn(whole, whole[:, 0])
    model.learn(whole, whole[:, 0])
    np.testing.assert_allclose(again.predict_interval(X[:9]), model.predict_interval(X[:9]))
