"""`colk fit` tells what it cannot use: dates, lists, rare columns, categories, other formats."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import colk as package
from colk.tabular import TableModel


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
    code, out, error, model = fit(colk, path)
    assert code == 0
    assert re.search(r"note +numbers +100 % +left out: only 1 of the first 312 rows have it", out)
    assert package.load(model).features == ("a",)
    assert package.load(model).rows == 312
    code, out, error, model = fit(colk, path, "--features", "a,note")
    assert "1 learned, 311 rejected" in out
    assert "more rows were rejected than learned" in error


def test_a_column_that_is_mostly_empty_is_not_required(colk, tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{row['a']},{'7' if i % 5 == 0 else ''},{row['y']}" for i, row in enumerate(rows())]
    path.write_text("\n".join(["a,note,y", *lines]) + "\n")
    _, out, _, _ = fit(colk, path)
    assert "312 learned, 0 rejected" in out
    assert re.search(r"note +numbers +80 % +left out: only 63 of the first 312 rows have it", out)
    values = [7.0 if i % 5 == 0 else None for i in range(312)]
    columns = {"a": [row["a"] for row in rows()], "note": values, "y": [row["y"] for row in rows()]}
    pa.parquet.write_table(pa.table(columns), path.with_suffix(".parquet"))
    _, out, _error, _ = fit(colk, path.with_suffix(".parquet"))
    assert "312 learned, 0 rejected" in out
    assert re.search(r"note +numbers +80 % +left out: only 63 of the first 312 rows have it", out)


DAYS = [datetime.datetime(2026, 1, 1) + datetime.timedelta(days=i) for i in range(50)]


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M", "%H:%M"]
)
def test_dates_are_not_advised_to_become_categories(colk, tmp_path, form):
    path = tmp_path / "t.csv"
    lines = [f"{day.strftime(form)},{i}" for i, day in enumerate(DAYS)]
    path.write_text("\n".join(["when,y", *lines]) + "\n")
    code, _, error, _ = fit(colk, path)
    assert code == 2
    assert "column when holds dates or times: convert them to numbers" in error
    assert "--categorical" not in error
    assert fit(colk, path, "--categorical", "when")[0] == 0


def test_parquet_and_json_say_what_a_column_holds(colk, tmp_path):
    path = tmp_path / "t.parquet"
    y = pa.array(np.arange(50.0))
    for values, told in (
        (pa.array(DAYS), "column when holds dates or times"),
        (pa.array([day.date() for day in DAYS]), "column when holds dates or times"),
        (pa.array([[1.0, 2.0]] * 50), "column when holds lists, objects or bytes"),
        (pa.array([b"x"] * 50), "column when holds lists, objects or bytes"),
    ):
        pa.parquet.write_table(pa.table({"when": values, "y": y}), path)
        code, _, error, _ = fit(colk, path, "--features", "when")
        assert code == 2
        assert told in error
        assert "--categorical" not in error
    lines = tmp_path / "t.jsonl"
    lines.write_text("".join(json.dumps({"when": [1, 2], "y": i}) + "\n" for i in range(50)))
    assert "column when holds lists, objects or bytes" in fit(colk, lines, "--features", "when")[2]
    assert "no column to predict y from" in fit(colk, lines)[2]
    pa.parquet.write_table(pa.table({"a": np.arange(50.0), "y": pa.array(DAYS)}), path)
    assert "the target y holds dates or times" in fit(colk, path)[2]


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
        (text.decode().encode("utf-16"), "text in UTF-16"),
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


def many_cities(n_cities):
    city = [f"c{i % n_cities}" for i in range(400)]
    return {"city": np.array(city, dtype=object)}, np.arange(400.0)


def test_categories_without_an_indicator_are_counted(colk, tmp_path):
    columns, y = many_cities(80)
    path, page = tmp_path / "t.csv", tmp_path / "page.html"
    lines = [f"{city},{target}" for city, target in zip(columns["city"], y, strict=True)]
    path.write_text("\n".join(["city,y", *lines]) + "\n")
    code, out, error, model = fit(colk, path, "--categorical", "city", "--report", page)
    assert code == 0
    told = "80 rows have a value of city after its first 64"  # 16 of 80 cities, 5 rows each
    assert told in error
    assert told in out
    assert told in page.read_text()
    assert "RuntimeWarning" not in error
    assert package.load(model).notes["record"]["without_indicator"] == {"city": 80}
    path.write_text("\n".join(["city,y", *lines[:64]]) + "\n")
    assert fit(colk, path, "--categorical", "city")[2] == ""


def test_a_table_model_warns_once_of_many_categories():
    model = TableModel("y", ["city"], categorical=["city"])
    columns, y = many_cities(80)
    with pytest.warns(RuntimeWarning, match="'city' has more than 64 values: later ones, such as"):
        model.learn(columns, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn(columns, y)
        TableModel("y", ["city"], categorical=["city"]).learn(*many_cities(64))
