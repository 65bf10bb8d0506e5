"""River's models look for drift: events, names of features, copies and files."""

import pickle

import numpy as np
import pandas as pd
import pytest

import colk
from colk.river import COLKClassifier, COLKQuantileRegressor, COLKRegressor

N, LATE = 2400, 1900
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
X[LATE:, 1] += 2.0
SIGN = np.where(np.arange(N) < LATE, 1.0, -1.0)
NUMBERS = SIGN * X[:, 0] + np.sin(X[:, 1]) + 0.1 * RNG.normal(size=N)
LABELS = (X[:, 0] > 0.0) ^ (X[:, 1] > 2.0)
MODELS = {
    "default": (lambda: COLKRegressor(max_atoms=20), NUMBERS),
    "gradient": (lambda: COLKRegressor(kernel="laplacian", solver="gradient"), NUMBERS),
    "classes": (lambda: COLKClassifier(kernel="laplacian", max_atoms=20), LABELS),
    "quantiles": (lambda: COLKQuantileRegressor(kernel="laplacian", max_atoms=20), NUMBERS),
}


def sample(t):
    return {"b": float(X[t, 1]), "a": float(X[t, 0])}


@pytest.mark.parametrize("name", MODELS)
def test_a_drift_has_time_severity_and_names(name, tmp_path):
    make, y = MODELS[name]
    model, found, targets = make(), [], y.tolist()
    assert model.drifts == []
    assert not model.drift_detected
    twins = []
    for t in range(N):
        if t == 1234:
            colk.save(model, tmp_path / "model")
            twins = [colk.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
        for each in (model, *twins):
            each.learn_one(sample(t), targets[t])
        if model.drift_detected:
            found.append(t + 1)
    assert [drift.time for drift in model.drifts] == found
    assert LATE < found[0] < LATE + 200
    assert model.drifts[0].severity > 0.2
    assert list(model.drifts[0].features) == ["b"]
    assert [twin.drifts for twin in twins] == 2 * [model.drifts]
    assert model.clone().drifts == []


def test_frames():
    frame, y = pd.DataFrame(X, columns=["a", "b"]), pd.Series(NUMBERS)
    model = COLKRegressor(max_atoms=20)
    model.learn_many(frame[:LATE], y[:LATE])
    assert not model.drift_detected
    model.learn_many(frame[LATE:], y[LATE:])
    assert model.drift_detected
    assert list(model.drifts[0].features) == ["b"]


def test_a_refused_frame_is_not_watched():
    frame, y = pd.DataFrame(X, columns=["a", "b"]), pd.Series(NUMBERS)
    model = COLKRegressor(kernel="laplacian")
    model.learn_many(frame[:LATE], y[:LATE])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="infinity"):
        model.learn_many(frame[LATE:].assign(c=np.inf), y[LATE:])
    assert pickle.loads(before).drifts == model.drifts == []
    model.learn_many(frame[LATE:], y[LATE:])
    assert model.drifts[0].time > LATE


def test_a_still_stream_raises_no_alarm():
    model, rng = COLKRegressor(max_atoms=20), np.random.default_rng(1)
    for _ in range(6000):
        a, b = rng.normal(size=2).tolist()
        model.learn_one({"a": a, "b": b}, a * b + 0.3 * rng.normal())
    assert model.drifts == []
