"""All formats hold the same table; the rows do not depend on where reading began."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from colk.tabular.reading import Columns, Position, Reject, Source
from colk.tabular.reading import blocks as blocks_module
from colk.tabular.reading.blocks import TextBlock, blocks
from colk.tabular.reading.delimited import Delimited
from colk.tabular.reading.objects import Objects

WANTED = Columns(("a", "b"), ("city",))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return {
        "a": rng.normal(size=5000),
        "b": rng.integers(-9, 9, size=5000).astype(float),
        "city": rng.choice(["Bonn", "Rome", 'the "old", town'], 5000).astype(object),
    }


def write(path, table, kind):
    rows = list(zip(*(column.tolist() for column in table.values()), strict=True))
    if kind == "csv":
        cells = [[str(a), str(b), '"' + c.replace('"', '""') + '"'] for a, b, c in rows]
        path.write_text("\n".join(",".join(row) for row in [list(table), *cells]) + "\n")
    elif kind == "jsonl":
        path.write_text(
            "".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in rows)
        )
    else:
        pa.parquet.write_table(pa.table(table), path, row_group_size=1700)
    return str(path)


def read(source, wanted=WANTED, start=Position()):  # noqa: B008
    batches = list(source.rows(wanted, start))
    return {
        name: np.concatenate([batch.columns[name] for batch in batches]) for name in wanted.names
    }, batches


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_was_written_is_read(table, tmp_path, kind):
    path = write(tmp_path / f"t.{kind}", table, kind)
    with Source([path]) as source:
        assert source.kinds == {"a": "number", "b": "number", "city": "text"}
        found, batches = read(source)
        again, _ = read(Source([path, path]))
    assert all(np.array_equal(found[name], table[name]) for name in table)
    assert batches[-1].done == source.size
    assert all(np.array_equal(again[name], np.tile(table[name], 2)) for name in table)
    lines = np.concatenate([batch.lines for batch in batches])
    assert np.array_equal(lines, np.arange(5000) + (2 if kind == "csv" else 1))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_reading_goes_on_at_any_batch(table, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(blocks_module, "BLOCK", 4096)
    path = write(tmp_path / f"t.{kind}", table, kind)
    _, batches = read(Source([path, path]))
    assert len(batches) > 4
    for number in (0, 1, len(batches) // 2, len(batches) - 1):
        with Source([path, path]) as source:
            _, rest = read(source, start=batches[number].start)
        assert [batch.start for batch in rest] == [batch.start for batch in batches[number:]]
        for one, other in zip(rest, batches[number:], strict=True):
            assert all(np.array_equal(one.columns[n], other.columns[n]) for n in WANTED.names)
            assert np.array_equal(one.lines, other.lines)
            assert one.done == other.done


def test_libsvm(tmp_path):
    path = tmp_path / "t.libsvm"
    path.write_text("1 1:0.5 3:2 # note\n-1 qid:4 2:1e3\n\n2 4:1\n1 1:x\n")
    with Source([str(path)], n_features=3) as source:
        assert list(source.kinds) == ["label", "1", "2", "3"]
        found, (batch,) = read(source, Columns(("label", "1", "2", "3")))
    assert np.column_stack(list(found.values())).tolist() == [[1, 0.5, 0, 2], [-1, 0, 1000, 0]]
    assert [reject.line for reject in batch.rejects] == [4, 5]
    assert "n_features" in batch.rejects[0].reason


def test_rows_that_cannot_be_used(tmp_path):
    path = tmp_path / "t.csv"
    lines = ["a,b,city", "1,2,x", "", '3,4,"two', 'lines"', "5,6", "x,1,y", "1,NA,y", "1,1e200,y"]
    path.write_text("\n".join([*lines, "1,2,", '7,"8', "+1,2,z", "1_0,2,z"]) + "\n")
    with Source([str(path)]) as source:
        _, batches = read(source)
    columns = {
        name: np.concatenate([b.columns[name] for b in batches]).tolist() for name in ("a", "city")
    }
    assert columns == {"a": [1.0, 3.0, 1.0], "city": ["x", "two\nlines", "z"]}
    assert np.concatenate([b.lines for b in batches]).tolist() == [2, 4, 12]
    assert [reject for batch in batches for reject in batch.rejects] == [
        Reject(6, "it has 2 cells, expected 3"),
        Reject(7, "a is 'x', not a number"),
        Reject(8, "b is missing"),
        Reject(9, "b is 1e+200, beyond ±1e+140"),
        Reject(10, "city is missing"),
        Reject(11, "a quote is never closed"),
        Reject(13, "a is '1_0', not a number"),
    ]


@pytest.mark.parametrize("start", [b"\n\r\n", b"\xef\xbb\xbf"])
def test_what_stands_before_the_names(tmp_path, start):
    (tmp_path / "t.csv").write_bytes(start + '"a",b\r\n1,ü\r\n3,'.encode() + b"\xff\r\n")
    line = 2 + start.count(b"\n")
    with Source([str(tmp_path / "t.csv")]) as source:
        (batch,) = source.rows(Columns(("a",), ("b",)))
    assert batch.columns["a"].tolist() == [1.0]
    assert batch.lines.tolist() == [line]
    assert batch.rejects == [Reject(line + 1, "it is not UTF-8: set `encoding`")]


CELLS = st.one_of(
    st.floats(allow_nan=False, width=64).map(repr),
    st.sampled_from(["", "NA", "+1", " 2", "3 ", "1e5", ".5", "5.", "0x10", "1_0", "inf", "-nan"]),
    st.text(alphabet='0123456789.e+-"\r x', max_size=6),
)


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
@example([("0.0", '0"'), ("0.0", '"')])
@example([('0"', '"')])
def test_whole_blocks_and_single_records_agree_in_csv(rows):
    text = "".join(f"{a},{b}\n" for a, b in rows)
    block = TextBlock(text.encode(), 0, 1, len(text))
    parser = Delimited(names=["a", "b"])
    parser._names = ["a", "b"]
    for wanted in (Columns(("a", "b")), Columns(("a",), ("b",))):
        whole = parser._parse_whole(block, wanted)
        if whole is None:
            continue
        columns, lines, rejects = parser._parse_records(block, wanted)
        assert rejects == []
        assert np.array_equal(whole[1], lines)
        for name in ("a", "b"):
            assert all(_same(u, v) for u, v in zip(whole[0][name], columns[name], strict=True))


VALUES = st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3))


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6))
def test_whole_blocks_and_single_lines_agree_in_json(rows):
    text = "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in rows)
    block, wanted, parser = (
        TextBlock(text.encode(), 0, 1, len(text)),
        Columns(("a",), ("b",)),
        Objects(),
    )
    whole = parser._parse_whole(block, wanted)
    if whole is not None:
        columns, lines, rejects = parser._parse_lines(block, wanted)
        assert rejects == []
        assert np.array_equal(whole[1], lines)
        for name in ("a", "b"):
            assert all(_same(u, v) for u, v in zip(whole[0][name], columns[name], strict=True))


def _same(u, v):
    return u == v or (u != u and v != v)


class Dribble(io.RawIOBase):
    """Bytes that arrive a few at a time."""

    def __init__(self, data, sizes):
        self.data, self.sizes = data, list(sizes)

    def read(self, size=-1):
        take = min(size, self.sizes.pop() if self.sizes else 7)
        out, self.data = self.data[:take], self.data[take:]
        return out


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(1, 20)))
def test_blocks_are_the_stream(data, sizes):
    """No row is lost or invented for any input; line numbers count ends of lines."""
    found = list(blocks(Dribble(data, sizes), quoted=b'"' in data[:5]))
    joined = b"".join(block.data for block in found)
    assert joined in (data, data + b"\n")
    for block in found:
        assert block.offset + block.size <= len(data)
        assert block.line == 1 + data.count(b"\n", 0, block.offset)


def test_a_line_without_end_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "_LONGEST", 3000)
    monkeypatch.setattr(blocks_module, "BLOCK", 1000)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n" + "9" * 50_000 + "\n3,4\n" + '"' + "5,6\n" * 2000)
    with Source([str(path)]) as source:
        batches = list(source.rows(Columns(("a", "b"))))
    assert (
        np.concatenate([batch.columns["a"] for batch in batches]).tolist()
        == [1.0, 3.0] + [5.0] * 1999
    )
    rejects = [reject for batch in batches for reject in batch.rejects]
    assert [reject.line for reject in rejects] == [3, 5]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "it is empty"),
        ("t.csv", "1,2\n3,4\n", "numbers, not names"),
        ("t.csv", "\n\r\n", "blank"),
        ("t.csv", '"a,b\n1,2\n', "quote is never closed"),
        ("t.jsonl", "1\n", "not JSON objects"),
        ("t.parquet", "PAR1", "not a Parquet file"),
        ("t.libsvm", "1\n", "no features"),
        ("t.xyz", "1\n", "set `format`"),
    ],
)
def test_what_is_no_table(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        Source([str(tmp_path / name)])


@pytest.mark.parametrize("first", ["null", "null {}", "[]", " null", "1", '""', "{} null", ""])
def test_a_line_that_is_no_object_is_rejected(tmp_path, first):
    """Pyarrow would crash on a first line of null."""
    path = tmp_path / "t.jsonl"
    path.write_text(first + '\n{"a": 1, "b": null}\n')
    with Source([str(path)]) as source:
        (rows,) = source.rows(Columns(("a",)))
    assert rows.columns["a"].tolist() == [1.0]
    assert rows.lines.tolist() == [2]
    assert [reject.line for reject in rows.rejects] == ([1] if first else [])
