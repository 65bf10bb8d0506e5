"""Features that are missing, new, vanished or renamed."""

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


MODELS = {
    "regressor": (COLKRegressor, Y),
    "regressor of one kernel": (lambda: COLKRegressor(kernel="laplacian"), Y),
    "quantiles": (lambda: COLKQuantileRegressor(kernel="laplacian"), Y),
    "classifier": (lambda: COLKClassifier(kernel="laplacian"), Y > 1.0),
}


@pytest.mark.parametrize("gap", [absent, empty])
@pytest.mark.parametrize("name", MODELS)
def test_a_gap_is_zero_to_the_bit(name, gap):
    make, targets = MODELS[name]
    model, twin = make(), make()
    for row, holes, y in zip(X.tolist(), HOLES, targets.tolist(), strict=True):
        model.learn_one(gap(row, holes), y)
        twin.learn_one(zero(row, holes), y)
    assert model.feature_names == ["a", "b", "c"]
    for row, holes in zip(X[:50].tolist(), HOLES[:50], strict=True):
        assert model.predict_one(gap(row, holes)) == twin.predict_one(zero(row, holes))
    assert pickle.dumps(model.function) == pickle.dumps(twin.function)


def test_gaps_in_data_frames():
    table = pd.DataFrame(np.where(HOLES, np.nan, X), columns=list("abc")).assign(d=np.nan)
    nullable = table.astype({"b": "Float64", "c": object})
    zeros = table.drop(columns="d").fillna(0.0)
    found = []
    for frame in (table, nullable, zeros):
        model = COLKRegressor(kernel="laplacian")
        model.learn_many(frame, pd.Series(Y))
        assert model.feature_names == ["a", "b", "c"]  # d never had a value
        found.append(model.predict_many(frame).tolist())
    assert found[0] == found[1] == found[2]


def test_a_feature_without_a_value_gets_no_column():
    model = COLKRegressor()
    model.learn_one({"a": 1.0, "b": None}, 1.0)
    model.learn_one({"a": 1.0, "b": math.nan}, 1.0, w=0.0)
    assert model.feature_names == ["a"]
    model.learn_one({"a": 1.0, "b": 2}, 1.0)
    assert model.feature_names == ["a", "b"]


def test_texts_are_refused_with_advice():
    with pytest.raises(TypeError, match=r"put preprocessing\.OneHotEncoder before"):
        COLKRegressor().learn_one({"city": "Bonn"}, 1.0)


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
