"""A stream gives the same model through every door, in chunks of any size.

The reference is `partial_fit` row by row. A stream without gaps goes through the same operations
at every door, so no bit may differ. With gaps or scaled features, differences of rounding may.
"""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fitted import differences, parts_of

import colk
from colk import COLKRegressor
from colk.cli import main
from colk.tabular import TableModel

river = pytest.importorskip("colk.river")

N_ROWS, NAMES = 2100, ("a", "b", "c", "d")
FIRST_GAP = 20


@dataclass(frozen=True)
class Stream:
    """A stream and the settings of its model.

    `is_scaled` says whether the model scales the features; River's models leave that to a scaler.
    """

    kernel: str
    solver: str
    has_gaps: bool = False
    is_scaled: bool = False

    @property
    def settings(self):
        found = {"kernel": self.kernel, "solver": self.solver, "max_atoms": 40}
        if self.kernel != "auto" and not self.is_scaled:
            found["bandwidth"] = 1.5
        # Defaults of these two differ between streams of River and others.
        return found | ({"forgetting": 1.0} if self.solver == "newton" else {"averaging": True})

    @property
    def flags(self):
        given = {name: value for name, value in self.settings.items() if name != "averaging"}
        return [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]

    @property
    def tolerance(self):
        return 1e-10 if self.has_gaps or self.is_scaled else 0.0


STREAMS = {
    f"{kernel}, {solver}{', gaps' * has_gaps}": Stream(kernel, solver, has_gaps)
    for kernel in ("auto", "gaussian")
    for solver in ("gradient", "newton")
    for has_gaps in (False, True)
} | {
    "scaled, gradient": Stream("auto", "gradient", has_gaps=True, is_scaled=True),
    "scaled, newton": Stream("gaussian", "newton", is_scaled=True),
}


@cache
def rows_of(has_gaps, seed=0, n_rows=N_ROWS):
    """Return points, whose columns depend on each other, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, len(NAMES)))
    X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]
    X[:, 3] = 0.8 * X[:, 1] - 0.6 * X[:, 2]
    y = 10.0 + 4.0 * np.sin(2.0 * X[:, 0]) + 2.0 * X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    if has_gaps:
        start = FIRST_GAP if seed == 0 else 0
        for column, part in ((1, 0.3), (3, 0.1)):
            X[start:, column][rng.uniform(size=n_rows - start) < part] = np.nan
    return X, y


@cache
def new_rows(has_gaps):
    return rows_of(has_gaps, seed=1, n_rows=200)[0]


def columns_of(X):
    return dict(zip(NAMES, X.T, strict=True))


def chunks(n_rows, size):
    return [slice(start, start + size) for start in range(0, n_rows, size)]


# -- doors: each takes a stream and returns the parts of a model ------------------------------


def partial_fit(size):
    def learn(stream, folder):
        X, y = rows_of(stream.has_gaps)
        model = COLKRegressor(standardize=stream.is_scaled, **stream.settings)
        for some in chunks(N_ROWS, size):
            model.partial_fit(X[some], y[some])
        return parts_of(model.learner_.function, model.predict(new_rows(stream.has_gaps)))

    return learn


def river_model(stream):
    return river.COLKRegressor(**stream.settings)


def river_view(model, stream):
    frame = pd.DataFrame(new_rows(stream.has_gaps), columns=NAMES)
    return parts_of(model.function, model.predict_many(frame).to_numpy())


def learn_one(stream, folder):
    X, y = rows_of(stream.has_gaps)
    model = river_model(stream)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(NAMES, row, strict=True)), target)
    return river_view(model, stream)


def learn_many(stream, folder):
    X, y = rows_of(stream.has_gaps)
    model, frame, targets = river_model(stream), pd.DataFrame(X, columns=NAMES), pd.Series(y)
    for some in chunks(N_ROWS, 700):
        model.learn_many(frame[some], targets[some])
    return river_view(model, stream)


def table(size):
    def learn(stream, folder):
        X, y = rows_of(stream.has_gaps)
        model = TableModel("y", NAMES, scale=stream.is_scaled, **stream.settings)
        for some in chunks(N_ROWS, size):
            model.learn(columns_of(X[some]), y[some])
        return table_view(model, stream)

    return learn


def table_view(model, stream):
    return parts_of(model.function, model.predict(columns_of(new_rows(stream.has_gaps))))


def written(stream, folder):
    X, y = rows_of(stream.has_gaps)
    path = folder / "rows.csv"
    pd.DataFrame(X, columns=NAMES).assign(y=y).to_csv(path, index=False)
    return path


def arguments(stream, folder):
    scale = "--scale" if stream.is_scaled else "--no-scale"
    model = str(folder / "m.colk")
    return ["fit", "-", "--target=y", f"--model={model}", scale, *stream.flags]


def command(stream, folder):
    with standard_input(written(stream, folder)):
        assert main(arguments(stream, folder)) == 0
    return table_view(colk.load(folder / "m.colk"), stream)


def process(stream, folder):
    line = [sys.executable, "-m", "colk", *arguments(stream, folder)]
    rows = written(stream, folder).read_bytes()
    done = subprocess.run(line, input=rows, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return table_view(colk.load(folder / "m.colk"), stream)


@contextmanager
def standard_input(path):
    """Read a file as standard input of this process."""
    before = os.dup(0)
    try:
        with path.open("rb") as file:
            os.dup2(file.fileno(), 0)
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


OF_RIVER = {"learn_one", "learn_many"}
DOORS = {
    "partial_fit of 7": partial_fit(7),
    "partial_fit of 450": partial_fit(450),
    "one partial_fit": partial_fit(N_ROWS),
    "learn_one": learn_one,
    "learn_many": learn_many,
    "TableModel of 1": table(1),
    "TableModel of 300": table(300),
    "command": command,
}
CASES = [
    (stream, door)
    for stream in STREAMS
    for door in DOORS
    if not (STREAMS[stream].is_scaled and door in OF_RIVER)
]


@cache
def reference(name):
    return partial_fit(1)(STREAMS[name], None)


@pytest.mark.parametrize(("stream", "door"), CASES)
def test_a_door_gives_the_model_of_partial_fit(stream, door, tmp_path):
    found = DOORS[door](STREAMS[stream], tmp_path)
    lines = differences(reference(stream), found, STREAMS[stream].tolerance)
    assert not lines, "\n".join(lines)


def test_a_process_gives_the_bits_of_the_command(tmp_path):
    stream, folders = STREAMS["gaussian, newton, gaps"], (tmp_path / "here", tmp_path / "there")
    for folder in folders:
        folder.mkdir()
    assert differences(command(stream, folders[0]), process(stream, folders[1]), 0.0) == []


# -- the rule for gaps ------------------------------------------------------------------------

QUICK = {"kernel": "gaussian", "bandwidth": 1.5, "max_atoms": 20}


def filled_by_estimator(size):
    def fill(X, y, new):
        model = COLKRegressor(standardize=False, **QUICK)
        for some in chunks(len(X), size):
            model.partial_fit(X[some], y[some])
        return model.encode_points(new)

    return fill


def filled_by_fit(X, y, new):
    return COLKRegressor(standardize=False, random_state=0, **QUICK).fit(X, y).encode_points(new)


def filled_by_table(X, y, new):
    model = TableModel("y", NAMES, scale=False, **QUICK).learn(columns_of(X), y)
    return model.points(columns_of(new))


def filled_by_river(X, y, new):
    model = river.COLKRegressor(**QUICK)
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip(NAMES, row, strict=True)), target)
    columns = model._columns
    return columns.encode(columns.cells_of(pd.DataFrame(new, columns=NAMES)))


@pytest.mark.parametrize(
    "fill",
    [
        pytest.param(filled_by_fit, id="fit"),
        pytest.param(filled_by_estimator(1), id="partial_fit of 1"),
        pytest.param(filled_by_estimator(100), id="partial_fit of 100"),
        pytest.param(filled_by_table, id="TableModel"),
        pytest.param(filled_by_river, id="River"),
    ],
)
def test_a_gap_is_the_expected_value_given_the_other_cells(fill):
    """The column `b` follows from `c` and `d`."""
    X, y = rows_of(has_gaps=False)
    holed = X.copy()
    holed[FIRST_GAP::3, 1] = np.nan
    new = holed[2000:]
    errors = np.abs(fill(holed[:2000], y[:2000], new)[:, 1] - X[2000:, 1])
    assert errors[np.isnan(new[:, 1])].max() < 0.2
