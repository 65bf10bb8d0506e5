"""COLKQuantileRegressor: coverage on new data, no crossing, units, bad input."""

import numpy as np
import pytest
from sklearn.base import clone

from colk import COLKQuantileRegressor
from colk.losses import Quantiles

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + (0.3 + 0.2 * np.abs(X[:, 0])) * rng.exponential(size=n)


def model(**settings):
    return COLKQuantileRegressor(**{"random_state": 0, "epochs": 2, "max_atoms": 50, **settings})


def test_coverage_on_new_data_and_no_crossing():
    X, y = data(8000)
    fitted = model(quantiles=LEVELS).fit(X[:3000], y[:3000])
    found = fitted.predict(X[3000:])
    assert found.shape == (5000, 5)
    assert (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_allclose((y[3000:, None] <= found).mean(axis=0), LEVELS, atol=0.03)
    assert fitted.score(X[3000:], y[3000:]) > 0.3
    assert fitted.regularizations_.shape == fitted.intercepts_.shape == (5,)
    unsorted = fitted.function_(X) + fitted.intercepts_
    np.testing.assert_array_equal(np.sort(unsorted, axis=1), fitted.predict(X))


def test_units_of_the_targets_do_not_matter():
    X, y = data(400)
    expected = model().fit(X, y).predict(X)
    np.testing.assert_allclose(model().fit(X, 1e6 * y + 3e6).predict(X), 1e6 * expected + 3e6)


def test_samples_of_weight_zero_are_not_seen():
    X, y = data(400)
    weight = (np.arange(400) < 300).astype(float)
    other = np.where(weight > 0.0, y, 1e3)
    one, two = (model(shuffle=False).fit(X, t, sample_weight=weight) for t in (y, other))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_it_is_an_estimator():
    X, y = data(200)
    fitted = model(quantiles=(0.1, 0.9)).fit(X, y)
    assert clone(fitted).get_params()["quantiles"] == (0.1, 0.9)
    before = fitted.predict(X)
    for settings, message in (
        ({"quantiles": (0.9, 0.1)}, "levels must increase"),
        ({"quantiles": (0.0, 0.1)}, "strictly between 0 and 1"),
        ({"regularization": -1.0}, "regularization"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(fitted).set_params(**settings).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(X, np.where(y > 1.0, np.nan, y))
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_several_pinball_losses_at_once():
    loss = Quantiles((0.25, 0.75))
    F, y = np.array([[-1.0, 2.0], [0.0, 0.0]]), np.array([0.0, 0.0])
    assert loss.value(F, y).tolist() == [0.25 + 0.5, 0.0]
    assert loss.slope(F, y).tolist() == [[-0.25, 0.25], [0.0, 0.0]]
    with pytest.raises(ValueError, match="needs as many outputs"):
        loss.value(np.zeros((2, 3)), y)
    assert Quantiles([0.25, 0.75]) == loss
