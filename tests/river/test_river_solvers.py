"""The River classes with solver="newton"."""

import math

import numpy as np
import pandas as pd
import pytest
from river import datasets, evaluate, metrics, preprocessing

from colk import FileFormatError, _stored
from colk.kernels import Gaussian
from colk.learners import COLK, HedgedCOLK, HedgedNewtonCOLK, NewtonCOLK
from colk.losses import Softmax
from colk.risks import Variance
from colk.river import COLKClassifier, COLKRegressor

RNG = np.random.default_rng(0)
STREAM = [
    ({"a": float(a), "b": float(b)}, math.sin(2 * a) + 0.1 * float(noise))
    for a, b, noise in RNG.normal(size=(700, 3))
]
CLASSES = [(x, ("low", "middle", "high")[int(np.digitize(y, [-0.5, 0.5]))]) for x, y in STREAM]


def learned(model, stream):
    for x, y in stream:
        model.learn_one(x, y)
    return model


def predictions(model):
    return [model.predict_one(x) for x, _ in STREAM]


def test_the_short_way_is_the_learner_to_the_bit():
    settings = {"kernel": Gaussian(0.5), "risk": Variance(0.1), "forgetting": 0.99}
    model = learned(COLKRegressor(solver="newton", **settings), STREAM)
    other = learned(COLKRegressor(solver="newton", **settings), STREAM[:1])
    for x, y in STREAM[1:]:
        other._feed = None  # forces the long way
        other.learn_one(x, y)
    assert model.function == other.function
    assert type(model._online.learner) is HedgedNewtonCOLK
    assert model._online.learner.forgetting == 0.99
    assert model.n_atoms > 32  # the buffers have grown on the way


def test_many_is_one_after_the_other_to_the_bit():
    X, y = pd.DataFrame([x for x, _ in STREAM]), pd.Series([y for _, y in STREAM])
    one, many = learned(COLKRegressor(solver="newton"), STREAM), COLKRegressor(solver="newton")
    many.learn_many(X, y)
    assert predictions(one) == predictions(many)
    labels = pd.Series([y for _, y in CLASSES])
    one, many = learned(COLKClassifier(solver="newton"), CLASSES), COLKClassifier(solver="newton")
    many.learn_many(X, labels)
    assert predictions(one) == predictions(many)


def test_the_first_samples_choose_the_kernel():
    model = learned(COLKRegressor(solver="newton"), STREAM)
    assert not model.race.default_won
    # Targets have the same units in both if both remember all samples.
    one, other = (
        learned(COLKRegressor(**settings), STREAM)
        for settings in ({"solver": "newton", "forgetting": 1.0}, {"solver": "gradient"})
    )
    assert str(one.race) == str(other.race)
    assert np.mean([abs(model.predict_one(x) - y) for x, y in STREAM]) < 0.12


def test_features_and_classes_may_come_later():
    model = learned(COLKClassifier(solver="newton"), [s for s in CLASSES if s[1] != "high"])
    before = model.predict_proba_one({"a": 0.3})
    model._place_of("high")
    after = model.predict_proba_one({"a": 0.3})
    assert after["low"] / after["middle"] == pytest.approx(before["low"] / before["middle"])
    learned(model, [({**x, "c": 1.0}, y) for x, y in CLASSES])
    assert model.feature_names == ["a", "b", "c"]
    hits = [model.predict_one({**x, "c": 1.0}) == y for x, y in CLASSES]
    assert np.mean(hits) > 0.9


def test_a_learner_that_grows_knows_what_it_knew():
    X, y = RNG.normal(size=(101, 2)), RNG.integers(0, 2, size=101)
    learner = NewtonCOLK(Gaussian(1.0), Softmax(), n_outputs=2).learn(X, y)
    before, covariance = learner.predict(X), learner.covariance
    learner.grow(n_features=3, n_outputs=4)
    wide = np.column_stack([X, np.zeros(101)])
    np.testing.assert_allclose(learner.predict(wide)[:, :2], before, rtol=1e-12)
    np.testing.assert_array_equal(learner.covariance, covariance)
    learner.learn(wide, (y + 2) % 4)
    assert np.isfinite(learner.predict(wide)).all()


def test_a_truth_that_stands_still_is_found_sooner():
    def error(**settings):
        found = 0.0
        for seed in (3, 4, 5):
            model = preprocessing.StandardScaler() | COLKRegressor(**settings)
            stream = datasets.synth.Friedman(seed=seed).take(2000)
            found += evaluate.progressive_val_score(stream, model, metrics.MAE()).get()
        return found

    assert error() < 0.85 * error(solver="gradient")


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier])
@pytest.mark.parametrize(
    ("settings", "solver", "forgetting"),
    [
        ({}, NewtonCOLK, "auto"),
        ({"risk": "mean", "max_atoms": 50, "prior": 0.5}, NewtonCOLK, "auto"),
        ({"prior": "auto"}, NewtonCOLK, 1.0),
        ({"risk": "cvar", "forgetting": 0.99}, HedgedNewtonCOLK, 0.99),
        ({"solver": "newton"}, NewtonCOLK, "auto"),
        ({"solver": "gradient"}, COLK, None),
        ({"risk": "variance"}, HedgedCOLK, None),
        ({"step_size": 0.3}, COLK, None),
        ({"averaging": True}, COLK, None),
        ({"gradient_bound": 5.0}, COLK, None),
        ({"regularization": 0.0}, COLK, None),
    ],
    ids=str,
)
def test_settings_choose_the_solver(kind, settings, solver, forgetting):
    stream = STREAM if kind is COLKRegressor else CLASSES
    learner = learned(kind(**settings), stream[:20])._online.learner
    assert type(learner) is solver
    assert getattr(learner, "forgetting", None) == forgetting


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"solver": "second"}, r"solver must be one of \['auto', 'gradient', 'newton'\]"),
        (
            {"solver": "gradient", "forgetting": 0.9},
            "forgetting=0.9 would be ignored beside solver='gradient'",
        ),
        ({"solver": "newton", "step_size": 0.1}, "step_size=0.1 would be ignored"),
        ({"forgetting": 0.9, "step_size": 0.1}, "step_size=0.1 would be ignored"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_at_once(kind, settings, said):
    with pytest.raises(ValueError, match=said):
        kind(**settings)


def test_a_file_with_a_learner_of_the_other_solver_is_refused():
    parts = _stored.pack(learned(COLKRegressor(solver="newton"), STREAM[:20]))
    parts["parameters"]["solver"] = "gradient"
    with pytest.raises(FileFormatError, match="solver='gradient'"):
        _stored.restore(COLKRegressor, parts, _stored.Memory(10**9).check)
