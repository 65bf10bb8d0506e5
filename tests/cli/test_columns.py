"""`colk fit` reports what it cannot use: dates, lists, rare columns, categories, other formats."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import colk as package
from colk._encoding.dates import years_of
from colk.cli import main


def fit(colk, path, *options):
    model = path.with_name("m.colk")
    result = colk("fit", path, "--target", "y", "--model", model, "--overwrite", *options)
    return *result, model


def rows(n=312):
    rng = np.random.default_rng(0)
    return [{"a": a, "y": 2.0 * a} for a in rng.normal(size=n).round(3)]


def test_a_key_of_one_row_is_not_required(colk, tmp_path):
    table = rows()
    table[7]["note"] = 3.0
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in table))
    code, out, _, model = fit(colk, path)
    assert code == 0
    assert re.search(r"note +numbers +100 % +left out: only 1 of the first 312 rows have it", out)
    assert package.load(model).features == ("a",)
    assert package.load(model).rows == 312
    _, out, _, _ = fit(colk, path, "--features", "a,note")
    assert "312 learned, 0 rejected" in out  # the others have a gap


def test_a_column_that_is_mostly_empty_is_learned(colk, tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{row['a']},{'7' if i % 5 == 0 else ''},{row['y']}" for i, row in enumerate(rows())]
    path.write_text("\n".join(["a,note,y", *lines]) + "\n")
    values = [7.0 if i % 5 == 0 else None for i in range(312)]
    columns = {"a": [row["a"] for row in rows()], "note": values, "y": [row["y"] for row in rows()]}
    pa.parquet.write_table(pa.table(columns), path.with_suffix(".parquet"))
    for each in (path, path.with_suffix(".parquet")):
        _, out, error, model = fit(colk, each)
        assert "312 learned, 0 rejected" in out
        assert re.search(r"note +numbers +80 % +number, standardised", out)
        assert error == ""
        assert package.load(model).columns == ["a", "note", "note is missing"]


DAYS = [datetime.datetime(2026, 1, 1) + datetime.timedelta(days=i) for i in range(50)]


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M"]
)
def test_dates_are_read_whatever_their_form(colk, tmp_path, form):
    path = tmp_path / "t.csv"
    lines = [f"{day.strftime(form)},{i}" for i, day in enumerate(DAYS)]
    path.write_text("\n".join(["when,y", *lines]) + "\n")
    code, out, _, model = fit(colk, path)
    assert code == 0
    order = " with the month first" if form.startswith("%m") else ""
    assert re.search(rf"when +dates +0 % +date{order}: ", out)
    found = package.load(model)
    assert found.dates == ("when",)
    seconds = [day.replace(tzinfo=datetime.UTC).timestamp() for day in DAYS]
    assert found.center[0] == pytest.approx(np.mean(years_of(np.array(seconds))))
    (tmp_path / "new.csv").write_text(f"when\n{DAYS[8].strftime(form)}\nnever\n")
    out = colk("predict", model, tmp_path / "new.csv", "--rejects", tmp_path / "r.csv")[1]
    assert float(out.splitlines()[1]) == pytest.approx(8.0, abs=2.0)
    assert "when is 'never', not a date or time" in (tmp_path / "r.csv").read_text()
    assert fit(colk, path, "--categorical", "when")[0] == 0


def test_parquet_and_json_say_what_a_column_holds(colk, tmp_path):
    path = tmp_path / "t.parquet"
    y = pa.array(np.arange(50.0))
    hours = [datetime.time(i % 24, 30) for i in range(50)]
    days = [day.date() for day in DAYS]
    # Years since 2000; a time of day is one of the first day of 1970.
    for values, years in ((DAYS, 26.07), (days, 26.07), (hours, -30.0)):
        pa.parquet.write_table(pa.table({"when": pa.array(values), "y": y}), path)
        code, out, _, model = fit(colk, path)
        assert code == 0
        assert re.search(r"when +dates +0 % +date: ", out)
        assert package.load(model).center[0] == pytest.approx(years, abs=0.01)
    for values in (pa.array([[1.0, 2.0]] * 50), pa.array([b"x"] * 50)):
        pa.parquet.write_table(pa.table({"when": values, "y": y}), path)
        code, _, error, _ = fit(colk, path, "--features", "when")
        assert code == 2
        assert "column when holds lists, objects or bytes" in error
    lines = tmp_path / "t.jsonl"
    lines.write_text("".join(json.dumps({"when": [1, 2], "y": i}) + "\n" for i in range(50)))
    options = ("--features", "when")
    assert "column when holds lists, objects or bytes" in fit(colk, lines, *options)[2]
    assert "no column to predict y from" in fit(colk, lines)[2]
    pa.parquet.write_table(pa.table({"a": np.arange(50.0), "y": pa.array(DAYS)}), path)
    assert "the target y has dates or times" in fit(colk, path)[2]


def test_other_formats_are_recognised(colk, tmp_path):
    text = b"a,y\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(500))
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": [1.0], "y": [1.0]}), buffer)
    for data, told in (
        (gzip.compress(text)[:-20], "its gzip data are damaged or cut off"),
        (gzip.compress(bz2.compress(text)), "it is compressed with bzip2"),
        (bz2.compress(text), "it is compressed with bzip2"),
        (lzma.compress(text), "it is compressed with xz"),
        (b"PK\x03\x04 and more", "a ZIP archive or an Excel file"),
        (buffer.getvalue(), "a Parquet file"),
    ):
        path = tmp_path / "t.csv"
        path.write_bytes(data)
        code, _, error, _ = fit(colk, path)
        assert (code, told in error) == (2, True), error


def test_out_names_the_option_that_it_has(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i}\n" for i in range(20)))
    model = fit(colk, path)[3]
    for name in ("x.xlsx", "x.libsvm"):
        code, _, error = colk("predict", model, path, "--out", tmp_path / name)
        assert code == 2
        assert "--to" in error
        assert "`format`" not in error
    assert colk("predict", model, path, "--out", tmp_path / "x.xlsx", "--to", "csv")[0] == 0


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_kernels_of_inner_products_take_text(kernel, tmp_path):
    """A linear model of one-hot categories is exact here."""
    rng = np.random.default_rng(0)
    size, city = rng.normal(size=300), rng.choice(["a", "b", "c"], 300)
    y = 2.0 * size + np.where(city == "a", 3.0, np.where(city == "b", -1.0, 0.5))
    table = pd.DataFrame({"size": size, "city": city, "y": y})
    table.to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "m.colk"
    line = ["fit", str(tmp_path / "rows.csv"), "--target=y", f"--kernel={kernel}"]
    assert main([*line, f"--model={model}"]) == 0
    found = package.load(model).predict({"size": size, "city": city})
    assert np.mean((found - y) ** 2) < 0.01 * y.var()


def test_the_terminal_gets_no_codes_of_column_names(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("a\x1b[31mred,y\n" + "".join(f"{k},{k}\n" for k in range(9)))
    assert main(["fit", str(path), "--target=y", f"--model={tmp_path / 'm.colk'}"]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "a\\x1b[31mred" in told.out
