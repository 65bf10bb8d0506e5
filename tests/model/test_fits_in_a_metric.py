"""Models in a metric: to the bit those of rows that are multiplied by it beforehand."""

import warnings

import numpy as np
import pytest

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor
from colk.kernels import Gaussian, Laplacian, Linear, Mahalanobis, Mixed

RNG = np.random.default_rng(0)
SQUARE = RNG.normal(size=(4, 4)) / 2.0
X = RNG.normal(size=(600, 4))
Y = np.sin(X @ SQUARE).sum(axis=1) + 0.1 * RNG.normal(size=600)
METRICS = pytest.mark.parametrize("metric", [SQUARE, SQUARE[:, :2]], ids=["square", "wide"])


@METRICS
@pytest.mark.parametrize(
    "make",
    [
        lambda k: COLKRegressor(random_state=0, kernel=k),
        lambda k: COLKRegressor(random_state=0, kernel=k, risk="cvar"),
        lambda k: COLKRegressor(random_state=0, kernel=k, solver="newton", polish=False),
        lambda k: COLKRegressor(random_state=0, kernel=k, max_atoms=30),
        lambda k: COLKQuantileRegressor((0.1, 0.9), kernel=k, random_state=0),
        lambda k: COLKClassifier(kernel=k, random_state=0),
    ],
    ids=["default", "risk", "newton", "few atoms", "quantiles", "classes"],
)
def test_fits(make, metric):
    kernel = Mahalanobis(Gaussian(1.0), metric)
    inside, beside, Z = make(kernel), make(Gaussian(1.0)), kernel.points(X)
    y = np.digitize(Y, [-0.5, 0.5]) if isinstance(inside, COLKClassifier) else Y
    inside.fit(X, y)
    beside.fit(Z, y)
    assert (inside.predict(X) == beside.predict(Z)).all()
    assert inside.n_features_in_ == 4
    assert inside.function_.n_features == 4
    assert inside.function_.atoms.shape[1] == metric.shape[1]
    inside.partial_fit(X[:99], y[:99])
    beside.partial_fit(Z[:99], y[:99])
    for row, z, target in zip(X[:9], Z[:9], y[:9], strict=True):
        inside.partial_fit(row[None], target[None])
        beside.partial_fit(z[None], target[None])
    assert (inside.predict(X) == beside.predict(Z)).all()


def test_a_fit_that_adds_atoms():
    kernel = Mahalanobis(Laplacian(1.0), 0.3 * SQUARE)
    rows = RNG.normal(size=(4200, 4))
    y, Z = np.sin(3.0 * rows).sum(axis=1), kernel.points(rows)
    inside = COLKRegressor(kernel=kernel, random_state=0).fit(rows, y)
    beside = COLKRegressor(kernel=Laplacian(1.0), random_state=0).fit(Z, y)
    assert inside.function_.n_atoms == beside.function_.n_atoms > 400
    assert (inside.predict(rows) == beside.predict(Z)).all()


@METRICS
def test_the_function_is_in_units_of_the_rows(metric, tmp_path):
    kernel, rows = Mahalanobis(Gaussian(1.0), metric), 7.0 * X + 3.0
    model = COLKRegressor(kernel=kernel, standardize=True, random_state=0).fit(rows, Y)
    found = model.function_(rows) + model.intercept_
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.function_.kernel.metric, metric / rows.std(axis=0)[:, None])
    colk.save(model, tmp_path / "m")
    assert (colk.load(tmp_path / "m").predict(rows) == model.predict(rows)).all()
    linear = COLKRegressor(kernel=kernel.replace(kernel=Linear()), standardize=True).fit(rows, Y)
    with pytest.raises(TypeError, match="in a metric depends on the zero of scaled rows"):
        _ = linear.function_


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("held", [5.0, np.nan])
def test_constant_columns_do_not_count(held, standardize):
    rows = np.column_stack([X, np.full(600, held)])
    n_columns = 5 + np.isnan(held)  # a column with gaps has an indicator
    metric = np.vstack([SQUARE, np.ones((n_columns - 4, 4))])
    kernel = Mahalanobis(Gaussian(1.0), metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = COLKRegressor(kernel=kernel, standardize=standardize, random_state=0).fit(rows, Y)
        moved = np.column_stack([X, np.full(600, 9.0)])
        assert (model.predict(moved) == model.predict(rows)).all() or np.isnan(held)
    encoded = model.encoder_.encode_matrix(rows)
    found = model.function_(encoded) + model.intercept_
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-9, atol=1e-9)


def test_streams_of_river():
    river = pytest.importorskip("colk.river")
    kernel = Mahalanobis(Gaussian(1.0), SQUARE[:, :2])
    inside, beside = river.COLKRegressor(kernel=kernel), river.COLKRegressor(kernel=Gaussian(1.0))
    for x, z, y in zip(X[:200].tolist(), kernel.points(X[:200]).tolist(), Y, strict=False):
        row, point = dict(zip("abcd", x, strict=True)), dict(zip("ab", z, strict=True))
        assert inside.predict_one(row) == beside.predict_one(point)
        inside.learn_one(row, y)
        beside.learn_one(point, y)
    assert inside.predict_one(row) == beside.predict_one(point) != 0.0


def test_categories_are_copied_by_the_metric():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(7.0 * X, columns=list("abcd"))
    frame["shop"] = pandas.Categorical(RNG.choice(["north", "south", "west"], size=600))
    y = Y + frame["shop"].cat.codes.to_numpy()
    metric = np.zeros((5, 3))
    metric[:4, :2], metric[4, 2] = SQUARE[:, :2], 1.0
    kernel = Mahalanobis(Mixed(Gaussian(1.0), (2,), 0.5), metric)
    model = COLKRegressor(kernel=kernel, random_state=0).fit(frame, y)
    plain = COLKRegressor(kernel=kernel.replace(kernel=Gaussian(1e3)), random_state=0)
    with pytest.raises(TypeError, match="Mahalanobis cannot compare categories"):
        plain.fit(frame, y)
    columns = [frame[name].to_numpy() for name in frame]
    encoded = model.encoder_.encode(dict(zip(frame.columns, columns, strict=True)))
    found = model.function_(encoded) + model.intercept_
    np.testing.assert_allclose(found, model.predict(frame), rtol=1e-9, atol=1e-9)
