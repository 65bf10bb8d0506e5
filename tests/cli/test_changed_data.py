"""`--resume` after the data changed: rows that were read must be unchanged, and more may follow."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest

import colk as package

N = 700


def lines_of(kind):
    """The rows of a table, as lines, with a header if the format has one."""
    rows = [(round(0.01 * i, 4), (7 * i) % 11, (3 * i) % 5 + 0.01 * i) for i in range(N)]
    if kind == "csv":
        return ["a,b,y", *(",".join(map(str, row)) for row in rows)]
    if kind == "jsonl":
        return [json.dumps(dict(zip("aby", row, strict=True))) for row in rows]
    return [f"{y} 1:{a} 2:{b}" for a, b, y in rows]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")


def options(data, model):
    target = "label" if data[0].suffix == ".libsvm" else "y"
    return ("fit", *data, "--target", target, "--kernel", "gaussian", "--max-atoms", "20",
            "--model", model, "--resume")  # fmt: skip


def swapped(lines):
    cells = [line.split(",") for line in lines]
    return [",".join([b, a, y]) for a, b, y in cells]


CHANGES = {
    "removed": lambda lines: lines[:100] + lines[110:],
    "truncated": lambda lines: lines[:400],
    "reversed": lambda lines: lines[:1] + lines[:0:-1],
    "a byte inserted": lambda lines: [*lines[:300], lines[300] + "1", *lines[301:]],
    "a byte changed": lambda lines: [*lines[:-1], lines[-1][:-2] + "77"],
    "grown and changed": lambda lines: [*lines[:50], *lines[60:], *lines[60:]],
}


@pytest.mark.parametrize("change", [*CHANGES, "columns swapped"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "libsvm"])
def test_a_change_is_refused(colk, tmp_path, kind, change):
    if change == "columns swapped" and kind != "csv":
        pytest.skip("only the columns of CSV have places")
    data, model = tmp_path / f"d.{kind}", tmp_path / "m.colk"
    lines = lines_of(kind)
    write(data, lines)
    assert colk(*options([data], model))[0] == 0
    before = model.read_bytes()
    write(data, swapped(lines) if change == "columns swapped" else CHANGES[change](lines))
    code, _, error = colk(*options([data], model))
    assert code == 2
    assert "d." in error
    assert "--force" in error
    assert model.read_bytes() == before
    assert colk(*options([data], model), "--force")[0] == 0


def test_other_names_of_the_same_columns_are_refused(colk, tmp_path):
    data, model = tmp_path / "d.csv", tmp_path / "m.colk"
    write(data, lines_of("csv")[1:])
    assert colk(*options([data], model), "--columns", "a,b,y")[0] == 0
    code, _, error = colk(*options([data], model), "--columns", "b,a,y")
    assert code == 2
    assert "has the columns b, a, y, but the model has read a, b, y" in error


@pytest.mark.parametrize("kind", ["csv", "jsonl", "libsvm"])
def test_a_file_that_grew_is_resumed(colk, tmp_path, kind):
    data, model = tmp_path / f"d.{kind}", tmp_path / "m.colk"
    lines = lines_of(kind)
    write(data, lines[:500])
    assert colk(*options([data], model))[0] == 0
    write(data, lines)
    assert colk(*options([data], model))[0] == 0
    assert package.load(model).rows == N


def test_a_change_in_the_second_of_three_files_is_refused(colk, tmp_path):
    lines = lines_of("csv")
    data, model = [tmp_path / f"{name}.csv" for name in "abc"], tmp_path / "m.colk"
    for number, path in enumerate(data):
        write(path, [lines[0], *lines[1 + 200 * number : 201 + 200 * number]])
    assert colk(*options(data, model))[0] == 0
    write(data[1], [lines[0], *lines[202:402]])
    code, _, error = colk(*options(data, model))
    assert code == 2
    assert "b.csv has changed in the first" in error


def parquet(path, n_groups, add=0.0):
    schema = pa.schema([(name, pa.float64()) for name in "aby"])
    with pa.parquet.ParquetWriter(path, schema) as file:
        for group in range(n_groups):
            values = [0.01 * (200 * group + i) for i in range(200)]
            columns = {"a": values, "b": [v % 0.7 for v in values], "y": [v + add for v in values]}
            file.write_table(pa.table(columns, schema=schema))


def test_parquet(colk, tmp_path):
    data, model = tmp_path / "d.parquet", tmp_path / "m.colk"
    parquet(data, 2)
    assert colk(*options([data], model))[0] == 0
    parquet(data, 3)
    assert colk(*options([data], model))[0] == 0
    assert package.load(model).rows == 600
    parquet(data, 3, add=1.0)
    code, _, error = colk(*options([data], model))
    assert code == 2
    assert "has changed" in error


def test_a_large_file_is_sampled(tmp_path):
    """A byte that is inserted anywhere moves the later blocks, so the digest changes."""
    from colk.tabular.reading import Prefix

    path = tmp_path / "large.csv"
    data = bytes(range(251)) * 40_000
    path.write_bytes(data)
    prefix = Prefix.of_file(str(path))
    assert prefix.is_in(str(path))
    path.write_bytes(data + b"more")
    assert prefix.is_in(str(path))
    for place in (0, 123_456, len(data) // 2, len(data) - 10):
        path.write_bytes(data[:place] + b"x" + data[place:])
        assert not prefix.is_in(str(path)), place
