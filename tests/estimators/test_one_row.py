"""Rows that scikit-learn's checks would not change skip these checks; others do not."""

import copy
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from colk import COLKClassifier, COLKRegressor, DivergenceError

RNG = np.random.default_rng(0)
X = RNG.random((300, 3))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1]
LABELS = np.where(Y > 1.0, "high", "low")


# Only targets that are not scaled go the longer way.
KINDS = [
    {},
    {"kernel": "laplacian"},
    {"kernel": "laplacian", "solver": "newton"},
    {"kernel": "gaussian", "bandwidth": 0.3, "risk": "cvar", "max_atoms": 20},
    {"kernel": "laplacian", "scale_targets": False},
    {"kernel": "laplacian", "standardize": True},
]


def learned(settings, rows, targets, weight=None):
    model = COLKRegressor(**settings).partial_fit(X[:100], Y[:100])
    for i in range(100, 300):
        model.partial_fit(rows(i), targets(i), weight)
    return model


@pytest.mark.each_value
@pytest.mark.parametrize("settings", KINDS, ids=str)
@pytest.mark.parametrize(
    ("rows", "targets"),
    [
        (lambda i: X[i : i + 1].tolist(), lambda i: Y[i : i + 1].tolist()),
        (lambda i: np.asfortranarray(np.repeat(X[i : i + 1], 2, axis=0))[::2], lambda i: [Y[i]]),
        (lambda i: X[i : i + 1].astype(object), lambda i: Y[i : i + 1].astype(object)),
        (lambda i: X[i : i + 1].astype(">f8"), lambda i: Y[i : i + 1].astype(">f8")),
    ],
    ids=["lists", "strides", "objects", "bytes"],
)
def test_both_ways_are_the_same_to_the_bit(settings, rows, targets):
    plain = learned(settings, lambda i: X[i : i + 1], lambda i: Y[i : i + 1])
    checked = learned(settings, rows, targets, weight=[1.0])
    np.testing.assert_array_equal(plain.predict(X), checked.predict(X.tolist()))
    np.testing.assert_array_equal(plain.loss_curve_, checked.loss_curve_)


@pytest.mark.parametrize(
    ("settings", "alone"), list(zip(KINDS, [True, True, True, True, False, True], strict=True))
)
def test_which_rows_go_to_the_stream(settings, alone, monkeypatch):
    model = COLKRegressor(**settings).partial_fit(X[:100], Y[:100])
    checked = []
    monkeypatch.setattr(COLKRegressor, "_learn_more", lambda *samples: checked.append(samples))
    model.partial_fit(X[100:101], Y[100:101])
    assert len(checked) == (not alone)
    for x, y, weight in (
        (X[:1], Y[:1], [2.0]),
        (X[:2], Y[:2], None),
        (X[:1].tolist(), Y[:1], None),
        (X[:1], Y[:1].tolist(), None),
        (X[:1], Y[:1, None], None),
        (with_entry(np.nan), Y[:1], None),
    ):
        before = len(checked)
        model.partial_fit(x, y, weight)
        assert len(checked) == before + 1


def test_a_row_after_a_fit_by_groups_is_refused():
    model = COLKRegressor(kernel="laplacian", risk="group", random_state=0)
    model.fit(X, Y, groups=X[:, 2] > 0.5)
    with pytest.raises(ValueError, match="group"):
        model.partial_fit(X[:1], Y[:1])


def test_a_row_that_would_diverge_leaves_the_model():
    model = COLKRegressor(kernel="polynomial", loss="squared", step_size=0.01)
    model.partial_fit(X[:100], Y[:100])
    before = model.intercept_, model.n_steps_, model.predict(X).tolist()
    with pytest.raises(DivergenceError, match="sample 0 of this call"):
        model.partial_fit(np.full((1, 3), 1e150), Y[:1])
    assert (model.intercept_, model.n_steps_, model.predict(X).tolist()) == before


def with_entry(value):
    row = X[:1].copy()
    row[0, 1] = value
    return row


BAD = {
    "infinity": (with_entry(np.inf), Y[:1], "Input X contains infinity"),
    "features": (X[:1, :2].copy(), Y[:1], "X has 2 features, but COLKRegressor is expecting 3"),
    "vector": (X[0], Y[:1], "Expected 2D array"),
    "no rows": (X[:0], Y[:0], "Found array with 0 sample"),
    "NaN in y": (X[:1], np.array([np.nan]), "Input y contains NaN"),
    "length of y": (X[:1], Y[:2], "inconsistent numbers of samples"),
    "outputs": (X[:1], np.ones((1, 2)), "y has 2 outputs"),
}


@pytest.mark.parametrize("kernel", ["auto", "laplacian"])
@pytest.mark.parametrize(("x", "y", "message"), BAD.values(), ids=BAD)
def test_bad_rows_are_refused_as_ever(x, y, message, kernel):
    model = COLKRegressor(kernel=kernel).partial_fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(x, y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("what", ["infinity", "features", "vector", "no rows"])
def test_bad_points_are_refused_as_ever(what):
    x, _, message = BAD[what]
    classifier = COLKClassifier(epochs=1).fit(X, LABELS)
    with pytest.raises(ValueError, match=message.replace("COLKRegressor", "COLKClassifier")):
        classifier.predict(x)
    with pytest.raises(ValueError, match=message):
        COLKRegressor(epochs=1).fit(X, Y).predict(x)


@pytest.mark.parametrize("kernel", ["auto", "laplacian"])
def test_names_of_features_are_still_compared(kernel):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = COLKRegressor(kernel=kernel).partial_fit(table, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X[:1], Y[:1])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X[:1])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"a": "z"}))
    plain = COLKRegressor().partial_fit(X, Y)
    with pytest.warns(UserWarning, match="X has feature names"):
        plain.predict(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(table)
        plain.predict(X)


def test_a_refused_first_call_leaves_nothing_behind():
    model = COLKRegressor()
    with pytest.raises(ValueError, match="its spread overflows"):
        model.fit(X[:3], [1.7e308, 1.7e308, -1.7e308])
    assert not hasattr(model, "n_features_in_")
    assert np.isfinite(model.fit(X, Y).predict(X)).all()


def test_a_refused_row_leaves_the_scale_of_the_targets(monkeypatch):
    model = COLKRegressor(kernel="laplacian").partial_fit(X[:200], Y[:200])
    before = model.intercept_, model.target_scale_, model.predict(X).tolist()

    def refused(*samples):
        raise MemoryError

    monkeypatch.setattr(type(model.learner_), "learn_checked", refused)
    monkeypatch.setattr(type(model.learner_), "stream", SimpleNamespace(learn_one=refused))
    with pytest.raises(MemoryError):
        model.partial_fit(X[200:201], np.array([9.0]))
    monkeypatch.undo()
    assert (model.intercept_, model.target_scale_, model.predict(X).tolist()) == before
    for i in range(200, 300):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    whole = COLKRegressor(kernel="laplacian").partial_fit(X[:200], Y[:200])
    np.testing.assert_array_equal(whole.partial_fit(X[200:], Y[200:]).predict(X), model.predict(X))


def test_a_row_that_cannot_be_scaled_leaves_the_scale():
    model = COLKRegressor(kernel="laplacian").partial_fit(X[:2], [8.9e307, 1.79e308])
    before = model.intercept_, model.target_scale_
    with pytest.raises(ValueError, match="too large to be scaled"):
        model.partial_fit(X[:1], np.array([1.79e308]))
    assert (model.intercept_, model.target_scale_) == before


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_does_not_see_the_rows_of_the_original(duplicate):
    model = COLKRegressor(kernel="laplacian").partial_fit(X[:200], Y[:200])
    twin, before = duplicate(model), model.target_scale_
    model.partial_fit(X[:200], np.full(200, 4.0))  # the scale follows
    assert twin.target_scale_ == before != model.target_scale_
