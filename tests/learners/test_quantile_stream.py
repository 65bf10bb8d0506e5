"""Quantiles of a stream: levels, no crossing, near a batch fit, doors, bad input."""

import numpy as np
import pytest

from colk import COLKQuantileRegressor, river
from colk.kernels import Gaussian
from colk.learners import QuantileCOLK
from colk.losses import Quantiles, Squared

LEVELS = (0.05, 0.5, 0.95)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, size=(n, 2))
    spread = 0.2 + 0.3 * (1.0 + X[:, 0] / 1.5)
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + spread * (rng.exponential(size=n) - 1.0)


def pinball(found, y):
    return float(Quantiles(LEVELS).value(found, y).mean())


def test_a_stream_is_nearly_as_good_as_a_fit():
    X, y = data(6000)
    settings = {"kernel": "gaussian", "max_atoms": 60, "random_state": 0}
    learned, fitted = (COLKQuantileRegressor(LEVELS, **settings) for _ in range(2))
    for start in range(0, 4000, 100):
        learned.partial_fit(X[start : start + 100], y[start : start + 100])
    fitted.fit(X[:4000], y[:4000])
    found = learned.predict(X[4000:])
    assert (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_allclose((y[4000:, None] <= found).mean(axis=0), LEVELS, atol=0.03)
    assert pinball(found, y[4000:]) < 1.05 * pinball(fitted.predict(X[4000:]), y[4000:])


def test_a_fit_goes_on_where_it_was():
    X, y = data(1500)
    model = COLKQuantileRegressor(LEVELS, kernel="gaussian", max_atoms=60, random_state=0)
    before = pinball(model.fit(X[:700], y[:700]).predict(X[1000:]), y[1000:])
    assert model.n_steps_ == 700
    after = pinball(model.partial_fit(X[700:1000], y[700:1000]).predict(X[1000:]), y[1000:])
    assert after < 1.05 * before  # a new P, or functions without their constants, would be 1.4
    assert model.regularizations_ is None
    assert model.learner_.restarts == 0


def test_the_constant_of_a_level_follows_its_hits():
    """Without atoms only the constants learn: o ← o − 0.003·d·(share above − level)."""
    y = np.random.default_rng(0).normal(size=3000)
    learner = QuantileCOLK(Gaussian(1.0), Quantiles((0.25, 0.5)), prior=1e12)
    offsets, distances = np.zeros(2), np.zeros(2)
    for t, target in enumerate(y):
        gap = offsets - target
        distances += (np.abs(gap) - distances) / min(t + 1, 1000)
        offsets = offsets - 0.003 * distances * ((gap >= 0.0) - np.array([0.25, 0.5]))
        if t == 0:
            learner.learn([[0.0]], [target])
    learner.learn(np.zeros((2999, 1)), y[1:])
    np.testing.assert_allclose(learner.offsets, offsets, atol=1e-6)
    np.testing.assert_allclose(learner.predict([[0.0]])[0], offsets, atol=1e-6)


def test_river_learns_what_the_estimator_learns():
    X, y = data(700)
    ours = COLKQuantileRegressor(LEVELS, kernel=Gaussian(1.0), max_atoms=30)
    theirs = river.COLKQuantileRegressor(LEVELS, kernel=Gaussian(1.0), max_atoms=30)
    for row, target in zip(X, y, strict=True):
        ours.partial_fit(row[None], [target])
        theirs.learn_one({"a": row[0], "b": row[1]}, target)
    found = theirs.predict_quantiles({"a": 0.3, "b": -0.2})
    assert tuple(found) == LEVELS
    np.testing.assert_allclose(list(found.values()), ours.predict([[0.3, -0.2]])[0], rtol=1e-6)
    interval = theirs.predict_interval({"a": 0.3, "b": -0.2})
    assert interval.lower == found[0.05] <= found[0.5] <= interval.upper == found[0.95]
    assert theirs.predict_one({"a": 0.3, "b": -0.2}) == found[0.5]
    assert theirs.predict_one({"a": np.float32(0.3), "b": -0.2}) == pytest.approx(found[0.5])


def test_river_predicts_rows_of_a_frame():
    pd = pytest.importorskip("pandas")
    X, y = data(300)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = river.COLKQuantileRegressor((0.9,), kernel="gaussian", max_atoms=20)
    assert model.predict_quantiles({"a": 1.0}) == {0.9: 0.0}
    model.learn_many(frame, pd.Series(y))
    found = model.predict_quantiles_many(frame)
    assert list(found.columns) == [0.9]
    one = model.predict_one({"a": X[7, 0], "b": X[7, 1]})
    assert one == pytest.approx(found[0.9][7]) == pytest.approx(model.predict_many(frame)[7])


def test_bad_input():
    with pytest.raises(TypeError, match="needs the loss Quantiles"):
        QuantileCOLK(Gaussian(1.0), Squared())
    X, y = data(100)
    model = COLKQuantileRegressor(LEVELS, kernel="gaussian").partial_fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(y > 0.0, np.nan, y))
    np.testing.assert_array_equal(model.predict(X), before)
