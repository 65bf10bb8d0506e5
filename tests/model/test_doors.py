"""The same settings and data give the same learner through every class and the command."""

from dataclasses import fields
from inspect import signature

import numpy as np
import pandas as pd
import pytest

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, river
from colk.cli import main
from colk.model import (
    CLASSIFIER,
    QUANTILE_REGRESSOR,
    REGRESSOR,
    RIVER_CLASSIFIER,
    RIVER_REGRESSOR,
    Recipe,
    Settings,
)
from colk.tabular import TableModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]
LABELS = np.where(Y > 0.0, "b", "a")
LABELS[0] = "a"  # classes in the order in which they appear are sorted, too
NAMES = ["u", "v", "w"]
FRAME = pd.DataFrame(X, columns=NAMES)
COLUMNS = dict(zip(NAMES, X.T, strict=True))
# Defaults of these settings differ between the classes.
COMMON = {"kernel": "gaussian", "bandwidth": 0.8, "max_atoms": 60, "averaging": True}


def settings_of(learner):
    """Return the settings of a learner by name; its number of outputs is no setting."""
    names = signature(type(learner)).parameters.keys() - {"n_outputs", "trace"}
    return {name: getattr(learner, name) for name in names}


def by_estimator(kind, y, **settings):
    more = {} if kind is COLKRegressor else {"classes": np.unique(y)}
    return kind(**settings).partial_fit(X, y, **more)._online.learner


def by_river(kind, y, **settings):
    model = kind(**settings)
    for row, target in zip(FRAME.to_dict("records"), y.tolist(), strict=True):
        model.learn_one(row, target)
    return model._online.learner


def by_river_batches(kind, y, **settings):
    model = kind(**settings)
    model.learn_many(FRAME, pd.Series(y))
    return model._online.learner


def by_table(task, y, **settings):
    model = TableModel("y", NAMES, task=task, scale=False, **settings)
    return model.learn(COLUMNS, y)._online.learner


def by_command(task, y, folder, **settings):
    path, model = folder / "rows.csv", folder / "model.colk"
    FRAME.assign(y=y).to_csv(path, index=False)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    command = ["fit", str(path), "--target=y", f"--task={task}", "--model", str(model), *flags]
    assert main(command) == 0
    return colk.load(model)._online.learner


REGRESSIONS = [
    {},
    {"loss": "squared"},
    {"loss": "pinball", "eps": 0.01},
    {"risk": "variance"},
    {"risk": "cvar"},
    {"step_size": 0.3},
    {"solver": "newton", "forgetting": 1.0},
    {"solver": "newton", "forgetting": 0.99},
]


@pytest.mark.parametrize("more", REGRESSIONS, ids=str)
def test_regressors_have_one_learner(more, tmp_path):
    settings = {**COMMON, **more}
    expected = settings_of(by_estimator(COLKRegressor, Y, **settings))
    assert settings_of(by_river(river.COLKRegressor, Y, **settings)) == expected
    assert settings_of(by_river_batches(river.COLKRegressor, Y, **settings)) == expected
    assert settings_of(by_table("regression", Y, **settings)) == expected
    del settings["averaging"]  # which is the command's default
    assert settings_of(by_command("regression", Y, tmp_path, **settings)) == expected


def test_rivers_regressor_and_a_table_follow_one_path():
    settings = {**COMMON, "risk": "variance"}
    one, many = river.COLKRegressor(**settings), river.COLKRegressor(**settings)
    for row, target in zip(FRAME.to_dict("records"), Y.tolist(), strict=True):
        one.learn_one(row, target)
    many.learn_many(FRAME, pd.Series(Y))
    table = TableModel("y", NAMES, scale=False, **settings).learn(COLUMNS, Y)
    expected = [one.predict_one(row) for row in FRAME.to_dict("records")]
    assert many.predict_many(FRAME).tolist() == expected
    assert table.predict(COLUMNS).tolist() == expected


CLASSIFICATIONS = [
    {"step_size": 1.5},
    {"step_size": 0.4, "risk": "variance"},
    {"solver": "newton", "forgetting": 1.0},
]


@pytest.mark.parametrize("more", CLASSIFICATIONS, ids=str)
def test_classifiers_have_one_learner_and_one_path(more, tmp_path):
    settings = {**COMMON, **more}
    learner = by_estimator(COLKClassifier, LABELS, loss="softmax", **settings)
    expected, scores = settings_of(learner), learner.predict(X)
    others = [
        by_river(river.COLKClassifier, LABELS, **settings),
        by_river_batches(river.COLKClassifier, LABELS, **settings),
        by_table("classification", LABELS, **settings),
    ]
    for other in others:
        assert settings_of(other) == expected
        assert np.array_equal(other.predict(X), scores)
    # `fit` knows that there are two classes, and then has one output.
    del settings["averaging"]
    fitted = COLKClassifier(**settings).fit(X, LABELS)._online.learner
    found = settings_of(by_command("classification", LABELS, tmp_path, **settings))
    assert found == settings_of(fitted)


def test_a_step_of_rivers_classifier_is_half_as_long():
    settings = {"kernel": "gaussian", "bandwidth": 0.8, "solver": "gradient"}
    half, whole = (
        by_river(river.COLKClassifier, LABELS, **settings),
        by_estimator(COLKClassifier, LABELS, loss="softmax", **settings),
    )
    assert half.step_size.initial == 0.5 * whole.step_size.initial
    names = {"step_size", "averaging", "compressor"}  # the other deliberate differences
    same = settings_of(half).keys() - names
    assert {n: settings_of(half)[n] for n in same} == {n: settings_of(whole)[n] for n in same}


DEFAULTS = {
    COLKRegressor: REGRESSOR,
    COLKClassifier: CLASSIFIER,
    COLKQuantileRegressor: QUANTILE_REGRESSOR,
    river.COLKRegressor: RIVER_REGRESSOR,
    river.COLKClassifier: RIVER_CLASSIFIER,
}


@pytest.mark.parametrize("kind", DEFAULTS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_defaults_of_constructors_are_those_of_the_recipe(kind):
    parameters, defaults = signature(kind).parameters, DEFAULTS[kind]
    common = [field.name for field in fields(Settings) if field.name in parameters]
    assert {"kernel", "step_size", "eps", "max_atoms"} <= set(common)
    for name in common:
        assert parameters[name].default == getattr(defaults, name), name


def test_a_bandwidth_for_standardised_features_is_that_of_the_data():
    rows = np.sqrt(3.0) * np.eye(3)[RNG.integers(0, 3, 300)] * RNG.choice([-1.0, 1.0], (300, 1))
    rows /= np.sqrt(np.mean(rows**2))
    settings = Settings(kernel="gaussian")
    by_data = Recipe.from_data(settings, np.concatenate([rows, -rows]))
    by_shape = Recipe.from_shape(settings, 3)
    assert by_data.kernel.bandwidth == pytest.approx(by_shape.kernel.bandwidth)
    assert by_data.step_size == by_shape.step_size == 1.0


def test_only_the_stream_checks_rows(monkeypatch):
    model = COLKRegressor(kernel="gaussian").partial_fit(X, Y)
    looked = []
    isfinite = np.isfinite

    def counted(values, *more, **named):
        looked.append(np.shape(values))
        return isfinite(values, *more, **named)

    monkeypatch.setattr(np, "isfinite", counted)
    model.partial_fit(X[:7], Y[:7])
    assert looked == []
    before = model.function_
    for value in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="X contains infinity"):
            model.partial_fit(np.full((7, 3), value), Y[:7])
        with pytest.raises(ValueError, match="y"):
            model.partial_fit(X[:7], np.full(7, value))
    assert model.function_ == before
