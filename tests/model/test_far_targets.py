"""Targets far from the others, which features may predict, and targets far from 0."""

import numpy as np
import pandas as pd
import pytest

import colk
from colk import COLKQuantileRegressor, COLKRegressor
from colk.tabular import TableModel

river = pytest.importorskip("colk.river")

NAMES = ("a", "b")
SIZE = 1e6


def two_modes(share, size=SIZE, n=1600, seed=0):
    """Return samples of which a share, where a function of x is large, has targets at `size`."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)
    where = 0.5 * X[:, 0] + np.cos(1.5 * X[:, 1])
    is_far = where > np.quantile(where, 1.0 - share)
    return X, np.where(is_far, size * (1.0 + 0.1 * rng.normal(size=n)), y)


def by_estimator(X, y, **settings):
    return COLKRegressor(random_state=0, **settings).fit(X, y).predict


def by_table(X, y, **settings):
    model = TableModel("y", NAMES, **settings)
    model.fit([(dict(zip(NAMES, X.T, strict=True)), y)])
    return lambda new: model.predict(dict(zip(NAMES, new.T, strict=True)))


FITS = {"fit": by_estimator, "TableModel": by_table}


def r2(predict, X, y):
    return 1.0 - np.mean((y - predict(X)) ** 2) / y.var()


@pytest.mark.parametrize("size", [1e2, SIZE, -SIZE, 1e50])
@pytest.mark.parametrize("share", [0.02, 0.19])
def test_a_second_mode_that_features_predict_is_learned(share, size):
    X, y = two_modes(share, size)
    Z = y / abs(size)
    predict = by_estimator(X[:800], y[:800])
    squared = by_estimator(X[:800], y[:800], loss="squared")
    found = r2(lambda new: predict(new) / abs(size), X[800:], Z[800:])
    assert found > 0.7
    assert found > r2(lambda new: squared(new) / abs(size), X[800:], Z[800:]) - 0.03


@pytest.mark.parametrize("kernel", ["auto", "gaussian"])
@pytest.mark.parametrize("door", FITS)
def test_every_fit_learns_a_second_mode(door, kernel):
    X, y = two_modes(0.1)
    assert r2(FITS[door](X[:800], y[:800], kernel=kernel), X[800:], y[800:]) > 0.7


def test_a_fit_of_more_rows_than_its_sample_learns_a_second_mode():
    X, y = two_modes(0.05, n=24_000)
    model = COLKRegressor(kernel="gaussian", max_atoms=100, random_state=0)
    assert r2(model.fit(X[:22_000], y[:22_000]).predict, X[22_000:], y[22_000:]) > 0.6


def test_the_fit_says_what_it_kept(capsys):
    X, y = two_modes(0.1, n=800)
    model = COLKRegressor(random_state=0, verbose=1).fit(X, y)
    assert "kept 80 far targets" in capsys.readouterr().out
    assert model.polished_.n_outliers == 0


def test_such_a_model_is_saved_and_learns_on(tmp_path):
    X, y = two_modes(0.1)
    model = COLKRegressor(random_state=0).fit(X[:800], y[:800])
    colk.save(model, tmp_path / "m.colk")
    other = colk.load(tmp_path / "m.colk")
    for one in (model, other):
        one.partial_fit(X[800:1200], y[800:1200])
    assert np.array_equal(model.predict(X), other.predict(X))
    assert model.score(X[1200:], y[1200:]) > 0.7


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_outliers_that_are_a_minority_wherever_they_are_stay_outliers(share):
    """They occur in a region only, but most of the rows of this region are none."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(800, 1))
    truth = np.sin(2.0 * X[:, 0])
    is_far = rng.random(800) < share * (X[:, 0] > 1.0)
    model = COLKRegressor(random_state=0).fit(X, truth + 0.1 * rng.normal(size=800) + 1e3 * is_far)
    assert model.polished_.n_outliers >= np.count_nonzero(is_far)
    assert r2(model.predict, X, truth) > 0.98


# -- targets far from 0 --------------------------------------------------------------------------


def fit_estimator(X, y, **settings):
    COLKRegressor(**settings).fit(X, y)


def fit_quantiles(X, y):
    COLKQuantileRegressor().fit(X, y)


def fit_table(X, y):
    by_table(X, y)


def learn_parts(X, y, size=70, **settings):
    model = COLKRegressor(**settings)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size])


def learn_rows(X, y):
    learn_parts(X, y, 1)


def learn_quantiles(X, y):
    COLKQuantileRegressor().partial_fit(X, y)


def learn_table(X, y):
    TableModel("y", NAMES).learn(dict(zip(NAMES, X.T, strict=True)), y)


def learn_one(X, y):
    model = river.COLKRegressor()
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(NAMES, row, strict=True)), target)


def learn_many(X, y):
    river.COLKRegressor().learn_many(pd.DataFrame(X, columns=NAMES), pd.Series(y))


DOORS = {
    "fit": fit_estimator,
    "quantiles, fit": fit_quantiles,
    "TableModel, fit": fit_table,
    "partial_fit": learn_parts,
    "partial_fit, one row": learn_rows,
    "quantiles, partial_fit": learn_quantiles,
    "TableModel, learn": learn_table,
    "River, learn_one": learn_one,
    "River, learn_many": learn_many,
}


@pytest.mark.parametrize("deviations", [1e15, -1e15, 1e16])
@pytest.mark.parametrize("door", DOORS)
def test_targets_too_far_from_0_are_refused(door, deviations):
    X, y = two_modes(0.0, n=300)
    with pytest.raises(ValueError, match=r"y is too far from 0.*subtract a constant"):
        DOORS[door](X, y / y.std() + deviations)


@pytest.mark.parametrize("value", [0.0, 1.7, 1e16, 1e100])
@pytest.mark.parametrize("last_digit", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_equal_targets_are_not_refused(door, last_digit, value):
    X, _ = two_modes(0.0, n=60)
    y = np.full(60, value)
    if last_digit:
        y[::3] = np.nextafter(value, np.inf)
    DOORS[door](X, y)


def test_a_row_that_is_refused_changes_nothing():
    X, y = two_modes(0.0, n=300)
    model = river.COLKRegressor()
    rows = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    for row, target in zip(rows[:19], y[:19].tolist(), strict=True):
        model.learn_one(row, 1e15 + target)
    before = model.predict_one(rows[20])
    for _ in range(2):
        with pytest.raises(ValueError, match="too far from 0"):
            model.learn_one(rows[19], 1e15 + 1.0)
    assert model.predict_one(rows[20]) == before
