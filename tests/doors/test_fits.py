"""A fit gives the same model through every door: columns, kernel, atoms, λ, weights, predictions.

The doors are an estimator with a data frame, batches or a file, `TableModel`, the command, and
partitions. A data frame is the reference.
"""

import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fitted import differences, view
from shop_table import CATEGORIES, DATES, FEATURES, N_ROWS, columns_of, rows_for_prediction, table

import colk
from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, distributed
from colk.cli import main
from colk.losses import Pinball
from colk.tabular import TableModel
from colk.tabular.reading import Source

SMALL = {"max_atoms": 40}
QUICK = {**SMALL, "kernel": "gaussian"}
# The path would end at the mean, as it does for the variance.
EXACT, PATH = {**QUICK, "risk_path": False}, "--no-risk-path"
LEVELS = {"quantiles": (0.1, 0.8), "kernel": "gaussian", "max_atoms": 30}


@dataclass(frozen=True)
class Task:
    """What to fit: the target, the settings of an estimator, and the same as options."""

    target: str
    kind: type = COLKRegressor
    settings: dict = field(default_factory=dict)
    options: tuple = ()
    has_weights: bool = False

    @property
    def name(self):
        return "classification" if self.kind is COLKClassifier else "regression"

    @property
    def flags(self):
        """The options of `colk fit` that stand for the settings."""
        given = {name: value for name, value in self.settings.items() if name in QUICK}
        found = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        return [f"--target={self.target}", f"--task={self.name}", "--seed=0", *found, *self.options]

    def estimator(self, kind=None, **more):
        return (kind or self.kind)(random_state=0, **self.settings, **more)

    def table_model(self):
        return TableModel(
            self.target, FEATURES, CATEGORIES, self.name, dates=DATES, seed=0, **self.settings
        )


TASKS = {
    "huber": Task("price", settings=QUICK, has_weights=True),
    "squared": Task("calm", settings={**QUICK, "loss": "squared"}, options=("--loss=squared",)),
    "pinball": Task(
        "price", settings={**QUICK, "loss": Pinball(0.9)}, options=("--loss=pinball(0.9)",)
    ),
    "two classes": Task("pair", COLKClassifier, QUICK, has_weights=True),
    "four classes": Task("class", COLKClassifier, QUICK),
    "quantiles": Task("calm", COLKQuantileRegressor, LEVELS, has_weights=True),
    "cvar": Task("calm", settings={**EXACT, "risk": "cvar"}, options=("--risk=cvar", PATH)),
    "variance": Task(
        "calm",
        settings={**SMALL, "risk": "variance"},
        options=("--risk=variance",),
        has_weights=True,
    ),
    "entropic": Task(
        "calm", settings={**EXACT, "risk": "entropic"}, options=("--risk=entropic", PATH)
    ),
    "defaults": Task("price"),
}

DISTRIBUTED = {
    COLKRegressor: "DaskCOLKRegressor",
    COLKClassifier: "DaskCOLKClassifier",
    COLKQuantileRegressor: "DaskCOLKQuantileRegressor",
}


@cache
def reference(name, weighted):
    """Return the model that an estimator makes of a data frame."""
    task, (frame, targets, weights) = TASKS[name], table()
    return task.estimator().fit(frame, targets[task.target], weights if weighted else None)


@cache
def expected_view(name, weighted):
    return view(reference(name, weighted), rows_for_prediction())


# -- doors: each takes a task and returns a fitted model -------------------------------------


def parts_of_rows(size):
    return [slice(start, start + size) for start in range(0, N_ROWS, size)]


def batches(size):
    def fit(task, tools):
        frame, targets, weights = table()
        y = targets[task.target]
        found = [(frame[some], y[some], weights[some]) for some in parts_of_rows(size)]
        if not task.has_weights:
            found = [batch[:2] for batch in found]
        return task.estimator().fit(found)

    return fit


def source(form):
    def fit(task, tools):
        return task.estimator().fit(Source([tools.files(task.target, form)]), task.target)

    return fit


def table_source(task, tools):
    return task.table_model().fit(Source([tools.files(task.target, "parquet")]))


def table_batches(task, tools):
    frame, targets, _ = table()
    y = targets[task.target]
    found = [(columns_of(frame[some]), y[some]) for some in parts_of_rows(7000)]
    return task.table_model().fit(found)


def command(task, tools):
    path = str(tools.folder / "m.colk")
    assert main(["fit", tools.files(task.target, "csv"), "--model", path, *task.flags]) == 0
    return colk.load(path)


def process(task, tools):
    path = str(tools.folder / "m.colk")
    rows = tools.files(task.target, "csv")
    line = [sys.executable, "-m", "colk", "fit", rows, "--model", path, *task.flags]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return colk.load(path)


def dask(*lengths):
    """Return the door of partitions with these numbers of rows."""

    def fit(task, tools):
        return fit_dask(task, tools.pool, lengths)

    return fit


def fit_dask(task, client, lengths):
    frames = pytest.importorskip("dask.dataframe")
    frame, targets, weights = table()
    ends = np.cumsum([0, *lengths])
    divisions = [*ends[:-1].tolist(), N_ROWS - 1]

    def cut(values):
        return frames.from_pandas(values, npartitions=1).repartition(divisions=divisions)

    y, weight = cut(pd.Series(targets[task.target])), cut(pd.Series(weights))
    kind = getattr(distributed, DISTRIBUTED[task.kind])
    model = task.estimator(kind, client=client)
    return model.fit(cut(frame), y, weight if task.has_weights else None).local_


def dask_client(task, tools):
    cluster = pytest.importorskip("distributed")
    with cluster.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        return fit_dask(task, client, (9000, 16_000))


def dask_files(task, tools):
    kind = getattr(distributed, DISTRIBUTED[task.kind])
    model = task.estimator(kind, client=tools.pool)
    return model.fit([tools.files(task.target, "csv")], task.target).local_


def dask_table(task, tools):
    from colk.distributed.tables import TableFile, fit_table

    model = task.table_model()
    fit_table(model, [TableFile(tools.files(task.target, "csv"), model.wanted)], tools.pool)
    return model


DOORS = {
    "batches of 700": batches(700),
    "batches of 9000": batches(9000),
    "CSV": source("csv"),
    "Parquet": source("parquet"),
    "TableModel, Parquet": table_source,
    "TableModel, batches": table_batches,
    "command": command,
    "process": process,
    "Dask, 1 part": dask(N_ROWS),
    "Dask, 3 parts": dask(4000, 5001, 15_999),
    "Dask, client": dask_client,
    "Dask, files": dask_files,
    "Dask, TableModel": dask_table,
}
TAKE_WEIGHTS = {"batches of 700", "batches of 9000"} | {
    "Dask, 1 part", "Dask, 3 parts", "Dask, client"
}  # fmt: skip
OF_TABLES = {"TableModel, Parquet", "TableModel, batches", "command", "process", "Dask, TableModel"}

# Every door fits the first task, which has outliers. The other tasks take two or three of the ways
# in which rows arrive (batches, a file, a table, partitions), each another one. What a door adds to
# its way is the same for every task: batches of another size, the reader of CSV, a client.
# Quantiles have no table: `test_refusals.py`.
SOME = {
    "huber": tuple(DOORS),
    "squared": ("batches of 9000", "command"),
    "pinball": ("Parquet", "TableModel, batches"),
    "two classes": ("batches of 9000", "Dask, 3 parts"),
    "four classes": ("Parquet", "command"),
    "quantiles": ("batches of 9000", "Parquet", "Dask, 3 parts"),
    "cvar": ("TableModel, batches", "Dask, 3 parts"),
    "variance": ("batches of 9000", "command"),
    "entropic": ("Parquet", "Dask, 3 parts"),
    "defaults": ("command",),
}
CASES = [(task, door) for task, doors in SOME.items() for door in doors]


@dataclass(frozen=True)
class Tools:
    files: object
    folder: object
    pool: object


@pytest.fixture
def tools(files, tmp_path, pool):
    return Tools(files, tmp_path, pool)


def test_the_rows_have_outliers_which_a_fit_leaves_out():
    assert reference("huber", True).polished_.n_outliers > 0.005 * N_ROWS


@pytest.mark.parametrize(("task", "door"), CASES)
def test_a_door_gives_the_model_of_a_data_frame(task, door, tools):
    weighted = TASKS[task].has_weights and door in TAKE_WEIGHTS
    found = view(DOORS[door](TASKS[task], tools), rows_for_prediction())
    tolerance = 1e-8 if door.startswith("Dask") else 1e-10
    lines = differences(expected_view(task, weighted), found, tolerance)
    assert not lines, "\n".join(lines)
