"""A table of which more than 5 % of the rows cannot be used stops `colk fit`."""

import os
import subprocess
import sys

import numpy as np
import pytest

import colk as package


def rows(n=400):
    x = np.random.default_rng(0).normal(size=n).round(3)
    return [f"{a},{2.0 * a:.3f}" for a in x]


def write(path, lines):
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    return path


def fit(colk, path, *options):
    return colk("fit", path, "--target", "y", "--model", path.with_name("m"), *options)


@pytest.fixture
def damaged(tmp_path):
    """A table of 400 rows, of which 40 cannot be used for four reasons."""
    lines = rows()
    for i in range(40):
        lines[10 * i] = ["wide,1", "1,2,3", "1,", "1e300,1"][min(i // 12, 3)]
    return write(tmp_path / "t.csv", lines)


def test_the_file_is_refused_before_it_is_learned(colk, damaged, tmp_path):
    code, _, error = fit(colk, damaged)
    assert code == 1
    assert error.count("\n") == 1
    assert "40 of 400 rows cannot be used" in error
    for told in ("12 rows: t.csv, line 2: x is 'wide'", "it has 3 cells", "y is missing"):
        assert told in error
    assert "1e+300" not in error  # the fourth reason
    assert "--allow-rejects" in error
    assert not (tmp_path / "m").exists()
    code, out, _ = fit(colk, damaged, "--allow-rejects")
    assert code == 0
    assert "360 learned, 40 rejected" in out


def test_five_percent_are_left_out(colk, tmp_path):
    lines = rows()
    lines[5:400:20] = ["wide,1"] * 20
    code, out, _ = fit(colk, write(tmp_path / "t.csv", lines))
    assert code == 0
    assert "380 learned, 20 rejected" in out


def test_a_file_in_latin_1_is_learned(colk, tmp_path):
    """The first rows are ASCII, and 71 % of the rows are not."""
    shops = ["Köln", "Zürich", "São Paulo", "Bonn", "Rome", "Málaga", "Århus"]
    lines = [f"{shops[i % 7]},{row}" for i, row in enumerate(rows(2000))]
    path = tmp_path / "t.csv"
    path.write_bytes(("shop,x,y\n" + "\n".join(lines) + "\n").encode("latin-1"))
    code, out, _ = fit(colk, path)
    assert code == 0
    assert out.startswith("found: --encoding cp1252\n")
    assert "2,000 learned, 0 rejected" in out
    model = package.load(tmp_path / "m")
    assert set(model.category_values("shop")) == set(shops)


def test_an_interrupted_run_is_not_judged_again(colk, damaged):
    assert fit(colk, damaged, "--allow-rejects", "--checkpoint-every", "100")[0] == 0
    assert fit(colk, damaged, "--resume")[0] == 0


def pipe(lines, folder, *options):
    command = [sys.executable, "-m", "colk", "fit", "-", "--target", "y", "--model", folder / "m"]
    return subprocess.run(
        [*map(str, command), *options],
        input="\n".join(["x,y", *lines]) + "\n",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("bad", "first"), [(50, ""), (130, "the first ")])
def test_a_pipe_is_refused_when_it_is_sure(tmp_path, bad, first):
    lines = rows()
    lines[-bad:] = ["wide,1"] * bad
    found = pipe(lines, tmp_path)
    assert found.returncode == 1, found.stderr
    assert f"{bad} of {first}400 rows cannot be used" in found.stderr
    learned = 400 - bad if not first else 0
    if learned:
        assert f"the model of {learned} rows is saved" in found.stderr
        assert package.load(tmp_path / "m").rows == learned
    assert pipe(lines, tmp_path, "--allow-rejects", "--overwrite").returncode == 0


@pytest.mark.parametrize(("values", "told"), [(2, True), (10, True), (11, False)])
def test_the_guess_of_the_task_is_said(colk, tmp_path, values, told):
    lines = [f"{row.partition(',')[0]},{i % values}" for i, row in enumerate(rows())]
    path = write(tmp_path / "t.csv", lines)
    advice = f"target: numbers, of {values} values; --task classification makes them labels"
    assert (advice in fit(colk, path)[1]) == told
    code, out, _ = fit(colk, path, "--task", "regression", "--overwrite")
    assert (code, "target: numbers\n" in out) == (0, True)
    code, out, _ = fit(colk, path, "--task", "classification", "--overwrite")
    assert (code, "target: labels\n" in out) == (0, True)


def test_the_order_of_dates_can_be_given(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "".join(f"0{1 + i % 9}.02.2026,{i}\n" for i in range(40)))
    for option, month_first in ((), None), (("--month-first",), ["when"]):
        code, out, _ = fit(colk, path, *option, "--overwrite")
        assert code == 0
        assert ("with the month first" in out) == bool(month_first)
        assert package.load(tmp_path / "m").notes.get("month_first") == month_first
