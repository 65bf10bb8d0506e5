"""COLKQuantileRegressor: coverage on new data, no crossing, units, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from colk import COLKQuantileRegressor
from colk.losses import Quantiles
from colk.model import quantile_fit
from colk.model.coverage import conformal_quantile, weighted_quantile
from colk.rkhs.polishing import folds, weights
from colk.rkhs.polishing.span import Span

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


def spread_out(n, p, seed):
    """Skewed noise whose spread depends on the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, size=(n, p))
    spread = 0.5 + X[:, 0] / 5.0
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, -1] + spread * rng.exponential(size=n)


@pytest.mark.parametrize("n", [30, pytest.param(50, marks=pytest.mark.slow), 100])
@pytest.mark.parametrize("p", [1, 6])
def test_few_samples_are_enough_for_the_coverage(n, p):
    """With leave-one-out in closed form, 0.01 to 0.8 of new targets lay inside."""
    inside = []
    for seed in range(6):
        X, y = spread_out(n + 2000, p, seed)
        low, _, high = COLKQuantileRegressor(random_state=seed).fit(X[:n], y[:n]).predict(X[n:]).T
        inside.append(np.mean((low <= y[n:]) & (y[n:] <= high)))
    assert 0.87 <= np.mean(inside) <= 0.97
    assert min(inside) > 0.72


def test_far_from_the_data_the_quantiles_are_those_of_all_targets():
    X, y = data(300)
    low, middle, high = model().fit(X, y).predict([[1e3, 1e3]])[0]
    expected = np.quantile(y, [0.05, 0.5, 0.95])
    np.testing.assert_allclose([low, middle, high], expected, atol=0.35 * np.ptp(expected))
    assert low < middle < high


def test_too_few_samples_for_a_level_warn():
    X, y = data(18)
    with pytest.warns(
        ConvergenceWarning, match=r"0\.05 of the targets beyond them need 19 samples"
    ):
        COLKQuantileRegressor(random_state=0).fit(X, y)
    X, y = data(19)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        COLKQuantileRegressor(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"quantiles need at least 2 samples, got n_samples = 1"):
        COLKQuantileRegressor().fit(X[:1], y[:1])
    one = np.arange(19) == 3
    with pytest.raises(ValueError, match=r"at least 2 samples, got n_samples = 1"):
        COLKQuantileRegressor().fit(X, y, sample_weight=one)


def test_the_constant_counts_the_new_sample_too():
    """The value at place (n + 1)·level of n values, weighted if samples have weights."""
    values = np.arange(1.0, 40.0)
    for level, place in ((0.05, 2.0), (0.25, 10.0), (0.5, 20.0), (0.75, 30.0), (0.95, 38.0)):
        assert conformal_quantile(values, np.ones(39), level) == place
    assert conformal_quantile(values, np.ones(39), 0.96) == 39.0
    heavy = np.where(values == 7.0, 1e3, 1.0)
    assert conformal_quantile(values, heavy, 0.5) == 7.0
    assert weighted_quantile(values, heavy, 0.9) == 7.0


@pytest.mark.parametrize("n", [200, 700])
def test_the_constants_take_weights_into_account(n):
    """Half of the weight lies below the median, not half of the samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = 10.0 * (rng.uniform(size=n) < 0.5) + 0.1 * rng.normal(size=n)
    weight = np.where(y > 5.0, 9.0, 1.0)
    fitted = model(quantiles=(0.5,), kernel="laplacian").fit(X, y, sample_weight=weight)
    below = y <= fitted.predict(X)[:, 0]
    assert abs(np.average(below, weights=weight) - 0.5) < 0.1
    assert np.mean(below) > 0.65


def test_the_data_choose_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(300, 1))
    fitted = COLKQuantileRegressor(random_state=0).fit(X, np.sin(3.0 * X[:, 0]))
    assert fitted.race_.winner.name != "laplacian"
    assert fitted.kernel_ == fitted.function_.kernel


def test_defaults_beat_a_fixed_laplacian_of_200_atoms():
    """Interval score of 90 %: the width plus 20 times the distance of targets outside."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(3000, 8))
    y = np.sin(X[:, :3].sum(axis=1)) + 0.3 * X[:, 3] * X[:, 4] + 0.2 * rng.normal(size=3000)
    scores = []
    for settings in ({}, {"kernel": "laplacian", "max_atoms": 200}):
        fitted = COLKQuantileRegressor((0.05, 0.95), random_state=0, **settings)
        low, high = fitted.fit(X[:1000], y[:1000]).predict(X[1000:]).T
        outside = np.maximum(low - y[1000:], 0.0) + np.maximum(y[1000:] - high, 0.0)
        scores.append(np.mean(high - low + 20.0 * outside))
    assert COLKQuantileRegressor().max_atoms == "auto"
    assert scores[0] < 0.8 * scores[1]


@pytest.mark.parametrize("n", [100, 600])
def test_levels_share_the_kernel_values(n, monkeypatch):
    made = []

    class Counted(Span):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    for module in (quantile_fit, weights, folds):
        monkeypatch.setattr(module, "Span", Counted)
    model(quantiles=LEVELS).fit(*data(n))
    assert len(made) == 1


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
