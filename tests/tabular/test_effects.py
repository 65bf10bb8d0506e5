"""Effects of categories of many values: they predict, do not leak, and hold in every class."""

import numpy as np
import pandas as pd
import pytest

import colk
from colk import COLKClassifier, COLKRegressor
from colk._encoding.effects import CategoryEffects
from colk._stored import pack, restore
from colk.cli import main
from colk.errors import FileFormatError
from colk.tabular import TableEncoder, TableModel

N_VALUES = 200


def table(n, seed=0):
    """A category that moves the target and changes the slope of a number."""
    level, slope = np.random.default_rng(99).normal(size=(2, N_VALUES))
    rng = np.random.default_rng(seed)
    codes = rng.integers(N_VALUES, size=n)
    frame = pd.DataFrame({"a": rng.normal(size=n), "kind": [f"v{code}" for code in codes]})
    return frame, level[codes] + slope[codes] * frame.a.to_numpy() + 0.2 * rng.normal(size=n)


TRAIN, Y = table(2000)
TEST, Y_TEST = table(1000, seed=1)
COLUMNS = {name: TRAIN[name].to_numpy() for name in TRAIN}
NEW = {name: TEST[name].to_numpy() for name in TEST}


def r2(predicted):
    return 1.0 - np.mean((Y_TEST - predicted) ** 2) / Y_TEST.var()


@pytest.fixture(scope="module")
def model():
    return TableModel("y", ["a", "kind"], categorical=["kind"]).fit([(COLUMNS, Y)])


def effects_of(codes, numbers, targets):
    rows = np.column_stack([numbers, codes])
    n = len(rows)
    found = CategoryEffects.of(
        rows, 1, 1, int(codes.max()) + 1, targets[:, None], np.ones(n), np.arange(n)
    )
    return rows, found


def test_a_row_that_is_learned_does_not_see_its_own_target():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=4000)
    rows, found = effects_of(rng.integers(1, 1001, size=4000), rng.normal(size=4000), noise)
    in_sample = np.corrcoef(found.values(rows)[:, 0], noise)[0, 1]
    out_of_fold = np.corrcoef(found.values(rows, np.arange(4000))[:, 0], noise)[0, 1]
    assert in_sample > 0.3
    assert abs(out_of_fold) < 0.06


def test_effects_are_the_expected_ones_given_all_other_rows_of_the_value():
    """The predictor of a Gaussian process with known variances is nearly reached."""
    rng = np.random.default_rng(1)
    codes, x = rng.integers(1, 301, size=3000), rng.normal(size=3000)
    level, slope = rng.normal(size=(2, 301))
    y = level[codes] + slope[codes] * x + rng.normal(size=3000)
    _, found = effects_of(codes, x, y)
    points = np.column_stack([rng.normal(size=3000), codes])
    truth = level[codes] + slope[codes] * points[:, 0]
    expected = np.empty(3000)
    for value in range(1, 301):
        some = codes == value
        Z, W = (np.column_stack([np.ones(some.sum()), v[some]]) for v in (x, points[:, 0]))
        gains = np.linalg.solve(Z @ Z.T + np.eye(len(Z)), y[some])
        expected[some] = W @ Z.T @ gains
    error = np.mean((found.values(points)[:, 0] - truth) ** 2)
    assert error < 1.3 * np.mean((expected - truth) ** 2)


def test_values_without_rows_have_no_effect(model):
    encoder = model._encoder
    assert encoder.names[-1] == "effect of kind"
    rows = encoder.encode({"a": [1.0, 1.0], "kind": ["v0", "never seen"]})
    assert rows[0, -1] != 0.0
    assert rows[1, -1] == 0.0


def test_the_doors_of_a_fit_are_equally_good(model, tmp_path):
    estimator = COLKRegressor(random_state=0).fit(TRAIN, Y)
    assert r2(estimator.predict(TEST)) > 0.9
    assert r2(model.predict(NEW)) > 0.9
    TRAIN.assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    line = ["fit", str(tmp_path / "rows.csv"), "--target=y", f"--model={tmp_path / 'm.colk'}"]
    assert main(line) == 0
    assert r2(colk.load(tmp_path / "m.colk").predict(NEW)) > 0.9


def test_a_table_and_an_estimator_find_the_same_effects(model):
    estimator = COLKRegressor(kernel="gaussian", shuffle=False, random_state=0).fit(TRAIN, Y)
    ours, theirs = (one.effects[0] for one in (estimator.encoder_, model._encoder))
    units = estimator.target_scale_, model._targets.units[0]
    assert np.allclose(ours.tables * units[0], theirs.tables * units[1], rtol=1e-2, atol=1e-3)
    assert len(ours.tables) == len(theirs.tables) == 1  # folds are forgotten after the fit


def test_batches_do_not_change_the_effects_of_rows():
    """A batch that begins in the middle of a fold still has the folds of its rows."""
    found = []
    for size in (2000, 333):
        parts = [slice(start, start + size) for start in range(0, 2000, size)]
        batches = [({name: v[part] for name, v in COLUMNS.items()}, Y[part]) for part in parts]
        one = TableModel("y", ["a", "kind"], categorical=["kind"], kernel="gaussian")
        found.append(one.fit(batches).predict(NEW))
    assert np.array_equal(*found)


def test_a_saved_model_and_one_that_learns_on_keep_the_effects(model, tmp_path):
    colk.save(model, tmp_path / "m.colk")
    again = colk.load(tmp_path / "m.colk")
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    gap = {"a": [np.nan, 0.5], "kind": ["v1", "another"]}
    again.learn(gap, [0.0, 0.0])
    assert np.isfinite(again.predict(gap)).all()


def test_classes_have_effects():
    labels, expected = (np.digitize(y, [-1.0, 1.0]).astype(str) for y in (Y, Y_TEST))
    model = COLKClassifier(random_state=0).fit(TRAIN, labels)
    assert model.encoder_.names[2:] == [
        "effect of kind", "effect of kind on target 1", "effect of kind on target 2",
    ]  # fmt: skip
    assert np.mean(model.predict(TEST) == expected) > 0.8


@pytest.mark.parametrize(
    "change",
    [
        {"column": 0},
        {"numbers": [7]},
        {"has_curves": False},
        {"unit": np.zeros(1)},
        {"tables": np.zeros((2, 1, 5, 6))},
        {"tables": np.zeros((1, 1, 5, 4))},
        {"tables": np.full((1, 1, 5, 6), np.nan)},
    ],
    ids=str,
)
def test_damaged_effects_are_refused(model, change):
    packed = pack(model._encoder)

    def load(**values):
        effects = restore(CategoryEffects, {**pack(packed["effects"][0]), **values}, None)
        return restore(TableEncoder, {**packed, "effects": [effects]}, None)

    assert load().names == model.columns
    with pytest.raises(FileFormatError):
        load(**change)
