"""Unusual tables, paths and pipes give one clear line and the right exit code."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from matplotlib.figure import Figure

import colk as package
from colk._encoding.dates import seconds_of
from colk.cli.figures import _most_varying, features

ROWS = "a,y\n1,2\n2,3\n3,5\n"


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,y\r\n1,2\r\n",
        "a,y\n1,2\n1,2\n1,2\n",
        '"<script>alert(1)</script>",y\n1,2\n2,1\n',
        '"a\nb",,y\n"1\n",2,3\n2,1,1\n',
    ],
    ids=["one row", "constant", "markup", "lines"],
)
def test_few_rows_and_strange_names_make_a_model_and_a_page(colk, tmp_path, text):
    path, page = write(tmp_path, "t.csv", text), tmp_path / "page.html"
    model = tmp_path / "m.colk"
    code, _, error = colk("fit", path, "--target", "y", "--model", model, "--report", page)
    assert (code, error) == (0, "")
    assert package.load(model).rows > 0
    assert "<script>alert" not in page.read_text()
    assert colk("show", model)[0] == 0
    assert colk("predict", model, path)[0] == 0


@pytest.mark.parametrize("zeroth", [0, 1])
def test_libsvm_counts_from_zero_or_one(colk, tmp_path, zeroth):
    rows = "".join(f"{i % 2} {zeroth}:{i} {zeroth + 2}:1\n" for i in range(9))
    path = write(tmp_path, "t.libsvm", "\ufeff" + rows)
    code, _, error = colk("fit", path, "--target", "label", "--model", tmp_path / "m")
    assert (code, error) == (0, "")
    model = package.load(tmp_path / "m")
    assert model.rows == 9
    assert model.features == tuple(str(zeroth + k) for k in range(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "t.csv", "--overwrite"), "--model t.csv is an input"),
        (("--model", "m", "--report", "t.csv"), "--report t.csv is an input"),
        (("--model", "m", "--rejects", "./t.csv"), "--rejects t.csv is an input"),
        (("--model", "m", "--report", "m"), "--report m is also the file of --model"),
        (("--model", "m", "--rejects", "m"), "--rejects m is also the file of --model"),
    ],
)
def test_nothing_is_written_over_what_is_read(colk, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, "t.csv", ROWS)
    code, _, error = colk("fit", "t.csv", "--target", "y", *options)
    assert code == 2
    assert message in error
    assert path.read_text() == ROWS
    assert not (tmp_path / "m").exists()


def test_a_model_is_not_written_over_by_what_is_made_of_it(colk, tmp_path):
    path, model = write(tmp_path, "t.csv", ROWS), tmp_path / "m.colk"
    assert colk("fit", path, "--target", "y", "--model", model)[0] == 0
    before = model.read_bytes()
    other = tmp_path / "other.csv"
    other.hardlink_to(model)
    for arguments in (
        ("predict", model, path, "--out", model, "--to", "csv"),
        ("predict", model, path, "--out", other),
        ("predict", model, path, "--rejects", model),
        ("predict", model, path, "--out", path),
        ("export", model, "--to", "python", "--out", model),
        ("compress", model, "--max-atoms", "1", "--out", model),
    ):
        code, _, error = colk(*arguments)
        assert code == 2
        assert "is an input; choose another file" in error
    assert model.read_bytes() == before
    assert path.read_text() == ROWS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epochs", "x"), "must be a whole number of at least 1, got x"),
        (("--n-features", "-3"), "must be a whole number of at least 1, got -3"),
        (("--holdout", "much"), "must be a number between 0 and 1, got much"),
    ],
)
def test_options_that_are_no_numbers(colk, tmp_path, options, message):
    path = write(tmp_path, "t.csv", ROWS)
    code, _, error = colk("fit", path, "--target", "y", "--model", tmp_path / "m", *options)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1


def test_the_page_shows_features_that_matter(colk, tmp_path):
    """If there are too many features, the page shows those along which the function varies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 16))
    y = 3.0 * X[:, 13] + 2.0 * X[:, 15]
    header = ",".join([*(f"c{k}" for k in range(16)), "y"])
    rows = "\n".join(",".join(map(str, row)) for row in np.column_stack([X, y]))
    path = write(tmp_path, "t.csv", f"{header}\n{rows}\n")
    assert colk("fit", path, "--target", "y", "--model", tmp_path / "m")[0] == 0
    shown = _most_varying(package.load(tmp_path / "m"))
    assert len(shown) == 12
    assert {"c13", "c15"} <= set(shown)


def test_the_page_draws_the_function_at_the_dates_of_the_table(colk, tmp_path):
    days = np.datetime64("2021-01-01") + np.arange(300)
    x = np.random.default_rng(0).normal(size=300)
    lines = [f"{day},{a},{0.1 * t + a}" for t, (day, a) in enumerate(zip(days, x, strict=True))]
    path = write(tmp_path, "t.csv", "when,a,y\n" + "\n".join(lines) + "\n")
    assert colk("fit", path, "--target", "y", "--model", tmp_path / "m")[0] == 0
    figure = Figure()
    features(package.load(tmp_path / "m"))[0](figure)
    figure.draw_without_rendering()
    when, _, a = figure.axes
    # A trend of 30 over the year; the panel of the other column is drawn at its middle, 15.
    assert np.ptp(when.lines[0].get_ydata()) > 20.0
    assert all(label.get_text().startswith("202") for label in when.get_xticklabels())
    assert np.median(a.lines[0].get_ydata()) == pytest.approx(15.0, abs=4.0)


def test_the_page_draws_the_cycles_of_dates(colk, tmp_path):
    hours = np.datetime64("2021-01-01T00") + 3 * np.arange(5000)
    when = hours.astype("datetime64[s]").astype(float)
    weekday, hour = (when // 86400.0 + 3.0) % 7.0, when / 3600.0 % 24.0
    y = np.where(weekday >= 5.0, 4.0, 0.0) + np.where((hour >= 8.0) & (hour < 20.0), 2.0, 0.0)
    y += 3.0 * np.sin(when / (365.2425 * 86400.0) * 2.0 * np.pi)
    lines = [f"{moment}:00,{value}" for moment, value in zip(hours, y, strict=True)]
    path = write(tmp_path, "t.csv", "when,y\n" + "\n".join(lines) + "\n")
    assert colk("fit", path, "--target", "y", "--model", tmp_path / "m")[0] == 0
    figure = Figure()
    features(package.load(tmp_path / "m"))[0](figure)
    figure.draw_without_rendering()
    panels = {axes.get_xlabel(): axes for axes in figure.axes if axes.get_visible()}
    assert list(panels) == ["when", "when: time of day", "when: weekday", "when: season of 2021"]
    of = {name: axes.lines[0].get_xydata() for name, axes in panels.items()}
    x, values = of["when: time of day"].T
    assert values[(x > 10) & (x < 18)].mean() > values[(x < 6)].mean() + 1.0
    _, values = of["when: weekday"].T
    assert values[5:].min() > values[:5].max() + 1.0
    x, values = of["when: season of 2021"].T
    assert values[(x > 60) & (x < 120)].mean() > values[(x > 240) & (x < 300)].mean() + 3.0
    labels = [label.get_text() for label in panels["when: weekday"].get_xticklabels()]
    assert labels == ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
    days = [label.get_text() for label in panels["when"].get_xticklabels()]
    assert len(set(days)) == 3
    assert all(str(np.datetime64(day, "D")) == day for day in days)
    places = seconds_of(panels["when"].get_xticks()) / 86400.0
    np.testing.assert_allclose(places, np.round(places), atol=1e-6)


def test_names_of_values_do_not_overlap(colk, tmp_path):
    names = [f"a rather long name of a shop, number {k}" for k in range(3)]
    rows = [f'"{names[k % 3]}",{k % 3}' for k in range(300)]
    path = write(tmp_path, "t.csv", "shop,y\n" + "\n".join(rows) + "\n")
    assert colk("fit", path, "--target", "y", "--model", tmp_path / "m")[0] == 0
    figure = Figure()
    features(package.load(tmp_path / "m"))[0](figure)
    figure.draw_without_rendering()
    labels = figure.axes[0].get_xticklabels()
    assert all(len(label.get_text()) <= 16 and label.get_rotation() == 60.0 for label in labels)


def test_another_delimiter_is_found(colk, tmp_path):
    path, model = write(tmp_path, "t.csv", ROWS.replace(",", "\t")), tmp_path / "m"
    code, out, _ = colk("fit", path, "--target", "y", "--model", model)
    assert code == 0
    assert out.startswith("found: --delimiter tab\n")
    given = ("--delimiter", "\\t", "--overwrite")
    code, out, _ = colk("fit", path, "--target", "y", "--model", model, *given)
    assert (code, "found" in out) == (0, False)


def test_names_with_commas_stand_in_quotes(colk, tmp_path):
    path = write(tmp_path, "t.csv", '"a,b",y\n1,2\n2,3\n')
    options = ("--target", "y", "--features", '"a,b"', "--model", tmp_path / "m")
    assert colk("fit", path, *options)[0] == 0
    assert package.load(tmp_path / "m").features == ("a,b",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.json", '[{"a": 1, "y": 2}]', "jq -c"),
        ("t.json", '{\n"a": 1,\n"y": 2\n}\n', "not JSON objects"),
        ("none.csv", None, "none.csv: no such file or directory"),
    ],
)
def test_what_is_no_table_is_told(colk, tmp_path, name, text, message):
    path = tmp_path / name if text is None else write(tmp_path, name, text)
    code, _, error = colk("fit", path, "--target", "y", "--model", tmp_path / "m")
    assert code == 2
    assert message in error
    assert "Errno" not in error


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ([[[1.0], [2.0]], [1.0, 2.0]], ["a", "y"], "column 'a' holds list<"),
        ([[{"k": 1}, {"k": 2}], [1.0, 2.0]], ["a", "y"], "column 'a' holds struct<"),
        ([[b"\xff", b"\xfe"], [1.0, 2.0]], ["a", "y"], "column 'a' holds binary"),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], ["a", "a", "y"], "column 'a' appears twice"),
    ],
)
def test_columns_of_parquet_that_are_neither_numbers_nor_text(
    colk, tmp_path, columns, names, message
):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table(columns, names=names), path)
    options = ("--target", "y", "--features", "a", "--categorical", "a")
    code, _, error = colk("fit", path, *options, "--model", tmp_path / "m")
    assert code == 2
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("record", 5),
        ("record", {"width": 0}),
        ("record", {"curve": 7}),
        ("place", None),
        ("place", {"epoch": -1}),
        ("settings", []),
        ("holdout", "much"),
        ("data", 3),
        ("rejected", "many"),
    ],
)
def test_notes_that_no_run_has_made(colk, tmp_path, name, value):
    """A checkpoint may contain anything, as any file may."""
    path, model = write(tmp_path, "t.csv", ROWS), tmp_path / "m.colk"
    assert colk("fit", path, "--target", "y", "--model", model)[0] == 0
    saved = package.load(model)
    merged = {**saved.notes[name], **value} if isinstance(value, dict) else value
    saved.notes[name] = merged
    del saved.notes["quality"]  # without it, `show` reads the record
    package.save(saved, model)
    code, _, error = colk("fit", path, "--model", model, "--resume")
    assert code == 2
    assert error.startswith("colk: error: ")
    assert error.count("\n") == 1
    assert colk("show", model)[0] == (2 if name == "record" else 0)


def test_rejects_that_are_gone_are_begun_anew(colk, tmp_path):
    path, model, rejects = write(tmp_path, "t.csv", ROWS + "x,1\n"), tmp_path / "m", tmp_path / "r"
    options = ("fit", path, "--model", model, "--rejects", rejects, "--allow-rejects")
    assert colk(*options, "--target", "y")[0] == 0
    rejects.unlink()
    write(tmp_path, "t.csv", ROWS + "x,1\nz,1\n")
    assert colk(*options, "--resume", "--epochs", "2")[0] == 0
    assert b"\0" not in rejects.read_bytes()


def run(command, tmp_path):
    """Run a line of the shell; returns its exit code and standard error."""
    line = command.replace("colk", f"{sys.executable} -m colk")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_pipes_that_nobody_holds(colk, tmp_path):
    write(tmp_path, "t.csv", "a,y\n" + "1,2\n2,3\n" * 150_000)  # more than a pipe holds
    few = write(tmp_path, "few.csv", ROWS)
    assert colk("fit", few, "--target", "y", "--model", tmp_path / "m")[0] == 0
    for command, code, message in (
        ("set -o pipefail; colk predict m t.csv | head -1", 141, ""),
        ("set -o pipefail; colk show m | true", 141, ""),
        ("colk predict m t.csv >&-", 2, "standard output is closed"),
        ("colk predict m - <&-", 2, "standard input is closed"),
        ("colk fit - --target y --model n < /dev/null", 2, "it is empty"),
        ("head -3 t.csv | colk fit - --target y --model n --epochs 2", 2, "--epochs needs files"),
    ):
        found, error = run(command, tmp_path)
        assert (found, "Traceback" in error) == (code, False), (command, error)
        assert message in error
        assert len(error.splitlines()) == (1 if code == 2 else 0)


def test_json_lines_of_mixed_types(colk, tmp_path):
    rows = [{"a": 1, "y": 2}, {"a": 2, "y": "x"}, {"a": 3, "y": [1]}, {"a": 4}, {"a": 5, "y": 3}]
    path = write(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    rejects = tmp_path / "rejects"
    options = ("--target", "y", "--model", tmp_path / "m", "--rejects", rejects, "--allow-rejects")
    assert colk("fit", path, *options)[0] == 0
    told = [line[1:] for line in csv.reader(rejects.read_text().splitlines()[1:])]
    assert told == [["2", 'y is "x", not a number'], ["3", "y is a list, not a number"],
                    ["4", "y is missing"]]  # fmt: skip
