"""Fits in passes: the same model as the estimators make, whatever the batches."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

import colk
from colk.model import sample
from colk.model.rows import LocalRows
from colk.tabular import Column, TableModel

NAMES = [f"x{i}" for i in range(5)]
KINDS = [Column(name, "number") for name in NAMES]


def rows(n=1500, seed=0):
    X, y = make_friedman1(n, n_features=5, noise=1.0, random_state=seed)
    return X, y, dict(zip(NAMES, X.T, strict=True))


def cut(columns, y, *places):
    ends = itertools.pairwise([0, *places, len(y)])
    return [({name: v[i:j] for name, v in columns.items()}, y[i:j]) for i, j in ends]


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "laplacian"},
        {"kernel": "gaussian", "risk": "cvar", "max_atoms": 60},
        {"kernel": "matern", "loss": "squared", "solver": "newton"},
        {"kernel": "laplacian", "loss": "pinball", "max_atoms": 80},
    ],
)
def test_a_fit_is_that_of_the_estimator(settings):
    X, y, columns = rows()
    model = TableModel("y", NAMES, **settings).fit([(columns, y)])
    estimator = colk.COLKRegressor(random_state=0, **settings).fit(X, y)
    assert model.n_atoms == estimator.n_atoms_
    assert np.array_equal(model.predict(columns), estimator.predict(X))


@pytest.mark.parametrize("edges", [[12.0, 17.0], [14.0]], ids=["three", "two"])
def test_classes_are_those_of_the_estimator(edges):
    X, y, columns = rows()
    labels = np.array(["low", "mid", "high"])[np.digitize(y, edges)]
    model = TableModel("y", NAMES, task="classification", kernel="laplacian")
    model.fit([(columns, labels)])
    estimator = colk.COLKClassifier(kernel="laplacian", random_state=0).fit(X, labels)
    assert model.labels == estimator.classes_.tolist()
    assert np.array_equal(model.predict_proba(columns), estimator.predict_proba(X))
    assert (model.predict(columns) == estimator.predict(X)).all()


def test_a_fit_of_two_classes_is_stored_and_refuses_a_third(tmp_path):
    _, y, columns = rows()
    labels = np.where(y > 14.0, "high", "low")
    model = TableModel("y", NAMES, task="classification", kernel="laplacian")
    colk.save(model.fit([(columns, labels)]), tmp_path / "m.colk")
    copy = colk.load(tmp_path / "m.colk")
    for each in (model, copy):
        each.learn(columns, labels)
        with pytest.raises(ValueError, match="fitted to two classes, 'high' and 'low'"):
            each.learn(columns, np.full(len(y), "mid"))
    assert np.array_equal(model.predict_proba(columns), copy.predict_proba(columns))


def test_batches_change_nothing(monkeypatch):
    """Nor do they if the weights come from passes over more rows than the sample holds."""
    monkeypatch.setattr(sample, "MOST_ROWS", 600)
    _, y, columns = rows()
    whole = TableModel("y", NAMES).fit([(columns, y)])
    parts = TableModel("y", NAMES).fit(cut(columns, y, 1, 7, 1100, 1101))
    assert np.array_equal(whole.function.weights, parts.function.weights)
    assert np.array_equal(whole.function.atoms, parts.function.atoms)


@pytest.mark.parametrize("loss", ["huber", "squared"])
def test_passes_find_the_weights_that_one_polish_finds(monkeypatch, loss):
    """The sample has a third of the rows; the objective of all rows is minimised."""
    from colk.rkhs import polish

    _, y, columns = rows(3000)
    monkeypatch.setattr(sample, "MOST_ROWS", 1000)
    monkeypatch.setattr(sample, "CHOOSING", 1000)
    model = TableModel("y", NAMES, kernel="gaussian", max_atoms=50, loss=loss)
    weight = np.ones(len(y))
    fit = model.new_fit().run(LocalRows(lambda: [((KINDS, columns), y, weight)]))
    model.adopt_fit(fit)
    X, targets = model.points(columns), (y - model.target_center) / model.target_unit
    found = polish(
        model.function, X, targets, model.loss, None, fit.polished.regularization, tolerance=1e-6
    )
    assert found.value_before - found.value < 1e-4 * found.value


def test_a_sorted_file_is_learned(monkeypatch):
    """Scales and kernel come from all rows, not from the first ones."""
    X, y, columns = rows(3000)
    order = np.argsort(X[:, 3])
    columns = {name: values[order] for name, values in columns.items()}
    model = TableModel("y", NAMES).fit(cut(columns, y[order], 1000, 2000))
    X, y, columns = rows(2000, seed=1)
    residuals = model.predict(columns) - y
    assert 1.0 - residuals.var() / y.var() > 0.93


def test_what_can_be_read_once_is_not_fitted():
    _, y, columns = rows(50)
    with pytest.raises(TypeError, match="several times"):
        TableModel("y", NAMES).fit(iter([(columns, y)]))


def test_a_fit_forgets_what_was_learned_before():
    _, y, columns = rows(200)
    model = TableModel("y", NAMES, kernel="laplacian").learn(columns, -y)
    again = TableModel("y", NAMES, kernel="laplacian").fit([(columns, y)])
    assert np.array_equal(model.fit([(columns, y)]).function.weights, again.function.weights)


def test_a_fitted_model_learns_on(tmp_path):
    """In the scales of its fit, and so does its copy."""
    _, y, columns = rows(600)
    model = TableModel("y", NAMES).fit(cut(columns, y))
    colk.save(model, tmp_path / "m.colk")
    copy = colk.load(tmp_path / "m.colk")
    center = model.center
    for each in (model, copy):
        each.learn({name: values + 5.0 for name, values in columns.items()}, y)
    assert np.array_equal(model.center, center)
    assert np.array_equal(copy.function.weights, model.function.weights)


def test_a_stream_chooses_its_kernel(tmp_path):
    """After 500 rows, also if the model was saved before."""
    _, y, columns = rows(800)
    first, second = cut(columns, y, 300)
    model = TableModel("y", NAMES, solver="newton").learn(*first)
    colk.save(model, tmp_path / "m.colk")
    copy = colk.load(tmp_path / "m.colk")
    assert model.race is None
    for each in (model, copy):
        each.learn(*second)
        assert each.race is not None
    assert np.array_equal(copy.function.weights, model.function.weights)
    assert repr(copy.kernel) == repr(model.kernel)


def test_gaps_that_come_after_the_choice():
    """A kernel with a bandwidth for each number gets one more, for the mark of the gaps."""
    _, _, columns = rows(1200)
    y = np.sin(columns[NAMES[1]] * 3.0 / np.std(columns[NAMES[1]]))
    columns["side"] = np.where(np.arange(1200) < 700, "left", "right").astype(object)
    columns[NAMES[0]] = np.where(np.arange(1200) % 7 < 6, columns[NAMES[0]], np.nan)
    columns[NAMES[0]][:700] = 0.0
    model = TableModel("y", [*NAMES, "side"], categorical=["side"])
    model.learn(columns, y)
    assert model.race.winner.scaled
    assert model.columns == [*NAMES, "side", f"{NAMES[0]} is missing"]
    assert len(model.kernel.bandwidth) == 6
    assert np.isfinite(model.predict(columns)).all()
