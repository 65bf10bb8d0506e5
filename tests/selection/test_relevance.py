"""The relevance of features is that of the fitted function, on functions whose truth is known."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor
from colk.estimators import FeatureRelevanceDisplay
from colk.kernels import CustomKernel, Gaussian, Linear
from colk.rkhs.expansion import KernelExpansion
from colk.selection import Relevance
from colk.tabular import TableModel

NAMES = [f"c{k}" for k in range(8)]
KERNELS = [{}, {"kernel": "gaussian"}, {"kernel": "gaussian", "bandwidth": "auto"}]


def points(n=800, p=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def table_model(X, y):
    names = list(X.columns)
    texts = [name for name in names if X[name].dtype == object]
    columns = {name: X[name].to_numpy() for name in names}
    return TableModel("y", names, categorical=texts).fit([(columns, np.asarray(y))])


@pytest.mark.parametrize("settings", KERNELS)
def test_slopes_of_a_linear_function(settings):
    X = points() * np.array([1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    y = 3.0 * X[:, 0] - 0.4 * X[:, 3] + X[:, 6]
    model = COLKRegressor(random_state=0, **settings).fit(X, y)
    found = model.feature_relevance_
    sizes = np.array([3.0, 0.4, 1.0]) * X[:, [0, 3, 6]].std(axis=0)
    np.testing.assert_allclose(found[[0, 3, 6]], sizes / sizes[0], atol=0.05)
    assert np.delete(found, [0, 3, 6]).max() < 0.1
    truth = np.zeros(8)
    truth[[0, 3, 6]] = sizes * [1.0, -1.0, 1.0] / np.linalg.norm(sizes)
    np.testing.assert_allclose(model.relevance_.directions[0], truth, atol=0.05)
    assert model.relevance_.shares[0] > 0.9


def test_an_interaction_has_two_directions():
    X = points(1500)
    model = COLKRegressor(random_state=0).fit(X, np.sin(2.5 * X[:, 3]) * X[:, 5])
    found = model.feature_relevance_
    assert found[3] == 1.0
    assert found[5] == pytest.approx(0.4, abs=0.06)  # of E(2.5 cos(2.5 x₃) x₅)² and E sin²(2.5 x₃)
    assert np.delete(found, [3, 5]).max() < 0.1
    assert np.abs(model.relevance_.directions[0]).argmax() == 3
    assert np.abs(model.relevance_.directions[1]).argmax() == 5
    np.testing.assert_allclose(model.relevance_.shares[:2], [0.86, 0.14], atol=0.04)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_direction_is_a_rotated_index(seed):
    X = points(1000, 8, seed)
    w = np.random.default_rng(seed + 50).normal(size=8)
    w /= np.linalg.norm(w)
    y = np.sin(2.0 * X @ w) + 0.05 * np.random.default_rng(1).normal(size=1000)
    for model in (
        COLKRegressor(random_state=0).fit(X, y).relevance_,
        COLKClassifier(random_state=0).fit(X, y > 0.3).relevance_,
        COLKQuantileRegressor([0.2, 0.8], random_state=0).fit(X, y).relevance_,
        table_model(pd.DataFrame(X, columns=NAMES), y).relevance,
    ):
        first = model.directions[0]
        np.testing.assert_allclose(first * np.sign(first @ w), w, atol=0.05)


@pytest.mark.parametrize("is_frame", [False, True])
@pytest.mark.parametrize("settings", KERNELS)
def test_a_constant_column_is_last(settings, is_frame):
    X = np.insert(points(500, 3), 0, 7.3, axis=1)
    X = pd.DataFrame(X, columns=["z", "a", "b", "c"]) if is_frame else X
    y = np.asarray(X)[:, 1] + 0.5 * np.asarray(X)[:, 2]
    with pytest.warns(UserWarning, match="one value in all rows"):
        model = COLKRegressor(random_state=0, **settings).fit(X, y)
    assert model.feature_relevance_.argmin() == 0
    assert model.feature_relevance_[0] == 0.0 < model.feature_relevance_[1:].min()
    assert np.abs(model.relevance_.directions[:3, 0]).max() == 0.0


def test_the_order_is_that_of_permutation_importance():
    X, rng = points(1200, 6, 3), np.random.default_rng(4)
    y = 1.5 * np.sin(X[:, 1]) + 0.6 * X[:, 4] + 0.2 * X[:, 2] ** 2 + 0.1 * rng.normal(size=1200)
    for settings in KERNELS:
        model = COLKRegressor(random_state=0, **settings).fit(X[:800], y[:800])
        drops = permutation_importance(model, X[800:], y[800:], n_repeats=5, random_state=0)
        order = np.argsort(-drops.importances_mean)[:3]
        assert np.argsort(-model.feature_relevance_)[:3].tolist() == order.tolist() == [1, 4, 2]


def test_columns_of_a_table_are_united_by_feature():
    rng, n = np.random.default_rng(0), 1500
    X = pd.DataFrame(
        {
            "kind": rng.choice(["u", "v"], n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9600, n), "h"),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "size": rng.normal(size=n),
        }
    )
    hours = X["when"].dt.hour.to_numpy()
    y = np.sin(2.0 * np.pi * hours / 24.0) + np.isnan(X["gap"]) + 1.5 * (X["kind"] == "u")
    model = COLKRegressor(random_state=0).fit(X, y.to_numpy())
    assert model.feature_relevance_.shape == (4,)
    named = dict(zip(X.columns, model.feature_relevance_, strict=True))
    # Deviations of two values, and the root mean square of the slope of a wave in its circle.
    truth = {"kind": 1.0, "when": np.sqrt(0.5) / 0.75, "gap": 0.458 / 0.75}
    assert {name: named[name] for name in truth} == pytest.approx(truth, abs=0.12)
    assert named["size"] < 0.1
    kind = model.encoder_.names.index("kind")
    assert sorted(np.abs(model.relevance_.directions[:, kind]))[-1] == pytest.approx(1.0)
    FeatureRelevanceDisplay.from_estimator(model, kind="directions")


def test_a_table_and_the_command_name_features_and_directions(tmp_path):
    X = pd.DataFrame(points(600, 3), columns=["size", "age", "rooms"])
    y = 3.0 * X["age"] / X["age"].std() + 4.0 * X["size"] / X["size"].std()
    model = table_model(X, y)
    assert list(model.feature_relevance) == ["size", "age", "rooms"]
    assert model.feature_relevance["age"] == pytest.approx(0.75, abs=0.02)
    colk.save(model, tmp_path / "m.colk")
    colk.save(COLKRegressor(random_state=0).fit(X, y), tmp_path / "e.colk")
    for name in ("m.colk", "e.colk"):
        command = [sys.executable, "-m", "colk", "show", str(tmp_path / name)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "relevance  size 1.00, age 0.75, rooms 0.00\n" in told
        assert "directions 100 %: 0.80 size + 0.60 age\n" in told
    again = colk.load(tmp_path / "m.colk")
    np.testing.assert_array_equal(again.relevance.sizes, model.relevance.sizes)
    np.testing.assert_array_equal(again.relevance.directions, model.relevance.directions)
    smaller, _ = model.compressed(eps=0.01)
    assert smaller.feature_relevance == model.feature_relevance


@pytest.mark.parametrize("settings", [{}, {"kernel": "gaussian"}])
def test_a_stream_follows_the_feature_that_matters(settings):
    X = points(3000, 4)
    y = np.where(np.arange(3000) < 1500, np.sin(2.0 * X[:, 0]), np.sin(2.0 * X[:, 3]))
    model = COLKRegressor(random_state=0, solver="newton", forgetting=0.998, **settings)
    model.partial_fit(X[:300], y[:300])
    assert model.feature_relevance_.argmax() == 0
    model.partial_fit(X[300:1500], y[300:1500])
    assert model.feature_relevance_.argmax() == 0
    model.partial_fit(X[1500:], y[1500:])
    assert model.feature_relevance_.argmax() == 3


def test_without_a_gradient_there_is_no_relevance():
    X = points(100, 2)
    kernel = CustomKernel(lambda X, Z: X @ Z.T)
    model = COLKRegressor(kernel=kernel, random_state=0).fit(X, X[:, 0])
    assert model.feature_relevance_ is None
    with pytest.raises(ValueError, match=r"has no feature_relevance_.*no gradient"):
        FeatureRelevanceDisplay.from_estimator(model)
    assert Relevance.of(KernelExpansion(Gaussian(1.0), X, np.zeros(100)), X) is None


def test_outputs_are_summed():
    X = points(400, 3)
    weights = np.linalg.pinv(X) * 400.0  # f(x) = Σ_j w_j ⟨x_j, x⟩
    slopes = np.array([[3.0, 0.0], [4.0, 1.0], [0.0, 2.0]])
    function = KernelExpansion(Linear(), X, weights.T @ slopes / 400.0)
    found = Relevance.of(function, X / X.std(axis=0))
    M = slopes @ slopes.T
    np.testing.assert_allclose(found.sizes, np.sqrt(np.diag(M) / np.diag(M).max()), rtol=1e-9)
    values, vectors = np.linalg.eigh(M)
    np.testing.assert_allclose(found.shares, values[::-1] / values.sum(), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.directions[:2]), np.abs(vectors.T[:0:-1]), atol=1e-9)


def test_the_display_shows_directions():
    X = pd.DataFrame(points(600, 3), columns=["size", "age", "rooms"])
    model = COLKRegressor(random_state=0).fit(X, 3.0 * X["age"] + 4.0 * X["size"])
    display = FeatureRelevanceDisplay.from_estimator(model, kind="directions", max_features=2)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["size", "age"]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["100 %"]
    np.testing.assert_allclose(display.bars_.get_array()[:, 0], [0.8, 0.6], atol=0.02)
    with pytest.raises(ValueError, match="kind must be"):
        display.plot("loadings")
