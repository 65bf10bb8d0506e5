"""An interrupted call leaves a River model unchanged and usable."""

import copy
import math
import os
import signal

import numpy as np
import pandas as pd
import pytest

from colk import DivergenceError
from colk._engine.running_scale import RunningScale
from colk.kernels import Gaussian, Linear
from colk.losses import CustomLoss
from colk.river import COLKClassifier, COLKRegressor

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["a", "b"])
Y = np.sin(2.0 * X["a"])
LABELS = pd.Series(np.where(Y > 0.5, "high", np.where(Y < -0.5, "low", "middle")))
ROWS = X.to_dict("records")


def wild(rows):
    """Rows with a new feature, the last of which makes a linear kernel overflow."""
    table = rows.copy()
    table["c"] = 0.0
    table.iloc[-1] = 1e80
    return table


def begun(kind, targets, **settings):
    model = kind(kernel=Gaussian(1.0) + 1e-3 * Linear(), **settings)
    for row, target in zip(ROWS[:50], targets[:50], strict=True):
        model.learn_one(row, target)
    return model


def state(model):
    if isinstance(model, COLKClassifier):
        return [model.predict_proba_one(row) for row in ROWS]
    return [model.predict_one(row) for row in ROWS]


def goes_on_as(model, twin, targets):
    for row, target in zip(ROWS[50:], targets[50:], strict=True):
        model.learn_one(row, target)
        twin.learn_one(row, target)
    return state(model) == state(twin)


@pytest.mark.parametrize("averaging", [True, False])
@pytest.mark.parametrize(("kind", "targets"), [(COLKRegressor, Y), (COLKClassifier, LABELS)])
def test_a_mini_batch_that_diverges_is_forgotten(kind, targets, averaging):
    model = begun(kind, targets, averaging=averaging)
    twin = begun(kind, targets, averaging=averaging)
    before, atoms = state(model), model.n_atoms
    with pytest.raises(DivergenceError):
        model.learn_many(wild(X[50:]), targets[50:])
    assert state(model) == before
    assert (model.n_atoms, model.feature_names) == (atoms, ["a", "b"])
    assert goes_on_as(model, twin, targets)


def test_a_first_mini_batch_that_diverges_is_forgotten():
    model = COLKClassifier(kernel=Gaussian(1.0) + 1e-3 * Linear())
    with pytest.raises(DivergenceError):
        model.learn_many(wild(X), LABELS)
    assert model.predict_proba_one(ROWS[0]) == {}
    assert model.feature_names == []
    model.learn_many(X, LABELS)
    assert set(model.predict_proba_one(ROWS[0])) == {"high", "low", "middle"}


def test_a_sample_that_diverges_leaves_no_mark():
    model, twin = begun(COLKRegressor, Y), begun(COLKRegressor, Y)
    before = state(model)
    with pytest.raises(DivergenceError):
        model.learn_one({"a": 1e80, "b": 0.0}, 5.0)
    assert state(model) == before
    assert goes_on_as(model, twin, Y)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_an_interrupt_and_what_a_function_raises(kind, many, solver):
    armed = []

    def slope(f, y):
        if len(armed) == 1:
            armed.append(True)
            if kind is KeyboardInterrupt:
                os.kill(os.getpid(), signal.SIGINT)
            raise kind("broken off")
        return f - y

    loss = CustomLoss(lambda f, y: 0.5 * (f - y) ** 2, slope)
    model, twin = (begun(COLKRegressor, Y, loss=loss, solver=solver) for _ in range(2))
    before = state(model)
    armed.append(True)
    learn = model.learn_many if many else model.learn_one
    with pytest.raises(kind):
        learn(*((X[50:], Y[50:]) if many else (ROWS[50], 9.0)))
    # A Newton step first adds the update of the step before to the weights, which rounds.
    assert state(model) == (before if solver == "gradient" else pytest.approx(before, rel=1e-12))
    assert goes_on_as(model, twin, Y)


def scale_of(*values):
    scale = RunningScale()
    for value in values:
        scale.update(value, 1.0)
    return scale


def test_the_running_scale_is_that_of_numpy():
    y, w = 1e3 + RNG.normal(size=200), RNG.random(200)
    scale = RunningScale()
    for target, weight in zip(y.tolist(), w.tolist(), strict=True):
        scale.update(target, weight)
    mean = np.average(y, weights=w)
    deviation = math.sqrt(np.average((y - mean) ** 2, weights=w))
    assert scale.means == pytest.approx(mean, rel=1e-13)
    assert scale.units == scale.deviations == pytest.approx(deviation, rel=1e-10)
    huge = scale_of(1e300, -1e300)
    assert (huge.means, huge.units) == (0.0, pytest.approx(1e300))
    with pytest.raises(ValueError, match="too large to be scaled"):
        scale_of(1.7e308, -1.7e308)


def test_a_scale_takes_values_in_any_way():
    y, w = RNG.normal(3.0, 2.0, size=(60, 1)), RNG.random(60)
    one, rows = RunningScale(1), RunningScale(1)
    scaled = [one.update(value, weight) for value, weight in zip(y[:, 0], w, strict=True)]
    table = y.copy()
    assert rows.absorb(table[:25], w[:25]) + rows.absorb(table[25:], w[25:]) == 60
    assert scaled == table[:, 0].tolist()
    whole = RunningScale(1).merged(y[:25], w[:25]).merged(y[25:], w[25:])
    for other in (rows, whole):
        assert other.means == pytest.approx(one.means, rel=1e-13)
        assert other.deviations == pytest.approx(one.deviations, rel=1e-13)
        assert other.total == pytest.approx(one.total)
    assert whole.unscaled(whole.scaled(y)) == pytest.approx(y)


def test_an_update_can_be_undone():
    scale = scale_of(1.0, 4.0)
    before = copy.copy(scale)
    scale.update(100.0, 3.0)
    scale.undo()
    assert [scale.total, *scale.means, *scale.units] == [before.total, *before.means, *before.units]


def test_targets_that_are_equal_have_a_unit():
    assert scale_of(0.0).units == 1.0
    assert scale_of(-5.0, -5.0).units == 5.0


def test_kinds_of_numbers_and_of_mappings_are_taken():
    model = begun(COLKRegressor, Y)
    plain = model.predict_one({"a": 1.0, "b": 0.0})
    for a, b in ((1, False), (np.float32(1.0), np.int64(0)), (True, np.bool_(False))):
        assert model.predict_one({"a": a, "b": b}) == plain
    assert model.predict_one(pd.Series({"a": 1.0, "b": 0.0})) == plain
    assert model.predict_one({"a": "1", "b": 0.0}) == model.predict_one({"b": 0.0})  # a new text
    for bad in ([1.0], 1j, math.inf):
        with pytest.raises((TypeError, ValueError), match="must be"):
            model.predict_one({"a": bad, "b": 0.0})
