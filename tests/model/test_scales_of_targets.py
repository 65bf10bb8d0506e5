"""A stream follows targets whose scale changes, and targets that are far from 0."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import colk
from colk import COLKQuantileRegressor, COLKRegressor
from colk._engine.running_scale import RunningScale
from colk.tabular import TableModel

river = pytest.importorskip("colk.river")

CHANGE, SIZE = 1500, 3000
NAMES = ("a", "b")


def rows_of(seed=0, size=SIZE):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=size)


def shrinking(factor, seed=0):
    X, y = rows_of(seed)
    return X, np.where(np.arange(SIZE) < CHANGE, factor, 1.0) * y


def new_rows():
    return rows_of(seed=1, size=300)


def by_partial_fit(X, y, size=100, **settings):
    model = COLKRegressor(**settings)
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    return model.predict


def by_river(X, y, **settings):
    model = river.COLKRegressor(**settings)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(NAMES, row, strict=True)), target)
    return lambda new: model.predict_many(pd.DataFrame(new, columns=NAMES)).to_numpy()


def by_quantiles(X, y, **settings):
    model = COLKQuantileRegressor(quantiles=(0.1, 0.5, 0.9), **settings).partial_fit(X, y)
    return lambda new: model.predict(new)[:, 1]


def by_table(X, y, **settings):
    model = TableModel("y", NAMES, **settings)
    for start in range(0, len(X), 70):
        part = slice(start, start + 70)
        model.learn(dict(zip(NAMES, X[part].T, strict=True)), y[part])
    return lambda new: model.predict(dict(zip(NAMES, new.T, strict=True)))


GAUSSIAN = {"kernel": "gaussian"}
DOORS = {
    "partial_fit": (by_partial_fit, {}),
    "partial_fit, newton": (by_partial_fit, {"solver": "newton"}),
    "partial_fit, given kernel": (by_partial_fit, GAUSSIAN),
    "partial_fit, given kernel, newton": (by_partial_fit, GAUSSIAN | {"solver": "newton"}),
    "River": (by_river, {}),
    "River, given kernel": (by_river, GAUSSIAN),
    "quantiles": (by_quantiles, {}),
    "TableModel": (by_table, {}),
}


def r2(predict, y, X):
    return 1.0 - np.mean((y - predict(X)) ** 2) / y.var()


@pytest.mark.each_value
@pytest.mark.parametrize("factor", [1e2, 1e4, 1e6, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("door", DOORS)
def test_a_model_recovers_within_700_rows_after_a_change_of_scale(door, factor):
    learn, settings = DOORS[door]
    X, y = shrinking(factor)
    stop = CHANGE + 700
    predict = learn(X[:stop], y[:stop], **settings)
    new, targets = new_rows()
    assert r2(predict, targets, new) > 0.9


@pytest.mark.each_value
@pytest.mark.parametrize("deviations", [1e10, 1e12, 1e14])
@pytest.mark.parametrize("door", DOORS)
def test_targets_far_from_0_are_learned(door, deviations):
    learn, settings = DOORS[door]
    X, y = rows_of(size=1500)
    predict = learn(X, y / y.std() + deviations, **settings)
    new, targets = new_rows()
    assert r2(lambda some: predict(some) - deviations, targets / y.std(), new) > 0.9


@pytest.mark.parametrize("size", [1, 7, 450, SIZE])
def test_the_restart_does_not_depend_on_the_parts(size):
    X, y = shrinking(1e4)
    expected = by_partial_fit(X, y, 100, standardize=False)(X[:50])
    assert np.array_equal(by_partial_fit(X, y, size, standardize=False)(X[:50]), expected)


@pytest.mark.parametrize("seen", [CHANGE + 50, CHANGE + 130, CHANGE + 199])
def test_a_copy_and_a_file_restart_like_the_original(seen, tmp_path):
    X, y = shrinking(1e4)
    model = COLKRegressor().partial_fit(X[:seen], y[:seen])
    colk.save(model, tmp_path / "m.colk")
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    others.append(colk.load(tmp_path / "m.colk"))
    model.partial_fit(X[seen:], y[seen:])
    for other in others:
        other.partial_fit(X[seen:], y[seen:])
        assert np.array_equal(other.predict(X[:50]), model.predict(X[:50]))


def test_a_row_is_undone_at_the_start_of_a_block():
    """`undo` restores the latest blocks as well."""
    y = np.append(1e4 * rows_of()[1][:1000], rows_of()[1][:300])
    scale, twin = RunningScale(), RunningScale()
    for place, value in enumerate(y.tolist()):
        scale.update(value, 1.0)
        twin.update(7.0, 1.0)
        twin.undo()
        twin.update(value, 1.0)
        assert scale.is_stale == twin.is_stale, place
        if scale.is_stale:
            scale.renew(), twin.renew()
    assert scale.units[0] < 10.0
    assert (scale.units, scale.means) == (twin.units, twin.means)


STEADY = {
    "sorted targets": lambda rng: np.sort(rng.normal(size=20_000)),
    "a random walk": lambda rng: np.cumsum(rng.normal(size=20_000)),
    "nights of zeros": lambda rng: np.where(
        np.arange(20_000) % 1440 < 720, 0.0, rng.random(20_000)
    ),
    "outliers": lambda rng: rng.standard_t(1.5, size=20_000),
    "exponentials of normal numbers": lambda rng: np.exp(2.0 * rng.normal(size=20_000)),
    "equal targets": lambda rng: np.ones(20_000),
}


@pytest.mark.parametrize("kind", STEADY)
def test_a_scale_is_not_stale(kind):
    y = STEADY[kind](np.random.default_rng(0))
    scale = RunningScale()
    found = []
    for value in y.tolist():
        scale.update(value, 1.0)
        found.append(scale.is_stale)
    assert not any(found)
