"""Intervals and label sets from data that do not change, and intervals that cover at each x."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import colk
from colk import COLKClassifier, COLKRegressor, ConformalRegressor
from colk.conformal import AdaptiveInterval, ConformalClassifier


def uneven(n, seed=0):
    """The noise is five times as large at the right end as at the left."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 1))
    return X, np.sin(3.0 * X[:, 0]) + (0.3 + 0.2 * X[:, 0]) * rng.normal(size=n)


def inside(model, X, y):
    low, high = model.predict_interval(X).T
    return (low <= y) & (y <= high)


def test_the_places_of_calibrated_intervals_are_those_of_split_conformal_prediction():
    interval = AdaptiveInterval(window=5)
    interval.follow(0.9)
    interval.calibrate(range(1, 40), range(1, 40))
    assert interval.reach(0.9) == pytest.approx((2.0, 38.0))  # (39 + 1)·0.05 and (39 + 1)·0.95
    interval.calibrate(range(18), range(18))
    assert interval.reach(0.9) == (-np.inf, np.inf)  # a new target may be the largest


@pytest.mark.parametrize("model", [COLKRegressor(random_state=0), LinearRegression()])
def test_fit_gives_finite_intervals_at_once(model):
    X, y = uneven(3000)
    found = ConformalRegressor(model, coverage=0.9).fit(X[:800], y[:800], random_state=0)
    assert np.isfinite(found.predict_interval(X[800:])).all()
    assert abs(inside(found, X[800:], y[800:]).mean() - 0.9) < 0.03
    before = found.predict_interval(X[800:810])
    found.learn(X[800:900], y[800:900])
    assert not np.array_equal(found.predict_interval(X[800:810]), before)


def test_calibrate_needs_a_fitted_model():
    X, y = uneven(300)
    with pytest.raises(ValueError, match="the model is not fitted"):
        ConformalRegressor(COLKRegressor()).calibrate(X, y)
    fitted = COLKRegressor(random_state=0).fit(X[:100], y[:100])
    model = ConformalRegressor(fitted, coverage=0.8).calibrate(X[100:], y[100:])
    assert np.isfinite(model.predict_interval(X)).all()


def test_local_intervals_cover_at_each_x(tmp_path):
    X, y = uneven(8000)
    for local, worst in ((False, 0.12), (True, 0.04)):
        model = ConformalRegressor(
            COLKRegressor(solver="newton", kernel="gaussian", max_atoms=30), local=local
        )
        covered = np.zeros(8000, dtype=bool)
        for k in range(0, 8000, 20):
            covered[k : k + 20] = inside(model, X[k : k + 20], y[k : k + 20])
            model.learn(X[k : k + 20], y[k : k + 20])
        late = np.arange(8000) >= 1000
        ends = [covered[late & side].mean() for side in (X[:, 0] < -0.6, X[:, 0] > 0.6)]
        assert (np.abs(np.array(ends) - 0.9).max() > worst) == (not local)
        assert abs(covered.mean() - 0.9) < 0.01
    colk.save(model, tmp_path / "local.colk")
    again = colk.load(tmp_path / "local.colk")
    np.testing.assert_array_equal(again.predict_interval(X[:9]), model.predict_interval(X[:9]))
    assert repr(again) == repr(model)


def labels(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [-0.8, 1.5])


@pytest.mark.parametrize("by_class", [False, True])
def test_sets_of_labels_at_rest(by_class):
    X, y = labels(6000)
    fitted = COLKClassifier(random_state=0, kernel="gaussian", max_atoms=30).fit(X[:800], y[:800])
    model = ConformalClassifier(fitted, coverage=0.9, by_class=by_class)
    sets = model.calibrate(X[800:3000], y[800:3000]).predict_set(X[3000:])
    hit = np.array([label in found for label, found in zip(y[3000:], sets, strict=True)])
    shares = np.array([hit[y[3000:] == label].mean() for label in range(3)])
    assert abs(hit.mean() - 0.9) < 0.02
    assert (np.abs(shares - 0.9).max() < 0.05) == by_class


def test_sets_of_labels_on_a_stream_that_changes(tmp_path):
    X, y = labels(4000)
    y[2000:] = 2 - y[2000:]
    model = ConformalClassifier(
        COLKClassifier(solver="newton", kernel="gaussian", max_atoms=30), coverage=0.8
    )
    hits = []
    for k in range(0, 4000, 10):
        if k:
            sets = model.predict_set(X[k : k + 10])
            hits += [a in found for a, found in zip(y[k : k + 10], sets, strict=True)]
        model.learn(X[k : k + 10], y[k : k + 10], classes=[0, 1, 2])
    assert abs(np.mean(hits) - 0.8) < 0.02
    assert model.observed_coverage() == pytest.approx(np.mean(hits), abs=0.02)
    colk.save(model, tmp_path / "labels.colk")
    again = colk.load(tmp_path / "labels.colk")
    assert again.predict_set(X[:50]) == model.predict_set(X[:50])


def test_a_classifier_needs_probabilities():
    with pytest.raises(TypeError, match="must have the method predict_proba"):
        ConformalClassifier(LinearRegression())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("local", [False, True])
def test_tables_with_text_have_intervals(kind, local):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(100.0, 30.0, 900), "city": rng.choice(["a", "b"], 900)}
    )
    y = np.where(frame.city == "a", 1.0, 3.0) * frame["size"].to_numpy() + rng.normal(size=900)
    if kind == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    model = ConformalRegressor(COLKRegressor(random_state=0), coverage=0.9, local=local)
    model.fit(frame[:600], y[:600])
    low, high = model.predict_interval(frame[600:]).T
    assert 0.82 < np.mean((low <= y[600:]) & (y[600:] <= high)) <= 0.98
    model.learn(frame[600:], y[600:])
    assert np.isfinite(model.predict_interval(frame[:5])).all()


def test_columns_of_different_scales_are_left_out_as_they_were_learned():
    """The residuals belong to points that the model has scaled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) * [1.0, 1000.0]
    y = np.sin(X[:, 0]) + X[:, 1] / 1000.0 + 0.1 * rng.normal(size=600)
    model = ConformalRegressor(COLKRegressor(random_state=0), coverage=0.9).fit(X[:400], y[:400])
    low, high = model.predict_interval(X[400:]).T
    assert np.mean(high - low) < 0.6
