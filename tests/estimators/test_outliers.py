"""Outliers of targets and features: estimators, River, tables."""

import numpy as np
import pytest
from sklearn.svm import SVR

from colk import COLKRegressor, river
from colk._engine.running_scale import COLUMNS, RunningScale
from colk.tabular import TableModel

TEST_X = np.linspace(-1.9, 1.9, 400)[:, None]
TRUTH = np.sin(2.0 * TEST_X[:, 0])


def problem(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n), rng


def with_outliers(share, size, one_sided):
    X, y, rng = problem()
    chosen = rng.choice(len(y), int(share * len(y)), replace=False)
    y[chosen] += size * (
        1.0 + rng.random(len(chosen)) if one_sided else rng.normal(size=len(chosen))
    )
    return X, y


def score(model, X, y):
    found = model.fit(X, y).predict(TEST_X)
    return 1.0 - np.mean((found - TRUTH) ** 2) / np.var(TRUTH)


@pytest.mark.each_pair
@pytest.mark.parametrize("size", [20.0, 1e6])
@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("share", [0.002, 0.01, 0.1, 0.3])
def test_a_fit_with_outliers_is_as_good_as_support_vectors(share, one_sided, size):
    X, y = with_outliers(share, size, one_sided)
    assert score(COLKRegressor(random_state=0), X, y) > score(SVR(), X, y) - 0.03


def test_cauchy_noise():
    X, y, rng = problem()
    y += 0.1 * rng.standard_cauchy(len(y))
    assert score(COLKRegressor(random_state=0), X, y) > score(SVR(), X, y) - 0.03


def test_mostly_zeros_have_the_scale_of_the_others():
    X, _, _ = problem(2000)
    y = np.where(X[:, 0] > 1.96, 5.0, 0.0)
    model = COLKRegressor(random_state=0).fit(X, y)
    assert model.target_scale_ == pytest.approx(y.std(), rel=1e-9)
    assert model.score(X, y) > 0.8


def test_many_zeros_do_not_make_the_others_outliers():
    """Claims: zero in six of ten rows; the size of the others depends on x."""
    X, _, rng = problem(400)
    size = np.exp(0.5 * X[:, 0])
    y = size * rng.beta(2.0, 3.0, 400) * (rng.random(400) < 0.4)
    model = COLKRegressor(random_state=0).fit(X, y)
    found = model.predict(X)
    assert model.polished_.n_outliers == 0
    assert found.mean() > 0.5 * y.mean()
    assert np.corrcoef(found, size)[0, 1] > 0.5


def test_clean_targets_have_mean_and_deviation():
    X, y, _ = problem()
    model = COLKRegressor(random_state=0).fit(X, y)
    assert model.intercept_ == pytest.approx(y.mean(), rel=1e-12)
    assert model.target_scale_ == pytest.approx(y.std(), rel=1e-12)
    assert model.polished_.n_outliers == 0


def test_large_targets_of_a_skewed_distribution_are_kept():
    X, y, _ = problem()
    assert COLKRegressor(random_state=0).fit(X, np.exp(3.0 * y)).polished_.n_outliers == 0


def test_a_stream_is_not_bound_to_its_first_targets():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(3000, 1))
    y = 1000.0 * np.sign(np.sin(2.0 * X[:, 0]))
    y[:150] = 0.0
    model = COLKRegressor(kernel="laplacian")
    for start in range(0, 3000, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert model.score(X[150:], y[150:]) > 0.8
    assert model.target_scale_ > 500.0


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_outliers_of_a_stream_do_not_replace_the_kernel_of_the_race(seed):
    X, y, rng = problem(3000, seed)
    rows = rng.choice(3000, 300, replace=False)
    y[rows] += 20.0 * rng.normal(size=300)
    model = COLKRegressor().partial_fit(X[:500], y[:500])
    kernel = model.kernel_
    for start in range(500, 3000, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert kernel == model.kernel_
    assert model.race_.default_won or kernel == model.race_.kernel


def test_the_scale_of_a_stream_does_not_depend_on_chunks():
    X, y = with_outliers(0.1, 1e4, True)
    models = [COLKRegressor(kernel="gaussian").partial_fit(X[:10], y[:10]) for _ in range(2)]
    models[0].partial_fit(X[10:], y[10:])
    for start in range(10, 500, 7):
        models[1].partial_fit(X[start : start + 7], y[start : start + 7])
    assert np.array_equal(models[0].predict(TEST_X), models[1].predict(TEST_X))


@pytest.mark.parametrize("place", [0, 5, 100, 400])
def test_one_huge_target_of_a_stream_is_forgotten(place):
    X, y, _ = problem(1000)
    y[place] = 1e160
    model = river.COLKRegressor(kernel="gaussian")
    for x, target in zip(X[:, 0].tolist(), y.tolist(), strict=True):
        model.learn_one({"x": x}, target)
        if model.target_scale < 1e3:
            assert abs(model.predict_one({"x": x})) < 1e4
    found = np.array([model.predict_one({"x": x}) for x in TEST_X[:, 0].tolist()])
    assert 1.0 - np.mean((found - TRUTH) ** 2) / np.var(TRUTH) > 0.9


@pytest.mark.parametrize("kernel", ["auto", "laplacian", "gaussian"])
def test_one_row_far_away_leaves_a_model(kernel):
    X, y, _ = problem()
    X[3] = 1e6
    assert score(COLKRegressor(kernel=kernel, random_state=0), X, y) > 0.9


def test_one_row_of_a_table_far_away_leaves_a_model():
    X, y, _ = problem()
    X[3] = 1e6
    model = TableModel("y", ["x"]).fit([({"x": X[:, 0]}, y)])
    found = model.predict({"x": TEST_X[:, 0]})
    assert 1.0 - np.mean((found - TRUTH) ** 2) / np.var(TRUTH) > 0.9


def test_groups_of_a_column_are_no_outliers():
    values = np.where(np.arange(1000) % 4 == 0, 100.0, 0.0) + np.random.default_rng(0).normal(
        size=1000
    )
    scale = RunningScale(1, COLUMNS).merged(values, np.ones(1000))
    assert scale.units == pytest.approx(values.std(), rel=1e-9)


def test_a_scale_goes_on_from_its_copy_bit_for_bit():
    import copy

    _, y = with_outliers(0.1, 1e4, True)
    whole, parts = RunningScale(1), RunningScale(1)
    expected = [whole.update(value, 1.0) for value in y.tolist()]
    found = []
    for i, value in enumerate(y.tolist()):
        if i % 50 == 0:
            parts = copy.copy(parts)
        if i % 9 == 0:  # an update that is undone leaves no mark
            parts.update(-1e5, 2.0)
            parts.undo()
        found.append(parts.update(value, 1.0))
    assert found == expected
