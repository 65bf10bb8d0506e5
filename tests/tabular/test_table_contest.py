"""`TableModel.learn` with an open kernel: a rival learns beside the model and may overtake it."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import colk
from colk import FileFormatError, _stored
from colk.model.contest import Contest
from colk.tabular import TableModel

CHANGE, SIZE = 1500, 3000
RNG = np.random.default_rng(0)
NAMES = list("abcdef")
X = RNG.normal(size=(SIZE, 6))
# Another column matters after the change.
TRUTH = np.sin(2.0 * np.where(np.arange(SIZE) >= CHANGE, X[:, 4], X[:, 0]))
Y = 5.0 * (TRUTH + 0.1 * RNG.normal(size=SIZE)) + 1.0
LABELS = np.where(TRUTH > 0.0, "high", "low").astype(object)
COLUMNS = {name: 10.0 * X[:, k] + 3.0 for k, name in enumerate(NAMES)}


def part(start, stop, columns=COLUMNS):
    return {name: values[start:stop] for name, values in columns.items()}


def learned(model, start, stop, y=Y, columns=COLUMNS):
    return model.learn(part(start, stop, columns), y[start:stop])


def late_error(model, y):
    """Mean error of predictions from 500 rows after the change on, each before it is learned."""
    learned(model, 0, CHANGE + 500, y)
    errors = []
    for start in range(CHANGE + 500, SIZE, 50):
        found = model.predict(part(start, start + 50))
        now = y[start : start + 50]
        errors.append(found != now if model.task == "classification" else np.abs(found - now))
        learned(model, start, start + 50, y)
    return np.mean(errors)


def same(a, b):
    rows = part(0, 50)
    rivals = [
        each._online.contest is not None and each._online.contest.rival is not None
        for each in (a, b)
    ]
    return (
        np.array_equal(a.function.weights, b.function.weights)
        and np.array_equal(a.predict(rows), b.predict(rows))
        and repr(a.kernel) == repr(b.kernel)
        and rivals[0] == rivals[1]
    )


def new(task="regression", **settings):
    return TableModel("y", NAMES, task=task, **settings)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_after_a_change_it_is_ahead_of_fixed_kernels(task, solver):
    y = Y if task == "regression" else LABELS
    model = new(task, solver=solver)
    first = learned(new(task, solver=solver), 0, 500, y).kernel
    error = late_error(model, y)
    fixed = late_error(new(task, solver=solver, kernel=first), y)
    laplacian = late_error(new(task, solver=solver, kernel="laplacian"), y)
    assert error < 0.6 * fixed
    assert error < 0.95 * laplacian
    assert model.race.scales.argmax() == 4
    assert repr(model.kernel) != repr(first)
    assert str(model.kernel) == model.description()["kernel"]


def test_a_table_that_stands_still_keeps_its_kernel():
    """The rival learns beside the model; the model is the one with the first kernel, to the bit."""
    y, settings = np.sin(2.0 * X[:, 0]), {"solver": "newton", "forgetting": 0.999}
    model = learned(new(**settings), 0, SIZE, y)
    fixed = new(kernel=learned(new(**settings), 0, 500, y).kernel, scale=True, **settings)
    learned(fixed, 0, SIZE, y)
    assert repr(model.kernel) == repr(fixed.kernel)
    assert np.array_equal(model.function.weights, fixed.function.weights)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_a_rival_changes_nothing_of_a_model_that_moves_with_its_scale(solver, monkeypatch):
    """Its winner learned the first rows in later units than a model with this kernel would."""
    y = np.sin(2.0 * X[:, 0])
    first = learned(new(solver=solver), 0, 500, y)
    alone, model = copy.deepcopy(first), learned(copy.deepcopy(first), 500, SIZE, y)
    assert alone._online.contest.rival is not None

    def stay(contest, leader, settings):
        contest.filled = 0
        return leader

    alone._online.contest.rival = None
    monkeypatch.setattr(Contest, "next_leader", stay)
    learned(alone, 500, SIZE, y)
    assert repr(model.kernel) == repr(first.kernel)
    assert np.array_equal(model.function.weights, alone.function.weights)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_batches_change_nothing(task):
    y = Y if task == "regression" else LABELS
    whole, cut = learned(new(task), 0, SIZE, y), new(task)
    for start, stop in itertools.pairwise([0, 1, 499, 503, 1000, 1049, 2071, 2072, SIZE]):
        learned(cut, start, stop, y)
    assert same(whole, cut)


def from_file(model, folder):
    colk.save(model, folder / "m.colk")
    return colk.load(folder / "m.colk")


WAYS = {
    "a file": from_file,
    "a pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "a copy": lambda model, _: copy.deepcopy(model),
}


@pytest.mark.each_value
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", [300, 520, 1730, 2480])
def test_a_copy_learns_on_bit_for_bit(moment, way, tmp_path):
    model = learned(new(solver="newton"), 0, moment)
    other = WAYS[way](model, tmp_path)
    assert same(model, other)
    for each in (model, other):
        learned(each, moment, SIZE)
    assert same(model, other)


def test_a_fitted_model_follows_a_change(tmp_path):
    """It leads until a rival is clearly better, also if it is stored while it keeps rows."""
    model = new().fit([(part(0, CHANGE), Y[:CHANGE])])
    fitted = repr(model.kernel)
    learned(model, CHANGE, CHANGE + 300)
    other = from_file(model, tmp_path)
    for each in (model, other):
        learned(each, CHANGE + 300, SIZE)
    assert same(model, other)
    assert repr(model.kernel) != fitted
    fixed = new(kernel=new().fit([(part(0, CHANGE), Y[:CHANGE])]).kernel)
    learned(fixed.fit([(part(0, CHANGE), Y[:CHANGE])]), CHANGE, SIZE)
    X_new = RNG.normal(size=(500, 6))
    columns = {name: 10.0 * X_new[:, k] + 3.0 for k, name in enumerate(NAMES)}
    truth = 5.0 * np.sin(2.0 * X_new[:, 4]) + 1.0
    errors = [np.abs(each.predict(columns) - truth).mean() for each in (model, fixed)]
    assert errors[0] < 0.5 * errors[1]


def test_passes_without_a_polish_keep_the_kernel_of_the_sample():
    """Every pass learns all rows by steps."""
    once, thrice = (new(polish=False).fit([(COLUMNS, Y)], epochs=epochs) for epochs in (1, 3))
    assert once._online.learner.steps == SIZE
    assert thrice._online.learner.steps == 3 * SIZE
    assert repr(once.kernel) == repr(thrice.kernel)
    assert thrice._online.contest is None


def test_columns_and_labels_may_come_while_a_rival_learns(tmp_path):
    columns = {**COLUMNS, "a": COLUMNS["a"].copy()}
    columns["a"][900::7] = np.nan
    y = LABELS.copy()
    y[1200::5] = "other"
    model = learned(new("classification"), 0, 800, y, columns)
    assert model._online.contest.rival is not None
    learned(model, 800, 1100, y, columns)
    assert model.columns[-1] == "a is missing"
    learned(model, 1100, 1300, y, columns)
    other = from_file(model, tmp_path)
    for each in (model, other):
        learned(each, 1300, SIZE, y, columns)
    assert set(model.labels) == {"high", "low", "other"}
    assert np.array_equal(model.function.weights, other.function.weights)
    assert model.predict_proba(part(0, 9, columns)).shape == (9, 3)


def test_a_compressed_model_has_no_rival(tmp_path):
    smaller, _ = learned(new(), 0, 800).compressed(max_atoms=20)
    other = from_file(smaller, tmp_path)
    assert smaller._online.contest is None
    assert np.array_equal(other.predict(part(0, 9)), smaller.predict(part(0, 9)))


def changed(model, **values):
    """Restore a model from its stored values; some of its stream are changed."""
    online = copy.copy(model._online)
    vars(online).update(values)
    parts = {**_stored.pack(model), "online": online}
    return _stored.restore(TableModel, parts, _stored.Memory(10**9).check)


def test_files_with_other_choices_are_refused():
    model, given = learned(new(), 0, 800), learned(new(kernel="laplacian"), 0, 800)
    assert same(model, changed(model))
    narrow = TableModel("y", ["a", "b"])
    narrow.learn(part(0, 800), Y[:800])
    young, young_narrow = learned(new(), 0, 300), TableModel("y", ["a", "b"])
    young_narrow.learn(part(0, 300), Y[:300])
    race, given_one = model.race, given._online.learner
    cases = [
        (given, {"contest": model._online.contest}, "kernel is given"),
        (given, {"fitted_race": race}, "kernel is given"),
        (model, {"contest": None}, "kernel is not chosen"),
        (model, {"kept": young._online.kept}, "not kept after the first race"),
        (model, {"contest": narrow._online.contest}, "other features"),
        (model, {"contest": None, "fitted_race": race, "learner": given_one}, "won the race"),
        (narrow, {"contest": None, "fitted_race": race}, "more features"),
        (young_narrow, {"kept": young._online.kept}, "other features"),
    ]
    for each, values, message in cases:
        with pytest.raises(FileFormatError, match=message):
            changed(each, **values)


def test_a_pipe_that_is_resumed_is_one_pipe(tmp_path):
    """Standard input in two parts, through a file in between, gives the model of one part."""
    rows = [f"{','.join(map(repr, x))},{y!r}" for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    head = ",".join([*NAMES, "y"])

    def fit(lines, name, *options):
        text = "\n".join([head, *lines]) + "\n"
        command = [sys.executable, "-m", "colk", "fit", "-", "--model", str(tmp_path / name)]
        options = options or ("--target", "y")
        subprocess.run([*command, *options], input=text, text=True, check=True, capture_output=True)
        return colk.load(tmp_path / name)

    whole = fit(rows, "whole.colk")
    fit(rows[:2000], "parts.colk")
    parts = fit(rows[2000:], "parts.colk", "--resume")
    assert whole.rows == parts.rows == SIZE
    assert whole.race.scales.argmax() == 4
    assert np.array_equal(whole.function.weights, parts.function.weights)
    assert repr(whole.kernel) == repr(parts.kernel)
