"""A model of scaled rows follows their scale: a stream may be sorted."""

import copy
import pickle

import numpy as np
import pytest

import colk
from colk import COLKClassifier, COLKRegressor
from colk._engine.running_scale import RunningScale
from colk.kernels import Gaussian, Mahalanobis
from colk.learners import COLK, NewtonCOLK
from colk.learners.rescaled import rescaled

SETTINGS = {"kernel": "gaussian", "solver": "newton", "max_atoms": 150, "random_state": 0}
BATCH, SIZE = 100, 2000
ORDERS = {
    "by a feature": lambda X, y: X[:, 0],
    "by a feature, falling": lambda X, y: -X[:, 1],
    "by a feature without effect": lambda X, y: X[:, 2],
    "by the target": lambda X, y: y,
    "by the size of the target": lambda X, y: np.abs(y),
}


def rows_of(size=SIZE, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(size, 3))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=size)


def learned(X, y, model=None, batch=BATCH):
    model = COLKRegressor(**SETTINGS) if model is None else model
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


def sorted_rows(order, units=1.0):
    X, y = rows_of()
    places = np.argsort(ORDERS[order](X, y), kind="stable")
    return X[places] * units, y[places]


@pytest.mark.parametrize("units", [1.0, [100.0, 0.01, 1e5]], ids=["alike", "of three scales"])
@pytest.mark.parametrize("order", ORDERS)
def test_sorted_rows_are_learned_as_well_as_drawn_rows(order, units):
    X, y = sorted_rows(order, np.array(units))
    new, targets = rows_of(1000, seed=1)
    assert learned(X, y).score(new * units, targets) > 0.97


def test_the_last_rows_of_a_fit_may_be_of_another_scale():
    X, y = sorted_rows("by a feature")
    new, targets = rows_of(1000, seed=1)
    model = learned(X[200:], y[200:], COLKRegressor(**SETTINGS).fit(X[:200], y[:200]))
    assert model.score(new, targets) > 0.95


def test_sorted_labels_are_learned():
    X, y = sorted_rows("by a feature")
    new, targets = rows_of(1000, seed=1)
    model = COLKClassifier(kernel="gaussian", solver="newton", max_atoms=150, random_state=0)
    for start in range(0, SIZE, BATCH):
        rows = slice(start, start + BATCH)
        model.partial_fit(X[rows], y[rows] > 0.0, classes=[False, True])
    assert model.score(new, targets > 0.0) > 0.93


@pytest.mark.parametrize("batch", [1, 7, 450])
def test_the_parts_of_a_sorted_stream_do_not_matter(batch):
    X, y = (array[:600] for array in sorted_rows("by a feature"))
    expected = learned(X, y).predict(X[:50])
    assert np.array_equal(learned(X, y, batch=batch).predict(X[:50]), expected)


def test_a_copy_and_a_file_follow_the_scale_like_the_original(tmp_path):
    X, y = sorted_rows("by the target")
    model = learned(X[:650], y[:650])
    colk.save(model, tmp_path / "m.colk")
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    others.append(colk.load(tmp_path / "m.colk"))
    learned(X[650:], y[650:], model)
    for other in others:
        learned(X[650:], y[650:], other)
        assert np.array_equal(other.predict(X[:50]), model.predict(X[:50]))


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Mahalanobis(Gaussian(1.0), [[1.0, 0.5], [0.0, 1.0]])], ids=repr
)
def test_a_shift_changes_nothing_but_the_place(kernel):
    rng = np.random.default_rng(0)
    X, shift = rng.normal(size=(300, 2)), np.array([3.0, -1.0])
    learner = NewtonCOLK(kernel).learn(X, np.sin(X[:, 0]))
    moved = rescaled(learner, (np.ones(2), shift))
    assert np.allclose(moved.predict(X + shift), learner.predict(X), atol=1e-8)
    learner.learn(X, 1.0 + X[:, 1])  # the state is the same, too
    moved.learn(X + shift, 1.0 + X[:, 1])
    assert np.allclose(moved.predict(X + shift), learner.predict(X), atol=1e-5)


@pytest.mark.parametrize("learner_of", [COLK, NewtonCOLK])
def test_a_function_is_kept_in_other_units(learner_of):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(1000, 1))
    learner = learner_of(Gaussian(0.3)).learn(X, np.sin(3.0 * X[:, 0]))
    scale = np.array([0.8])
    moved = rescaled(learner, (scale, np.zeros(1)), (np.array([3.0]), np.array([5.0])))
    found = (moved.predict(X * scale) - 5.0) / 3.0
    assert np.abs(found - learner.predict(X)).mean() < 0.1


def test_scales_are_compared_often_at_first():
    scale = RunningScale(1)
    scale.holds = True
    due, left = [], []
    for row in range(1, 200):
        left.append(row + scale.until_due - 1)
        scale.update(float(row), 1.0)
        due += [row] * scale.is_due
    assert due == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
    assert sorted(set(left)) == [*due, 256]
