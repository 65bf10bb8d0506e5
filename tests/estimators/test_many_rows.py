"""`fit` on more rows than its sample holds, and the number of threads."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor
from colk.losses import Huber
from colk.model import sample
from colk.rkhs.polishing import polish
from colk.tabular.reading import Source

RNG = np.random.default_rng(0)
N, SIZE = 1500, 400
X = RNG.uniform(-2.0, 2.0, size=(N, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RNG.normal(size=N)
SETTINGS = {"kernel": "gaussian", "max_atoms": 40, "random_state": 0}


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(sample, "CHOOSING", SIZE)
    monkeypatch.setattr(sample, "MOST_ROWS", 2 * SIZE)


def test_the_weights_are_those_of_all_samples(small_sample):
    weight = RNG.integers(0, 3, size=N).astype(float)
    model = COLKRegressor(**SETTINGS).fit(X, Y, weight)
    found, f = model.polished_, model.polished_.function
    assert model.n_steps_ == SIZE
    scaled = (Y - model.intercept_) / model.target_scale_
    best = polish(
        f, X, scaled, Huber(), regularization=found.regularization, sample_weight=weight,
        tolerance=1e-9,
    )  # fmt: skip
    assert best.value <= found.value <= best.value * (1.0 + 1e-4)
    assert f.distance(best.function) < 0.01 * f.norm()
    np.testing.assert_allclose(model.predict(X), model.function_(X) + model.intercept_)


def test_regularization_counts_in_samples(small_sample, monkeypatch):
    many = COLKRegressor(**SETTINGS).fit(X, Y)
    monkeypatch.setattr(sample, "MOST_ROWS", N)
    all_rows = COLKRegressor(**SETTINGS).fit(X, Y)
    ratio = many.polished_.regularization / all_rows.polished_.regularization
    assert 0.05 < ratio < 20.0  # the choice is one of a few λ, in units of a sample
    for decay, _ in many.polished_.candidates:
        assert any(
            decay == pytest.approx(other, rel=0.35) for other, _ in all_rows.polished_.candidates
        )


@pytest.mark.parametrize("settings", [{}, {"risk": "variance"}, {"risk": "cvar"}], ids=str)
def test_as_accurate_as_with_all_samples(small_sample, monkeypatch, settings):
    many = COLKRegressor(**SETTINGS, **settings).fit(X, Y).score(X, Y)
    monkeypatch.setattr(sample, "MOST_ROWS", N)
    assert many > COLKRegressor(**SETTINGS, **settings).fit(X, Y).score(X, Y) - 0.01


def test_outliers_among_all_samples_are_left_out(small_sample):
    y = Y.copy()
    bad = RNG.permutation(N)[: N // 20]
    y[bad] += 40.0
    model = COLKRegressor(**SETTINGS).fit(X, y)
    assert model.polished_.n_outliers == len(bad)
    kept = np.setdiff1d(np.arange(N), bad)
    assert model.score(X[kept], y[kept]) > 0.9


def test_classes_with_a_rare_one(small_sample):
    labels = np.digitize(Y, [-0.5, 0.5])
    labels[7] = 9
    model = COLKClassifier(**SETTINGS).fit(X, labels)
    assert set(model.classes_) == {0, 1, 2, 9}
    assert model.score(X, labels) > 0.8
    scores = model.decision_function(X)
    assert model.polished_.value < model.loss_.value(0.0 * scores, model._encode(labels)).mean()


@pytest.mark.parametrize("kind", [COLKRegressor, COLKClassifier])
def test_threads_do_not_change_a_bit(small_sample, kind):
    big = np.concatenate([X] * 8)  # with this many rows predictions and sums use threads
    y = np.concatenate([Y] * 8) if kind is COLKRegressor else np.concatenate([Y > 0.0] * 8)
    one = kind(**SETTINGS, n_jobs=1).fit(big, y)
    three = clone(one).set_params(n_jobs=3).fit(big, y)
    assert one.function_ == three.function_
    assert np.array_equal(one.predict(big), three.predict(big))


def test_n_jobs_is_checked():
    with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
        COLKRegressor(n_jobs=0).fit(X[:50], Y[:50])


class Stored:
    """Batches that can be read again, and count how often."""

    def __init__(self, X, y, size, weight=None):
        self.rows, self.size, self.n_passes = (X, y, weight), size, 0

    def __iter__(self):
        self.n_passes += 1
        X, y, weight = self.rows
        for start in range(0, len(X), self.size):
            some = slice(start, start + self.size)
            yield (X[some], y[some]) if weight is None else (X[some], y[some], weight[some])


def test_few_batches_are_the_arrays():
    whole = COLKRegressor(**SETTINGS).fit(X, Y)
    found = COLKRegressor(**SETTINGS).fit(Stored(X, Y, 70))
    assert found.function_ == whole.function_


@pytest.mark.parametrize("size", [33, 5000])
def test_weights_of_many_batches(small_sample, size):
    weight = RNG.integers(0, 3, size=N).astype(float)
    rows = Stored(X, Y, size, weight)
    model = COLKRegressor(**SETTINGS).fit(rows)
    assert 2 <= rows.n_passes < 20
    found = model.polished_
    scaled = (Y - model.intercept_) / model.target_scale_
    best = polish(
        found.function, X, scaled, Huber(), None, found.regularization, sample_weight=weight
    )
    assert found.value == pytest.approx(best.value, rel=1e-4)
    assert model.score(X, Y) > 0.9


@pytest.mark.parametrize("size", [33, 5000])
def test_every_pass_has_the_scale_of_the_inputs_that_predicts(small_sample, size):
    rows = X * [1.0, 1000.0] * np.linspace(0.5, 2.0, N)[:, None]
    model = COLKRegressor(**SETTINGS).fit(Stored(rows, Y, size))
    found, predicted = model.polished_, model.predict(rows)
    losses = Huber().value(
        model.encode_targets(predicted)[:, None], model.encode_targets(Y)[:, None]
    )
    penalty = 0.5 * found.regularization * found.function.norm() ** 2
    assert found.value == pytest.approx(losses.mean() + penalty, rel=1e-6)


def test_classes_and_outliers_in_batches(small_sample):
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])].astype(object)
    labels[3] = "rare"
    model = COLKClassifier(**SETTINGS, class_weight={"a": 2.0}).fit(Stored(X, labels, 100))
    assert list(model.classes_) == ["a", "b", "c", "rare"]
    assert model.score(X, labels) > 0.8
    y = Y.copy()
    y[::25] += 40.0
    model = COLKRegressor(**SETTINGS).fit(Stored(X, y, 100))
    assert model.polished_.n_outliers == len(y[::25])


def test_a_table_reader_is_read_by_its_target(small_sample, tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([X, Y]), delimiter=",", header="u,v,y", comments="")
    model = COLKRegressor(**SETTINGS).fit(Source([str(path)]), "y")
    assert model.feature_names_in_.tolist() == ["u", "v"]
    assert model.score(pd.DataFrame(X, columns=["u", "v"]), Y) > 0.9


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (COLKRegressor(**SETTINGS, polish=False, shuffle=False), Y),
        (COLKClassifier(**SETTINGS, class_weight="balanced"), Y > 0.3),
        (COLKQuantileRegressor(kernel="gaussian", max_atoms=40, random_state=0), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_batches_give_the_model_of_the_arrays(small_sample, model, y):
    whole, parts = clone(model).fit(X, y), model.fit(Stored(X, y, 70))
    np.testing.assert_allclose(parts.function_(X), whole.function_(X), rtol=0.0, atol=1e-10)
    assert parts.n_atoms_ == whole.n_atoms_


class OnlyOnce(list):
    """Batches that can be read only once."""

    def __iter__(self):
        return iter([self.pop()] if len(self) else [])


def test_what_cannot_be_read_again_is_refused():
    with pytest.raises(TypeError, match="an iterator can be read only once"):
        COLKRegressor().fit(iter([(X, Y)]))
    with pytest.raises(ValueError, match="no row could be learned"):
        COLKRegressor().fit(OnlyOnce([(X, Y)]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        COLKRegressor().fit(X)
