"""Features that are missing, new, vanished or renamed."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from river import metrics, preprocessing

from colk.river import COLKClassifier, COLKQuantileRegressor, COLKRegressor, drop_missing

RNG = np.random.default_rng(0)
N = 700  # more than the samples that choose the kernel
X = RNG.normal(size=(N, 3))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2
HOLES = RNG.random(size=X.shape) < 0.2
GAPS = (None, math.nan, np.float32("nan"), pd.NA, np.datetime64("NaT"))


def absent(row, holes):
    return {name: v for name, v, hole in zip("abc", row, holes, strict=True) if not hole}


def zero(row, holes):
    return {name: 0.0 if hole else v for name, v, hole in zip("abc", row, holes, strict=True)}


def empty(row, holes):
    """Write gaps in all ways that there are."""
    return {
        name: GAPS[int(1e6 * abs(v)) % len(GAPS)] if hole else v
        for name, v, hole in zip("abc", row, holes, strict=True)
    }


def missing(row, holes):
    return {name: None if hole else v for name, v, hole in zip("abc", row, holes, strict=True)}


def rows_of(holes):
    """Return the samples of the stream; the first 100 are whole."""
    holes = np.where(np.arange(N)[:, None] < 100, False, holes)
    return list(zip(X.tolist(), holes.tolist(), strict=True))


MODELS = {
    "regressor": (COLKRegressor, Y),
    "regressor of one kernel": (lambda: COLKRegressor(kernel="laplacian"), Y),
    "quantiles": (lambda: COLKQuantileRegressor(kernel="laplacian"), Y),
    "classifier": (lambda: COLKClassifier(kernel="laplacian"), Y > 1.0),
}


def assert_same(name, rows, gap, other):
    """Check that two ways to write gaps give the same model."""
    make, targets = MODELS[name]
    model, twin = make(), make()
    for (row, holes), y in zip(rows, targets.tolist(), strict=True):
        model.learn_one(gap(row, holes), y)
        twin.learn_one(other(row, holes), y)
    assert model.feature_names == twin.feature_names
    for row, holes in rows[:50]:
        assert model.predict_one(gap(row, holes)) == twin.predict_one(other(row, holes))
    assert pickle.dumps(model.function) == pickle.dumps(twin.function)
    return model


@pytest.mark.parametrize("gap", [absent, empty])
@pytest.mark.parametrize("name", MODELS)
def test_all_gaps_are_alike(name, gap):
    model = assert_same(name, rows_of(HOLES), gap, missing)
    assert model.feature_names[:3] == ["a", "b", "c"]
    marks = {f"{feature} is missing" for feature in "abc"}
    assert set(model.feature_names[3:]) == marks


@pytest.mark.parametrize("name", MODELS)
def test_a_feature_that_is_rare_is_zero_where_it_is_absent(name):
    """As in a bag of words, whose samples have only the features that are not 0."""
    rare = RNG.random(size=X.shape) < [0.0, 0.7, 0.8]
    rare[:, 0] = rare[0] = False
    model = assert_same(name, list(zip(X.tolist(), rare.tolist(), strict=True)), absent, zero)
    assert sorted(model.feature_names) == ["a", "b", "c"]


def test_an_absent_feature_counts_as_a_gap_once_it_is_usual():
    model = COLKRegressor(kernel="laplacian")
    for row, y in zip(X[:99].tolist(), Y.tolist(), strict=False):
        model.learn_one(dict(zip("abc", row, strict=True)), y)
    model.learn_one({"a": 1.0, "b": 1.0}, 1.0)  # too early to tell
    assert model.feature_names == ["a", "b", "c"]
    model.learn_one({"a": 1.0, "b": 1.0}, 1.0)
    assert model.feature_names == ["a", "b", "c", "c is missing"]


def test_a_new_feature_after_a_gap():
    model = COLKRegressor(kernel="laplacian")
    for t, (row, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        x = {"a": row[0], "b": None if t % 5 == 4 else row[1]}
        model.learn_one(x | ({"c": row[2]} if t > 100 else {}), y)
    assert model.feature_names == ["a", "b", "b is missing", "c"]
    late = copy.deepcopy(model)
    late.learn_one({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, 1.0)
    late.learn_one({"a": 0.1, "b": 0.2, "c": 0.3, "d": None}, 1.0)
    assert late.feature_names[4:] == ["d", "d is missing"]
    assert late.function.n_features == 6


@pytest.mark.parametrize("name", MODELS)
def test_an_error_at_a_first_gap_changes_nothing(name):
    make, targets = MODELS[name]
    model, y = make(), targets.tolist()
    for row, target in zip(X[:30].tolist(), y, strict=False):
        model.learn_one(dict(zip("abc", row, strict=True)), target)
    before = pickle.dumps(model.function)
    with pytest.raises(ValueError, match=r"finite|inf"):
        model.learn_one({"a": math.inf, "b": None, "c": 1.0}, y[0])
    assert model.feature_names == ["a", "b", "c"]
    assert pickle.dumps(model.function) == before


def test_gaps_in_data_frames():
    table = pd.DataFrame(np.where(HOLES, np.nan, X), columns=list("abc")).assign(d=np.nan)
    nullable = table.astype({"b": "Float64", "c": object})
    one, found = COLKRegressor(kernel="laplacian"), []
    one.learn_many(table[:0], pd.Series(Y[:0]))
    first = next(row for row, holes in zip(X.tolist(), HOLES, strict=True) if not holes.any())
    one.learn_one(dict(zip("abc", first, strict=True)), 0.0, w=0.0)  # the same order of columns
    for row, y in zip(np.where(HOLES, np.nan, X).tolist(), Y.tolist(), strict=True):
        one.learn_one(dict(zip("abc", row, strict=True)), y)
    for frame in (table, nullable):
        model = COLKRegressor(kernel="laplacian")
        model.learn_many(frame, pd.Series(Y))
        assert model.feature_names == one.feature_names  # d never had a value
        found.append(model.predict_many(frame).tolist())
    assert found[0] == found[1]
    rows = np.where(HOLES, np.nan, X).tolist()
    each = [one.predict_one(dict(zip("abc", row, strict=True))) for row in rows]
    np.testing.assert_allclose(found[0], each, rtol=1e-10)


def test_a_feature_without_a_value_gets_no_column():
    model = COLKRegressor()
    model.learn_one({"a": 1.0, "b": None}, 1.0)
    model.learn_one({"a": 1.0, "b": math.nan}, 1.0, w=0.0)
    assert model.feature_names == ["a"]
    model.learn_one({"a": 1.0, "b": 2}, 1.0)
    assert model.feature_names == ["a", "b"]


TOWNS = np.array(["Bonn", "Oslo", "Rome"])[np.random.default_rng(1).integers(3, size=len(Y))]


def texts(row, town):
    return {"a": row[0], "town": None if town == "Bonn" else town}


def columns(row, town):
    return {"a": row[0], "town=Oslo": 1.0 * (town == "Oslo"), "town=Rome": 1.0 * (town == "Rome")}


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier, COLKQuantileRegressor])
def test_texts_are_columns_of_ones(kind):
    models, found = [kind(kernel="laplacian"), kind(kernel="laplacian")], []
    for model, sample in zip(models, (texts, columns), strict=True):
        targets = (Y > 0.0).tolist() if kind is COLKClassifier else Y.tolist()
        model.learn_one({"a": 0.0, "town=Oslo": 0.0, "town=Rome": 0.0}, targets[0])
        for row, town, y in zip(X.tolist(), TOWNS, targets, strict=True):
            model.learn_one(sample(row, town), y)
        predict = model.predict_proba_one if kind is COLKClassifier else model.predict_one
        found.append([predict(sample(X[0].tolist(), town)) for town in (*TOWNS[:9], "Bonn")])
    assert found[0] == found[1]
    assert found[0][-1] != found[0][list(TOWNS).index("Rome")]  # a text counts


def test_texts_of_a_frame():
    y = np.sin(2.0 * X[:, 0]) + 2.0 * (TOWNS == "Rome")
    frame = pd.DataFrame({"a": X[:, 0], "town": TOWNS})
    many, one = COLKRegressor(kernel="laplacian"), COLKRegressor(kernel="laplacian")
    many.learn_many(frame, pd.Series(y))
    for name in sorted(set(TOWNS)):  # the same order of columns
        one.learn_one({"a": 0.0, "town": name}, 0.0, w=0.0)
    for x, target in zip(frame.to_dict("records"), y.tolist(), strict=True):
        one.learn_one(x, target)
    assert many.feature_names == ["a", "town=Bonn", "town=Oslo", "town=Rome"]
    predicted, rows = many.predict_many(frame), frame.to_dict("records")
    assert predicted.tolist() == pytest.approx([one.predict_one(x) for x in rows])
    assert np.mean((predicted - y) ** 2) < 0.2 * np.var(y)


def test_texts_get_a_limited_number_of_columns():
    model = COLKRegressor(kernel="laplacian", max_atoms=10)
    for t in range(230):
        model.learn_one({"a": 1.0, "id": str(t)}, 1.0)
    model.learn_one({"b=c": 1.0}, 1.0)  # a number, not a text
    assert len(model.feature_names) == 203  # with the mark of "a", which the last sample lacks
    model.predict_one({"a": 1.0, "id": "229"})


def test_dates_are_refused():
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})
    with pytest.raises(TypeError, match="must hold real numbers"):
        COLKRegressor().learn_many(frame, pd.Series([1.0]))


def test_a_nan_does_not_spoil_a_scaler():
    model = drop_missing | preprocessing.StandardScaler() | COLKRegressor(kernel="laplacian")
    error = metrics.MAE()
    for row, y in zip(X.tolist(), Y.tolist(), strict=True):
        x = dict(zip("abc", row, strict=True))
        error.update(y, model.predict_one(x))
        model.learn_one({**x, "b": math.nan} if y < -0.9 else x, y)
    assert error.get() < 0.5 * np.mean(np.abs(Y - np.median(Y)))


@pytest.mark.parametrize("change", ["vanish", "rename"])
def test_a_stream_that_loses_a_feature_is_learned_on(change):
    model, late = COLKRegressor(kernel="laplacian"), []
    for t, (row, y) in enumerate(zip(X.tolist() * 3, Y.tolist() * 3, strict=True)):
        x = dict(zip("abc", row, strict=True))
        if t >= N:
            b = x.pop("b")
            x |= {"new b": b} if change == "rename" else {}
        late.append(abs(y - model.predict_one(x)))
        model.learn_one(x, y)
    # Without b the best prediction misses by the spread of b².
    best = np.abs(X[:, 1] ** 2 - 1.0).mean() if change == "vanish" else np.mean(late[N // 2 : N])
    assert np.mean(late[-N:]) < 1.3 * best
