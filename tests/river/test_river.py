"""The River classes: changing features, weights, mini-batches, the path to the stream."""

import copy
import math
import pickle
import random

import numpy as np
import pandas as pd
import pytest
from river import compose, datasets, drift, evaluate, metrics, preprocessing

from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Softmax
from colk.risks import Variance
from colk.river import COLKClassifier, COLKRegressor

RNG = np.random.default_rng(0)
STREAM = [
    ({"a": float(a), "b": float(b)}, math.sin(2 * a) + 0.1 * float(noise))
    for a, b, noise in RNG.normal(size=(400, 3))
]
CLASSES = [(x, ("low", "middle", "high")[int(np.digitize(y, [-0.5, 0.5]))]) for x, y in STREAM]


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def predictions(model, stream=STREAM):
    return [model.predict_one(x) for x, _ in stream]


def test_it_learns():
    model = learned(COLKRegressor(), STREAM)
    errors = [abs(model.predict_one(x) - y) for x, y in STREAM]
    assert np.mean(errors) < 0.3
    assert model.feature_names == ["a", "b"]
    assert 0 < model.n_atoms <= 200
    assert model.function.n_atoms == model.n_atoms


def test_the_short_way_is_the_learner_to_the_bit():
    settings = {"kernel": Gaussian(0.5), "risk": Variance(0.1), "eps": 0.01}
    model = learned(COLKRegressor(**settings), STREAM)
    other = learned(COLKRegressor(**settings), STREAM[:1])
    for x, y in STREAM[1:]:
        other._feed = None  # forces the long way
        other.learn_one(x, y)
    assert model.function == other.function
    assert model._online.learner.n_atoms > 32  # the buffers have grown on the way


@pytest.mark.parametrize("averaging", [True, False])
def test_many_is_one_after_the_other_to_the_bit(averaging):
    X = pd.DataFrame([x for x, _ in STREAM])
    weight = np.tile([1.0, 2.0, 0.0, 0.5], 100)
    one, many = COLKRegressor(averaging=averaging), COLKRegressor(averaging=averaging)
    for (x, y), w in zip(STREAM, weight, strict=True):
        one.learn_one(x, y, w=float(w))
    many.learn_many(X, pd.Series([y for _, y in STREAM]), w=weight)
    assert predictions(one) == predictions(many)
    np.testing.assert_allclose(many.predict_many(X), predictions(many), rtol=1e-12)
    one, many = COLKClassifier(averaging=averaging), COLKClassifier(averaging=averaging)
    for (x, y), w in zip(CLASSES, weight, strict=True):
        one.learn_one(x, y, w=float(w))
    many.learn_many(X, pd.Series([y for _, y in CLASSES]), w=weight)
    assert predictions(one) == predictions(many)
    assert list(many.predict_many(X)) == predictions(many)


def test_a_new_feature_changes_nothing_where_it_is_zero():
    model = learned(COLKRegressor(), STREAM)
    before = predictions(model)
    model.learn_one({"a": 0.0, "b": 0.0, "c": 0.0}, 0.0, w=0.0)
    assert model.feature_names == ["a", "b", "c"]
    np.testing.assert_allclose(predictions(model), before, rtol=1e-12)
    model.learn_one({"c": 3.0}, 5.0)
    assert model.predict_one({"c": 3.0}) > model.predict_one({}) + 0.2


def test_a_missing_feature_is_a_gap_and_an_unknown_one_is_left_out():
    model = learned(COLKRegressor(), STREAM)
    assert model.predict_one({"a": 1.0}) == model.predict_one({"a": 1.0, "b": None})
    assert model.predict_one({"a": 1.0, "z": 9.0}) == model.predict_one({"a": 1.0})
    assert model.feature_names == ["a", "b"]


def test_a_new_class_changes_no_ratio_of_the_others():
    model = learned(COLKClassifier(), [s for s in CLASSES if s[1] != "high"])
    before = model.predict_proba_one({"a": 0.3, "b": 0.1})
    model._place_of("high")
    after = model.predict_proba_one({"a": 0.3, "b": 0.1})
    assert set(after) == {"low", "middle", "high"}
    assert after["low"] / after["middle"] == pytest.approx(before["low"] / before["middle"])


def test_growing_keeps_averages_windows_and_ghosts():
    X, y = RNG.normal(size=(101, 2)), RNG.integers(0, 2, size=101)
    learner = COLK(Gaussian(1.0), Softmax(), Variance(0.1), n_outputs=2).learn(X, y)
    before, waiting = learner.predict(X), learner._state().pack()["window"]
    learner.grow(n_features=3, n_outputs=4)
    wide = np.column_stack([X, np.zeros(101)])
    np.testing.assert_allclose(learner.predict(wide)[:, :2], before, rtol=1e-12)
    np.testing.assert_array_equal(learner.predict(wide)[:, 2:], 0.0)
    grown = learner._state().pack()["window"]
    assert len(waiting["points"]) == 1
    np.testing.assert_array_equal(grown["points"], np.column_stack([waiting["points"], [0.0]]))
    for name in ("targets", "weights", "g"):
        np.testing.assert_array_equal(grown[name], waiting[name])
    learner.learn(wide, (y + 2) % 4)
    assert np.isfinite(learner.predict(wide)).all()


def test_nothing_and_one_class():
    model = COLKClassifier()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, "only")
    assert model.predict_proba_one({"a": 1.0}) == {"only": 1.0}
    assert COLKRegressor().predict_one({"a": 1.0}) == 0.0


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_units_of_the_target_do_not_matter(unit):
    expected = predictions(learned(COLKRegressor(), STREAM))
    model = learned(COLKRegressor(), [(x, unit * y) for x, y in STREAM])
    np.testing.assert_allclose(predictions(model), unit * np.array(expected), rtol=1e-9)


def test_the_order_of_features_does_not_matter_to_the_bit():
    shuffled = [(dict(random.Random(0).sample(list(x.items()), 2)), y) for x, y in STREAM]
    assert predictions(learned(COLKRegressor(), shuffled)) == predictions(
        learned(COLKRegressor(), STREAM)
    )


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_their_own_way(duplicate):
    model = learned(COLKRegressor(averaging=True), STREAM[:200])
    twin = duplicate(model)
    before = predictions(model)
    learned(twin, STREAM[200:])
    assert predictions(model) == before
    assert predictions(learned(model, STREAM[200:])) == predictions(twin)


BAD_SAMPLES = {
    "infinity": ({"a": math.inf, "b": 1.0}, 1.0, 1.0),
    "a list": ({"a": [1.0], "b": 1.0}, 1.0, 1.0),
    "infinity in a new feature": ({"a": 1.0, "b": 1.0, "c": -math.inf}, 1.0, 1.0),
    "infinity beside a gap": ({"a": math.inf, "b": math.nan}, 1.0, 1.0),
    "target": ({"a": 1.0, "b": 1.0}, math.nan, 1.0),
    "target of text": ({"a": 1.0, "b": 1.0}, "high", 1.0),
    "weight": ({"a": 1.0, "b": 1.0}, 1.0, -1.0),
}


@pytest.mark.parametrize(("x", "y", "w"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_bad_samples_leave_the_model_unchanged(x, y, w):
    model = learned(COLKRegressor(), STREAM)
    before, state = predictions(model), pickle.dumps(model.function)
    with pytest.raises((ValueError, TypeError), match="must be"):
        model.learn_one(x, y, w=w)
    assert predictions(model) == before
    assert pickle.dumps(model.function) == state
    assert model.feature_names == ["a", "b"]


def test_bad_batches_leave_the_model_unchanged():
    model = learned(COLKRegressor(), STREAM)
    before = predictions(model)
    X = pd.DataFrame({"a": [1.0, 2.0], "c": [1.0, math.inf]})
    with pytest.raises(ValueError, match="feature 'c' contains infinity"):
        model.learn_many(X, pd.Series([1.0, 2.0]))
    with pytest.raises(TypeError, match="feature 'a' must hold real numbers"):
        model.learn_many(pd.DataFrame({"a": [1j, 2j]}), pd.Series([1.0, 2.0]))
    with pytest.raises(ValueError, match="y has 1 entries, expected 2"):
        model.learn_many(X[["a"]], pd.Series([1.0]))
    assert predictions(model) == before
    labels = learned(COLKClassifier(), CLASSES)
    with pytest.raises(ValueError, match="y must be a label"):
        labels.learn_one({"a": 1.0}, None)


def test_bad_settings_are_refused_at_once():
    with pytest.raises(ValueError, match="kernel 'cosine' is unknown"):
        COLKRegressor(kernel="cosine")
    with pytest.raises(TypeError, match="bandwidth must be a real number"):
        COLKRegressor(bandwidth="median")
    with pytest.raises(ValueError, match="a loss for classification"):
        COLKRegressor(loss="hinge")
    with pytest.raises(ValueError, match="step_size"):
        COLKClassifier(step_size=0.0)


def test_bundled_streams_behind_a_scaler():
    model = preprocessing.StandardScaler() | COLKClassifier()
    bananas = datasets.Bananas().take(2000)
    assert evaluate.progressive_val_score(bananas, model, metrics.Accuracy()).get() > 0.85
    model = preprocessing.StandardScaler() | COLKRegressor()
    trump = datasets.TrumpApproval().take(500)
    assert evaluate.progressive_val_score(trump, model, metrics.MAE()).get() < 1.0


def test_a_drift_detector_sees_the_errors():
    """ADWIN on the absolute error fires where the target changes sign."""
    model = compose.Pipeline(COLKRegressor(step_size=0.1, averaging=True))
    detector, alarms = drift.ADWIN(), []
    changed = [(x, -3.0 * y) for x, y in STREAM]
    for t, (x, y) in enumerate(STREAM + changed):
        detector.update(abs(model.predict_one(x) - y))
        if detector.drift_detected:
            alarms.append(t)
        model.learn_one(x, y)
    assert any(400 < t < 600 for t in alarms)


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_the_mean_of_the_targets_is_weighted(many):
    """Far from all samples the function is 0, and the prediction the targets' weighted mean."""
    y = [3.0, -1.0, 10.0, 4.0, 7.0]
    w = [1.0, 5.0, 0.5, 0.0, 2.0]
    rows = [{"a": float(i)} for i in range(5)]
    model = COLKRegressor(kernel=Gaussian(0.5))
    if many:
        model.learn_many(pd.DataFrame(rows), pd.Series(y), w=w)
    else:
        for row, target, weight in zip(rows, y, w, strict=True):
            model.learn_one(row, target, w=weight)
    assert model.predict_one({"a": 1e6}) == pytest.approx(np.average(y, weights=w), rel=1e-12)


@pytest.mark.parametrize("kernel", ["polynomial", "linear"])
def test_kernels_that_grow_with_the_features_keep_to_their_steps(kernel):
    metric = metrics.MAE()
    model = preprocessing.StandardScaler() | COLKRegressor(kernel=kernel)
    evaluate.progressive_val_score(datasets.TrumpApproval(), model, metric)
    assert metric.get() < 1.0
