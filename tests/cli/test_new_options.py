"""Options of `colk fit` and `colk predict`: columns to leave out and to keep, terms, intervals."""

import csv
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import colk as package

NUMBERS = ("--target", "price", "--features", "size,age")


def read(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_columns_of_text_are_categories(colk, houses, tmp_path):
    options = ("--exclude", "kind", "--id", "age", "--model", tmp_path / "m.colk")
    code, out, _ = colk("fit", houses, "--target", "price", *options)
    assert code == 0
    assert out.splitlines()[:6] == [
        "column  kind            gaps  use",
        "size    numbers         0 %   number, standardised",
        "age     numbers         0 %   left out: --id",
        "city    text, 2 values  0 %   category",
        "price   numbers         0 %   target: numbers",
        "kind    text, 2 values  0 %   left out: --exclude",
    ]
    model = package.load(tmp_path / "m.colk")
    assert (model.features, model.categorical) == (("size", "city"), ("city",))


def test_a_column_of_names_is_no_category(colk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x,y\n" + "".join(f"row {i},{i % 17},{i % 17}\n" for i in range(200)))
    code, out, _ = colk("fit", path, "--target", "y", "--model", tmp_path / "m.colk")
    assert code == 0
    assert "left out: all values differ" in out
    assert package.load(tmp_path / "m.colk").features == ("x",)
    options = ("--categorical", "name", "--model", tmp_path / "n.colk")
    assert colk("fit", path, "--target", "y", *options)[0] == 0
    assert package.load(tmp_path / "n.colk").features == ("name", "x")


def test_terms_with_numbers_reach_the_model(colk, houses, tmp_path):
    options = ("--risk", "cvar(0.3, weight=0.5)", "--loss", "pinball(0.9)")
    kernel = ("--kernel", "matern(1.5, nu=2.5)", "--model", tmp_path / "m.colk")
    assert colk("fit", houses, *NUMBERS, *options, *kernel)[0] == 0
    model = package.load(tmp_path / "m.colk")
    assert repr(model.kernel) == "Matern(bandwidth=1.5, nu=2.5)"
    assert model.loss.quantile == 0.9
    assert (model.risk.tail_fraction, model.risk.weight) == (0.3, 0.5)


def test_forgetting_may_be_found(colk, houses, tmp_path):
    options = ("--solver", "newton", "--forgetting", "auto", "--model", tmp_path / "m.colk")
    assert colk("fit", houses, *NUMBERS, *options)[0] == 0
    assert package.load(tmp_path / "m.colk").settings.forgetting == "auto"


def test_a_seed_draws_other_rows(colk, houses, tmp_path):
    found = []
    for seed in (0, 0, 1):
        model = tmp_path / "m.colk"
        options = ("--seed", seed, "--intervals", 0.9, "--overwrite", "--model", model)
        assert colk("fit", houses, *NUMBERS, *options)[0] == 0
        found.append(package.load(model).residuals)
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0][:50], found[2][:50])


def noisy(path, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, n)
    y = np.sin(x) + rng.normal(0.0, 0.3, n)
    number = [f"r{i}" for i in range(n)]
    table = {"number": number, "x": x, "y": y}
    rows = ["number,x,y", *(f"{a},{b},{c}" for a, b, c in zip(number, x, y, strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return table


def test_intervals_cover(colk, tmp_path):
    """Coverage on new rows of the same distribution, at both levels."""
    train, test, model = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "m.colk"
    noisy(train, 3000, 0)
    table = noisy(test, 3000, 1)
    options = ("--id", "number", "--intervals", "0.9", "--model", model)
    code, told, _ = colk("fit", train, "--target", "y", *options)
    assert code == 0
    assert "10 % of the rows set the width of the intervals" in told
    loaded = package.load(model)
    assert loaded.rows + len(loaded.residuals) == 3000
    for level in (0.9, 0.5):
        out = tmp_path / "p.csv"
        assert colk("predict", model, test, "--intervals", level, "--out", out)[0] == 0
        rows = read(out)
        assert list(rows[0]) == ["number", "prediction", "lower", "upper"]
        assert [row["number"] for row in rows] == table["number"]
        low, high = (np.array([float(row[name]) for row in rows]) for name in ("lower", "upper"))
        covered = ((low <= table["y"]) & (table["y"] <= high)).mean()
        # 300 residuals: the coverage varies with a deviation of √(C(1 − C)/300) ≤ 0.03.
        assert covered == pytest.approx(level, abs=0.08)


def test_intervals_of_a_pipe_are_those_of_rows_before_they_are_learned(colk, tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    noisy(path, 1500, 0)
    monkeypatch.setattr("colk.tabular.reading.Source.waits", True)
    options = ("--intervals", "0.9", "--exclude", "number", "--model", tmp_path / "m.colk")
    assert colk("fit", path, "--target", "y", *options)[0] == 0
    model = package.load(tmp_path / "m.colk")
    assert model.rows == 1500
    assert len(model.residuals) == 1000
    assert model.residuals.std() == pytest.approx(0.3, rel=0.15)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_ids_stay_with_rows_that_cannot_be_used(colk, houses, tmp_path, kind):
    model = tmp_path / "m.colk"
    assert colk("fit", houses, *NUMBERS, "--id", "city", "--model", model)[0] == 0
    rows = [{"city": f"c{i}", "size": 100.0 + i, "age": 3, "note": i} for i in range(4)]
    rows[2]["size"] = None
    path, out = tmp_path / f"t.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        text = ["" if row["size"] is None else str(row["size"]) for row in rows]
        lines = [
            f"{row['city']},{cell},3,{row['note']}" for row, cell in zip(rows, text, strict=True)
        ]
        path.write_text("\n".join(["city,size,age,note", *lines]) + "\n")
    code, _, error = colk("predict", model, path, "--keep", "note,size", "--out", out)
    assert code == 0, error
    if kind == "parquet":
        found = pyarrow.parquet.read_table(out).to_pylist()
    elif kind == "jsonl":
        found = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        found = read(out)
    assert list(found[0]) == ["city", "note", "size", "prediction"]
    assert [row["city"] for row in found] == ["c0", "c1", "c2", "c3"]
    assert [row["note"] for row in found] == ["0", "1", "2", "3"]
    assert [float(row["size"]) if row["size"] else None for row in found] == [100, 101, None, 103]


@pytest.mark.parametrize("codec", ["gz", "zst"])
def test_compressed_tables(colk, houses, tmp_path, codec):
    """An interrupted run continues in the middle of the file and ends with the same model."""
    data = houses.read_bytes()
    path = tmp_path / f"houses.csv.{codec}"
    if codec == "gz":
        half = len(data) // 2
        path.write_bytes(gzip.compress(data[:half]) + gzip.compress(data[half:]))
    else:
        path.write_bytes(pa.Codec("zstd").compress(data, asbytes=True))
    for table, model in ((houses, "a"), (path, "b")):
        assert colk("fit", table, *NUMBERS, "--model", tmp_path / f"{model}.colk")[0] == 0
    one, other = package.load(tmp_path / "a.colk"), package.load(tmp_path / "b.colk")
    assert np.array_equal(one.function.weights, other.function.weights)


def test_decimal_commas(colk, tmp_path):
    """Both ways of parsing a block: as a whole, and record by record after a bad row."""
    x = np.random.default_rng(0).normal(size=200).round(3)
    found = []
    for bad in ("", "wide;1\n"):
        path = tmp_path / "t.csv"
        lines = "".join(f"{a};{2 * a}\n" for a in x).replace(".", ",")
        path.write_text("x;y\n" + lines + bad)
        options = ("--delimiter", ";", "--decimal", ",", "--overwrite")
        code, out, _ = colk("fit", path, "--target", "y", *options, "--model", tmp_path / "m")
        assert code == 0
        assert f"200 learned, {int(bool(bad))} rejected" in out
        found.append(package.load(tmp_path / "m").predict({"x": [0.5]})[0])
    assert found[0] == found[1] == pytest.approx(1.0, abs=0.05)


def test_a_name_of_the_output_is_taken(colk, houses, tmp_path):
    model, path = tmp_path / "m.colk", tmp_path / "t.csv"
    assert colk("fit", houses, *NUMBERS, "--model", model)[0] == 0
    path.write_text("size,age,prediction\n1,2,3\n")
    code, _, error = colk("predict", model, path, "--keep", "prediction")
    assert code == 2
    assert "its own column prediction" in error
