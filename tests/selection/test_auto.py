"""Estimators and River classes choose a kernel and continue as if it had been given."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from colk import COLKClassifier, COLKRegressor
from colk import river as colk_river
from colk.estimators import ModelOrderDisplay
from colk.kernels import Gaussian, Laplacian
from colk.losses import Huber
from colk.selection import WARM_UP, choose

AUTO = {"kernel": "auto", "bandwidth": "auto"}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(640, 5))
Y = 1e3 * (np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=640))
LABELS = np.where(Y > 500.0, "high", np.where(Y < -500.0, "low", "middle"))
ROWS = [dict(zip("abcde", row, strict=True)) for row in X.tolist()]


def test_regression_gains():
    fixed = COLKRegressor(
        kernel="laplacian", bandwidth="scale", epochs=1, polish=False, random_state=0
    )
    auto = COLKRegressor(**AUTO, epochs=1, polish=False, random_state=0)
    before, after = (m.fit(X[:500], Y[:500]).score(X[500:], Y[500:]) for m in (fixed, auto))
    assert after > before + 0.05
    assert auto.kernel_ == auto.race_.kernel
    assert auto.bandwidth_ == auto.kernel_.bandwidth
    assert fixed.race_ is None


def test_targets_without_weight_do_not_count():
    weight = np.where(np.arange(640) % 4 == 0, 0.0, 1.0)
    kept = weight > 0.0
    spoiled = np.where(kept, Y, 1e9)
    ours = choose("auto", "auto", X, spoiled, weight, Huber())
    alone = choose("auto", "auto", X[kept], Y[kept], np.ones(kept.sum()), Huber())
    assert [entry.name for entry in ours.entries] == [entry.name for entry in alone.entries]
    np.testing.assert_allclose(
        [entry.loss for entry in ours.entries], [entry.loss for entry in alone.entries], rtol=1e-6
    )


def test_classification_gains():
    fixed = COLKClassifier(
        kernel="laplacian", bandwidth="scale", epochs=1, polish=False, random_state=0
    )
    auto = COLKClassifier(**AUTO, epochs=1, polish=False, random_state=0)
    before, after = (
        m.fit(X[:500], LABELS[:500]).score(X[500:], LABELS[500:]) for m in (fixed, auto)
    )
    assert after > before + 0.03


def test_what_nobody_beats_is_the_fixed_default():
    noise = np.random.default_rng(1).integers(2, size=640)
    fixed = COLKClassifier(kernel="laplacian", bandwidth="scale", random_state=0).fit(X, noise)
    auto = COLKClassifier(**AUTO, random_state=0).fit(X, noise)
    assert auto.race_.default_won
    np.testing.assert_array_equal(auto.decision_function(X), fixed.decision_function(X))


def test_chunks_change_nothing_once_the_unit_of_the_targets_is_known():
    whole = COLKRegressor(**AUTO).partial_fit(X[:200], Y[:200])
    pieces = clone(whole).partial_fit(X[:200], Y[:200])
    whole.partial_fit(X[200:], Y[200:])
    for i in range(200, 640, 7):
        pieces.partial_fit(X[i : i + 7], Y[i : i + 7])
    np.testing.assert_allclose(pieces.predict(X), whole.predict(X), rtol=1e-9)
    assert whole.n_steps_ == pieces.n_steps_ == 640
    assert pieces.kernel_ == whole.kernel_


def test_before_there_are_enough_the_default_predicts():
    model = COLKRegressor(**AUTO)
    fixed = COLKRegressor(kernel="laplacian", bandwidth="scale")
    for stop in (100, WARM_UP - 1):
        rows = slice(stop - 100, stop)
        model.partial_fit(X[rows], Y[rows])
        fixed.partial_fit(X[rows], Y[rows])
        assert model.race_ is None
        np.testing.assert_array_equal(model.predict(X), fixed.predict(X))
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[:400], Y[:400])
        assert not one.race_.default_won
    np.testing.assert_array_equal(model.predict(X), copy.predict(X))


def test_a_refused_call_leaves_the_samples_that_are_kept():
    model = COLKRegressor(**AUTO).partial_fit(X[:400], Y[:400])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X[400:], np.full(240, np.nan))
    assert model._online.kept.count == 400


def test_one_of_the_two_may_be_fixed():
    bandwidth = COLKRegressor(kernel="gaussian", bandwidth="auto", epochs=1).fit(X, Y)
    assert isinstance(bandwidth.kernel_, Gaussian)
    assert bandwidth.kernel_.bandwidth[0] < bandwidth.kernel_.bandwidth[1]
    chosen = COLKRegressor(kernel="auto", epochs=1).fit(X, Y)
    assert chosen.race_.winner.scaled
    kernel = COLKRegressor(kernel="auto", bandwidth=1.5, epochs=1).fit(X, Y)
    assert kernel.kernel_.bandwidth == 1.5
    given = COLKRegressor(kernel=Laplacian(2.0), epochs=1).fit(X, Y)
    assert given.race_ is None


def test_order_is_walked_with_the_kernel_that_is_chosen():
    model = COLKRegressor(**AUTO, epochs=1, shuffle=False)
    display = ModelOrderDisplay.from_estimator(model, X[:200], Y[:200], n_points=5)
    assert display.n_atoms[-1] == model.fit(X[:200], Y[:200]).n_atoms_


def stream(model, targets, until=640):
    for x, y in zip(ROWS[:until], targets[:until], strict=True):
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize(
    ("kind", "targets"),
    [(colk_river.COLKRegressor, Y.tolist()), (colk_river.COLKClassifier, LABELS.tolist())],
)
def test_streams_choose_after_the_warm_up(kind, targets):
    model = stream(kind(**AUTO), targets, WARM_UP - 1)
    fixed = stream(kind(kernel="laplacian", bandwidth="scale"), targets, WARM_UP - 1)
    assert model.race is None
    assert model.predict_one(ROWS[0]) == fixed.predict_one(ROWS[0])
    model.learn_one(ROWS[WARM_UP], targets[WARM_UP])
    assert model.race.winner.scaled
    assert model.race.scales[1:].max() < 0.2 * model.race.scales[0]
    assert model._online.kept is None


def test_a_stream_by_rows_and_by_tables_is_the_same():
    import pandas as pd

    one = stream(colk_river.COLKRegressor(**AUTO), Y.tolist())
    many = colk_river.COLKRegressor(**AUTO)
    table = pd.DataFrame(ROWS)
    for i in range(0, 640, 90):
        many.learn_many(table[i : i + 90], pd.Series(Y[i : i + 90]))
    assert many.race.winner == one.race.winner
    for row in ROWS[::50]:
        assert many.predict_one(row) == pytest.approx(one.predict_one(row), rel=1e-9)


def test_features_may_appear_before_and_after_the_choice():
    model = colk_river.COLKRegressor(**AUTO)
    for i, (x, y) in enumerate(zip(ROWS, Y.tolist(), strict=True)):
        late = {"new": 0.5} if i > 300 else {}
        model.learn_one({**x, **late, **({"last": 1.0} if i > 600 else {})}, y)
    assert model.function.n_features == 7
    kernel = model.function.kernel
    assert len(kernel.bandwidth if kernel.metric is None else kernel.metric) == 7
    errors = [abs(model.predict_one(x) - y) for x, y in zip(ROWS[:100], Y[:100], strict=True)]
    assert np.mean(errors) < 600.0
