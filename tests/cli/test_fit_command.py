"""`colk fit`: from a table to a model and a report."""

import csv
import html.parser
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import colk as package
from colk.tabular import TableModel

NUMBERS = ("--target", "price", "--features", "size,age")
ALL = ("--target", "price", "--features", "size,age,city", "--categorical", "city")


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_rows_become_a_model(colk, houses, tmp_path):
    rejects = tmp_path / "rejects.csv"
    code, out, _ = colk(
        "fit", houses, *ALL, "--model", tmp_path / "m.colk", "--rejects", rejects, "--epochs", 3
    )
    assert code == 0
    assert re.search(r"rows +1,197 learned, 3 rejected", out)
    assert list(csv.reader(rejects.read_text().splitlines())) == [
        ["file", "line", "reason"],
        [str(houses), "12", "size is 'wide', not a number"],
        [str(houses), "702", "it has 2 cells, expected 5"],
        [str(houses), "902", "size is 'x', not a number"],
    ]
    model = package.load(tmp_path / "m.colk")
    table = pa.csv.read_csv(houses, parse_options=pa.csv.ParseOptions(invalid_row_handler=_skip))
    good = [row for row in table.to_pylist() if row["size"] not in ("wide", "x")]
    columns = {name: [row[name] for row in good] for name in ("age", "city")}
    columns["size"] = [float(row["size"]) for row in good]
    residuals = model.predict(columns) - np.array([row["price"] for row in good])
    assert np.abs(residuals).mean() < 10.0


def _skip(row):
    return "skip"


def usable(houses):
    """Columns and prices of the rows that can be used."""
    cells = [line.split(",") for line in houses.read_text().splitlines()[1:]]
    good = [row for row in cells if len(row) == 5 and row[0] not in ("wide", "x")]
    size, age, price = (np.array([float(row[place]) for row in good]) for place in (0, 1, 3))
    return {"size": size, "age": age}, price


@pytest.mark.parametrize("options", [[], ["--no-polish", "--kernel", "laplacian"]])
def test_the_command_fits_the_same_model_as_the_library(colk, houses, tmp_path, options):
    """The model is the same, bit for bit, for other batches."""
    code, _, _ = colk("fit", houses, *NUMBERS, *options, "--model", tmp_path / "m.colk")
    columns, price = usable(houses)
    cuts = [0, 1, 100, 700, len(price)]
    parts = [
        ({name: values[i:j] for name, values in columns.items()}, price[i:j])
        for i, j in itertools.pairwise(cuts)
    ]
    settings = {"kernel": "laplacian", "polish": False} if options else {}
    model = TableModel("price", ["size", "age"], **settings).fit(parts)
    found = package.load(tmp_path / "m.colk")
    assert code == 0
    assert np.array_equal(found.function.weights, model.function.weights)
    assert found.rows == model.rows == 1197


def test_a_pipe_is_learned_row_by_row(tmp_path, houses):
    """Standard input is learned in one pass with Newton steps, and the command says so."""
    path = tmp_path / "m.colk"
    command = [sys.executable, "-m", "colk", "fit", "-", *NUMBERS, "--model", str(path)]
    with open(houses, "rb") as rows:
        run = subprocess.run(
            command, stdin=rows, env=environment(), capture_output=True, text=True, check=False
        )
    # A file as standard input could be read twice, but the next one may be a pipe.
    assert run.returncode == 0
    assert "one pass" in run.stderr
    assert "newton" in run.stderr
    model = TableModel("price", ["size", "age"], solver="newton")
    columns, price = usable(houses)
    for i in range(len(price)):
        model.learn({name: values[i : i + 1] for name, values in columns.items()}, price[i : i + 1])
    found = package.load(path)
    assert np.array_equal(found.function.weights, model.function.weights)
    assert found.rows == 1197
    assert found.race is not None


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "tsv"])
def test_formats_make_the_same_model(colk, houses, tmp_path, kind):
    head, *lines = (line.split(",") for line in houses.read_text().splitlines())
    rows = [row for row in lines if len(row) == 5 and row[0] not in ("wide", "x")]
    columns = {
        name: [row[i] if name in ("city", "kind") else float(row[i]) for row in rows]
        for i, name in enumerate(head)
    }
    path = tmp_path / f"houses.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(pa.table(columns), path)
    elif kind == "tsv":
        path.write_text("\n".join("\t".join(row) for row in [head, *rows]))
    else:
        dicts = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        path.write_text("\n".join(map(json.dumps, dicts)))
    for data, model in ((houses, "a"), (path, "b")):
        assert colk("fit", data, *ALL, "--model", tmp_path / f"{model}.colk")[0] == 0
    one, other = package.load(tmp_path / "a.colk"), package.load(tmp_path / "b.colk")
    assert np.array_equal(one.function.weights, other.function.weights)
    assert one.columns == other.columns


def test_options_reach_the_model(colk, houses, tmp_path):
    options = "--kernel gaussian --bandwidth 0.7 --loss squared --risk variance --step-size 0.02"
    code, _, _ = colk(
        "fit", houses, *NUMBERS, *options.split(), "--eps", 0.01, "--max-atoms", 12,
        "--no-averaging", "--no-scale", "--no-risk-path", "--model", tmp_path / "m.colk",
    )  # fmt: skip
    model = package.load(tmp_path / "m.colk")
    assert code == 0
    assert (str(model.kernel), str(model.loss)) == ("Gaussian(bandwidth=0.7)", "Squared()")
    assert type(model.risk).__name__ == "Variance"
    assert (model.risk_path, model.path) == (False, None)
    settings = model.settings
    assert (model.step_size, settings.eps, settings.max_atoms) == (0.02, 0.01, 12)
    assert model.averaging is None
    assert np.array_equal(model.unit, [1.0, 1.0])
    assert model.n_atoms <= 12


def test_the_summary_says_how_far_a_risk_was_followed(colk, houses, tmp_path):
    code, out, _ = colk("fit", houses, *NUMBERS, "--risk", "cvar", "--model", tmp_path / "m.colk")
    path = package.load(tmp_path / "m.colk").path
    said = "the model of the mean stays" if path.kept_the_mean else "lower than with the model"
    assert code == 0
    assert re.search(rf"risk +.*{said}", out)


def test_steps_by_curvature_learn_more_of_a_row(colk, houses, tmp_path):
    found = {}
    for solver in ("gradient", "newton"):
        path = tmp_path / f"{solver}.colk"
        options = ("--no-polish", "--epochs", "1", "--solver", solver, "--model", path)
        assert colk("fit", houses, *ALL, *options)[0] == 0
        record = package.load(path).notes["record"]
        found[solver] = record["absolute"] / record["rows"]
        assert f"solver     {solver}" in colk("show", path)[1]
    assert found["newton"] < 0.9 * found["gradient"]
    options = ("--solver", "newton", "--step-size", "0.1", "--model", tmp_path / "m")
    code, _, error = colk("fit", houses, *ALL, *options)
    assert code == 2
    assert "--step-size 0.1 would be ignored beside --solver newton" in error


def test_text_targets_are_classes(colk, houses, tmp_path):
    code, out, _ = colk(
        "fit", houses, "--target", "kind", "--features", "size,age", "--model", tmp_path / "m.colk"
    )
    assert code == 0
    assert re.search(r"error +\d+\.\d\d % wrong", out)
    model = package.load(tmp_path / "m.colk")
    assert sorted(model.labels) == ["cheap", "dear"]


def test_holdout_rows_are_never_learned(colk, houses, tmp_path):
    code, out, _ = colk(
        "fit", houses, *NUMBERS, "--holdout", 0.25, "--epochs", 2, "--model", tmp_path / "m.colk"
    )
    assert code == 0
    learned = int(re.search(r"rows +([\d,]+) learned", out)[1].replace(",", ""))
    held = int(re.search(r"on ([\d,]+) rows never learned", out)[1].replace(",", ""))
    assert learned == 1197 - held
    assert 0.2 < held / 1197 < 0.3


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.fetched, self.pictures, self.headings = [], 0, []
        self._in_heading = False

    def handle_starttag(self, tag, attrs):
        self._in_heading = tag == "h2"
        for name, value in attrs:
            if name in ("src", "href") and not value.startswith(("data:", "#")):
                self.fetched.append(value)
            self.pictures += (tag, name, value) == ("svg", "role", "img")
        assert tag not in ("link", "iframe")

    def handle_data(self, data):
        if self._in_heading:
            self.headings.append(data)
        self._in_heading = False


@pytest.mark.parametrize("target", ["price", "kind"])
def test_the_page_stands_alone(colk, houses, tmp_path, target):
    page = tmp_path / "page.html"
    code, out, _ = colk(
        "fit", houses, "--target", target, "--features", "size,age,city", "--categorical", "city",
        "--model", tmp_path / "m.colk", "--report", page,
    )  # fmt: skip
    assert code == 0
    assert str(page) in out
    links = Links()
    links.feed(page.read_text())
    assert links.fetched == []
    assert links.pictures == 3
    assert links.headings == [
        "Predict",
        "Predictions and targets",
        "The learned function",
        "Error along the rows",
        "Relevance",
        "Largest residuals",
        "Rejected rows",
        "Settings",
    ]
    assert "prefers-color-scheme: dark" in page.read_text()
    worst = re.findall(r"<td>houses.csv</td><td>([\d,]+)</td>", page.read_text())
    assert len(worst) == 20


def test_standard_input_is_learned_as_it_arrives(tmp_path):
    model = tmp_path / "m.colk"
    command = [sys.executable, "-m", "colk", "fit", "-", "--target", "y", "--model", str(model)]
    process = subprocess.Popen(
        [*command, "--checkpoint-every", "3"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    process.stdin.write(b"x,y\n1,2\n2,3\n3,")
    process.stdin.flush()
    process.stdin.write(b"5\n4,6\n")
    process.stdin.flush()
    deadline = time.monotonic() + 120.0
    while not model.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert package.load(model).rows == 3  # the pipe is still open
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    process.stdin.close()
    process.stdout.close()
    assert package.load(model).rows in (3, 4)  # the command stops between two rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*NUMBERS, "--exclude", "size"], "--exclude size is also the target or a feature"),
        ([*NUMBERS, "--id", "number"], "no column 'number'"),
        ([*NUMBERS, "--risk", "cvar(2)"], "--risk 'cvar(2)': tail_fraction must lie in (0, 1]"),
        ([*NUMBERS, "--loss", "pinball(x)"], "--loss 'pinball(x)' cannot be read"),
        ([*NUMBERS, "--kernel", "magic(1)"], "--kernel: 'magic' is unknown"),
        ([*NUMBERS, "--decimal", ","], "the decimal mark and the delimiter are both ','"),
        (["--target", "kind", "--intervals", "0.9"], "--intervals needs a target of numbers"),
        ([*NUMBERS, "--forgetting", "soon"], "must be a number or auto"),
        ([*NUMBERS, "--seed", "-1"], "must be a whole number"),
        (["--target", "cost"], "no column 'cost'; it has size, age, city, price, kind"),
        ([], "--target; the columns are size, age"),
        ([*NUMBERS, "--categorical", "city"], "'city' is not among the features"),
        (["--target", "kind", "--features", "size", "--task", "regression"], "--task class"),
        ([*NUMBERS, "--kernel", "magic"], "kernel 'magic' is unknown"),
        ([*NUMBERS, "--holdout", "2"], "between 0 and 1"),
        ([*NUMBERS, "--epochs", "0"], "at least 1"),
        ([*NUMBERS, "--strict"], "line 12: size is 'wide', not a number (--strict)"),
        ([*NUMBERS, "--report", "no/such/page.html"], "there is no folder no/such"),
        ([*NUMBERS, "--rejects", "/dev/null/r"], "/dev/null is not a folder"),
        ([*NUMBERS, "--loss", "hinge"], "Hinge is a loss for classification"),
        ([*NUMBERS, "--delimiter", "::"], "one character"),
    ],
)
def test_errors_are_one_line(colk, houses, tmp_path, options, message):
    code, _, error = colk("fit", houses, *options, "--model", tmp_path / "m.colk")
    assert code == 2
    assert len(error.splitlines()) == 1
    assert message in error
    assert not (tmp_path / "m.colk").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("empty.csv", "", "it is empty"),
        ("head.csv", "x,y\n", "no row could be learned"),
        ("bad.csv", "x,y\n1,a\n?,3\n", "no row could be learned; first reason"),
        ("t.dat", "x,y\n1,2\n", "no known extension"),
    ],
)
def test_data_that_teach_nothing(colk, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    options = ["--target", "y", "--task", "regression"] if name == "head.csv" else ["--target", "y"]
    if name == "bad.csv":
        options = ["--target", "y", "--features", "x"]
        (tmp_path / name).write_text("x,y\n1,\n2,\n")
    code, _, error = colk("fit", tmp_path / name, *options, "--model", tmp_path / "m.colk")
    assert code == 2
    assert message in error


def test_a_model_is_not_overwritten_by_chance(colk, houses, tmp_path):
    model = tmp_path / "m.colk"
    assert colk("fit", houses, *NUMBERS, "--model", model)[0] == 0
    before = model.read_bytes()
    code, _, error = colk("fit", houses, *NUMBERS, "--kernel", "gaussian", "--model", model)
    assert (code, model.read_bytes()) == (2, before)
    assert "--overwrite" in error
    assert colk("fit", houses, *ALL, "--model", model, "--overwrite")[0] == 0
    assert model.read_bytes() != before
