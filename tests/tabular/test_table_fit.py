"""Fits in passes: the same model as the estimators make, whatever the batches."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import StandardScaler

import colk
from colk.tabular import TableModel, sample
from colk.tabular.passes import TableFit
from colk.tabular.sample import RowSample

NAMES = [f"x{i}" for i in range(5)]


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
    """On standardised features in their order: the same path, and the same polish."""
    X, y, columns = rows()
    model = TableModel("y", NAMES, **settings).fit([(columns, y)])
    points = StandardScaler().fit_transform(X)
    estimator = colk.COLKRegressor(shuffle=False, **settings).fit(points, y)
    assert model.n_atoms == estimator.n_atoms_
    difference = model.predict(columns) - estimator.predict(points)
    assert np.abs(difference).max() < 1e-6 * y.std()


def test_classes_are_those_of_the_estimator():
    X, y, columns = rows()
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [12.0, 17.0])]
    model = TableModel("y", NAMES, task="classification", kernel="laplacian")
    model.fit([(columns, labels)])
    points = StandardScaler().fit_transform(X)
    # Classes are numbered as they appear here, and sorted there.
    numbers = np.array([model.labels.index(label) for label in labels])
    estimator = colk.COLKClassifier(kernel="laplacian", shuffle=False).fit(points, numbers)
    shares = model.predict_proba(columns)
    assert np.abs(shares - estimator.predict_proba(points)).max() < 1e-6


def test_batches_change_nothing(monkeypatch):
    """Nor do they if the weights come from passes over more rows than the sample holds."""
    monkeypatch.setattr(sample, "_ROWS", 600)
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
    settings = {"kernel": "gaussian", "max_atoms": 50, "loss": loss}
    monkeypatch.setattr(sample, "_ROWS", 1000)
    model = TableModel("y", NAMES, **settings)
    fit = TableFit(model)
    phases, decay = [], 0.0
    while fit.phase != "done":
        phases.append(fit.phase)
        fit.add(columns, y)
        fit.end_pass()
        decay = (fit.iterate_state or {"regularization": decay})["regularization"]
    assert phases[:3] == ["scan", "learn", "polish"]
    X, targets = model.points(columns), (y - model.target_center) / model.target_unit
    found = polish(model.function, X, targets, model.loss, regularization=decay, tolerance=1e-6)
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


def test_a_sample_is_uniform_and_knows_no_batches():
    X = np.arange(4000.0)[:, None]
    drawn = []
    for size in (4000, 7):
        kept = RowSample(most=400)
        for start in range(0, 4000, size):
            kept.add(X[start : start + size], X[start : start + size])
        assert not kept.is_complete
        drawn.append(kept.arrays()[0][:, 0])
    assert np.array_equal(*drawn)
    assert np.array_equal(drawn[0], np.sort(drawn[0]))
    counts = np.histogram(drawn[0], bins=4, range=(0.0, 4000.0))[0]
    assert (np.abs(counts - 100) < 40).all()
