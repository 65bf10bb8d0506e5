"""Drift events: found soon, never on streams without change, with severity and features."""

import copy
import pickle

import numpy as np
import pytest
from river import linear_model

import colk
from colk import river
from colk.learners import DriftDetector


def losses(n, seed=0):
    return np.abs(np.random.default_rng(seed).normal(size=n))


def run(detector, values):
    for value in values.tolist():
        detector.update(value)
    return detector.events


def test_a_rise_is_found_and_measured():
    values = losses(6000)
    values[5000:] *= 3.0
    (event,) = run(DriftDetector(), values)
    assert 5000 < event.time <= 5100
    assert 1.0 < event.severity < 3.0
    assert event.features == {}


def test_a_fall_is_no_drift():
    values = losses(6000)
    values[3000:] *= 0.2
    assert run(DriftDetector(), values) == []


@pytest.mark.parametrize("kind", ["normal", "heavy", "wrong"])
def test_still_streams_raise_no_alarm(kind):
    rng = np.random.default_rng(3)
    draws = {
        "normal": np.abs(rng.normal(size=30_000)),
        "heavy": np.abs(rng.standard_t(1.2, size=30_000)),
        "wrong": (rng.random(30_000) < 0.1).astype(float),
    }
    assert run(DriftDetector(), draws[kind]) == []
    assert run(DriftDetector(threshold=2.0), draws[kind]) != []  # the threshold matters


@pytest.mark.parametrize("n_bad", [300, 500, 900])
def test_a_rise_is_found_although_the_model_began_badly(n_bad):
    losses = np.abs(np.random.default_rng(n_bad).normal(size=4000))
    losses[:n_bad] *= 6.0
    losses[2000:] *= 1.5
    (event,) = DriftDetector().update_many(losses)
    assert 2000 < event.time < 2300
    assert event.severity == pytest.approx(0.5, abs=0.4)  # the bad beginning is left out


def test_it_begins_anew_after_an_alarm():
    values = losses(12_000)
    values[4000:] *= 3.0
    values[9000:] *= 3.0
    assert [event.time // 1000 for event in run(DriftDetector(), values)] == [4, 9]


def test_a_copy_goes_on():
    values = losses(6000)
    values[5000:] *= 3.0
    whole = run(DriftDetector(), values)
    half = DriftDetector()
    run(half, values[:2345])
    for twin in (copy.deepcopy(half), pickle.loads(pickle.dumps(half))):
        assert run(twin, values[2345:]) == whole


def test_a_watched_model_goes_on_from_its_file(tmp_path):
    rng = np.random.default_rng(0)
    model, path = river.DriftWatch(river.COLKRegressor(kernel="laplacian")), tmp_path / "watch"
    for t in range(3000):
        if t == 1234:
            colk.save(model, path)
            twin = colk.load(path)
        x = {"a": rng.normal(), "b": None if t % 7 == 0 else rng.normal() + 3.0 * (t >= 2000)}
        y = x["a"] + 0.3 * rng.normal() * (1.0 + 3.0 * (t >= 2000))
        for each in (model,) if t < 1234 else (model, twin):
            each.learn_one(x, y)
    assert twin.drifts == model.drifts
    (event,) = model.drifts
    assert 2000 < event.time < 2100
    assert event.features["b"] == pytest.approx(3.0, abs=0.7)
    colk.save(model, path)
    assert colk.load(path).drifts == model.drifts


@pytest.mark.parametrize("labels", [False, True])
def test_a_watched_model_names_the_features(labels):
    rng = np.random.default_rng(0)
    if labels:
        model = river.DriftWatch(linear_model.LogisticRegression())
    else:
        model = river.DriftWatch(linear_model.LinearRegression())
    times = []
    for t in range(5000):
        x = {"a": rng.normal(), "b": rng.normal() + 2.0 * (t >= 4000), "c": rng.normal()}
        late = t >= 4000
        model.learn_one(x, (x["a"] > 0.0) != late if labels else x["a"] + x["b"] ** 2)
        if model.drift_detected:
            times.append(t + 1)
    assert [event.time for event in model.drifts] in (times, [t - 1 for t in times])
    assert 4000 < times[0] < 4300
    assert next(iter(model.drifts[0].features)) == "b"
    assert "c" not in model.drifts[0].features


def test_rivers_detector():
    detector = river.DriftDetector()
    values = losses(6000)
    values[5000:] *= 3.0
    found = []
    for t, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            found.append(t)
    assert [event.time - 1 for event in detector.events] == found
    assert detector.clone().events == []
