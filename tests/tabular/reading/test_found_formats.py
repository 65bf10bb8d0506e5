"""Encoding, delimiter, decimal mark and words for missing values are found in the first rows."""

import gzip
import os
import threading

import numpy as np
import pytest

from colk.tabular.reading import Columns, Source
from colk.tabular.reading.encodings import Recoded

WANTED = Columns(("size",), ("city",), required=())
ROWS = [("1.5", "Köln"), ("2.5", "Zürich"), ("-3.25", "São Paulo"), ("4", "Bonn")] * 30


def text_of(delimiter=",", decimal=".", end="\n"):
    cells = [(size.replace(".", decimal), city) for size, city in [("size", "city"), *ROWS]]
    return end.join(delimiter.join(row) for row in cells) + end


def read(path, **options):
    with Source([str(path)], **options) as source:
        batches = list(source.rows(WANTED))
    assert [batch.rejects for batch in batches] == [[]] * len(batches)
    size, city = (np.concatenate([b.columns[name] for b in batches]) for name in WANTED.names)
    return source, size.tolist(), city.tolist()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_file_is_read_as_it_is(tmp_path, encoding, delimiter, decimal, end):
    path = tmp_path / "t.csv"
    path.write_bytes(text_of(delimiter, decimal, end).encode(encoding))
    source, size, city = read(path)
    assert size == [float(a) for a, _ in ROWS]
    assert city == [b for _, b in ROWS]
    shown = {"encoding": encoding.removesuffix("-sig"), "delimiter": delimiter, "decimal": decimal}
    assert source.found == shown | {"missing": "", "header": "1"}


def test_what_is_found_is_what_can_be_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text_of(";", ",").encode("cp1250", "replace"))
    _, size, city = read(path, delimiter=";", decimal=",", encoding="cp1250")
    assert size[0] == 1.5
    assert city[:2] == ["Köln", "Zürich"]
    with pytest.raises(ValueError, match="is not the name of an encoding"):
        Source([str(path)], encoding="rot13")
    with pytest.raises(ValueError, match="is not the name of an encoding"):
        Source([str(path)], encoding="klingon")


def test_compressed_files_have_encodings_too(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text_of(";").encode("latin-1")))
    assert read(path)[2][0] == "Köln"


def test_a_damaged_line_does_not_change_the_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("size,city\n1,Köln\n2,Zürich\n".encode() + b"3,\xff\n")
    with Source([str(path)]) as source:
        (batch,) = source.rows(WANTED)
    assert source.found["encoding"] == "utf-8"
    assert [reject.reason for reject in batch.rejects] == ["it is not UTF-8: set `encoding`"]


def test_reading_goes_on_at_any_batch_of_a_recoded_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(("size,city\n" + "1.5,Köln\n" * 300_000).encode("latin-1"))
    with Source([str(path)]) as source:
        batches = list(source.rows(WANTED))
    assert len(batches) > 2
    assert batches[-1].done == path.stat().st_size
    for batch in batches:
        rest = next(Source([str(path)]).rows(WANTED, batch.start))
        assert rest.start == batch.start
        assert np.array_equal(rest.lines, batch.lines)


def test_a_pipe_is_read_as_it_arrives(tmp_path):
    """The encoding of a pipe is found in what has arrived."""
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    first, rest = threading.Event(), threading.Event()

    def write():
        with open(path, "wb", buffering=0) as pipe:
            pipe.write("size;city\n1,5;Köln\n".encode("latin-1"))
            assert first.wait(20)
            pipe.write("2,5;Bonn\n".encode("latin-1"))
            rest.set()

    writer = threading.Thread(target=write)
    writer.start()
    with Source([str(path)]) as source:
        rows = source.rows(WANTED)
        batch = next(rows)
        assert batch.columns["city"].tolist() == ["Köln"]
        assert batch.columns["size"].tolist() == [1.5]
        first.set()
        assert rest.wait(20)
        assert next(rows).columns["size"].tolist() == [2.5]
    writer.join()


@pytest.mark.parametrize("word", ["NA", "n/a", "unknown", "Unknown", "-", "?", "None", "."])
def test_words_for_missing_numbers_and_dates(tmp_path, word):
    path = tmp_path / "t.csv"
    path.write_text(f"size,when,city\n1.5,2026-01-01,NA\n{word},{word},{word}\n2,2026-01-02,x\n")
    with Source([str(path)]) as source:
        (batch,) = source.rows(Columns(("size",), ("city",), dates=("when",), required=()))
    assert source.kinds == {"size": "number", "when": "text", "city": "text"}
    assert source.first_rows.dates == {"when"}
    assert source.first_rows.gaps("size") == pytest.approx(1 / 3)
    assert source.first_rows.gaps("city") == 0.0
    assert source.found["missing"] == word
    assert np.isnan(batch.columns["size"]).tolist() == [False, True, False]
    assert np.isnan(batch.columns["when"]).tolist() == [False, True, False]
    assert batch.columns["city"].tolist() == ["NA", word, "x"]  # values of their own


def test_most_cells_may_be_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,city\n" + "unknown,x\n" * 70 + "1.5,x\n" * 30)
    _, size, _ = read(path)
    assert np.isnan(size).sum() == 70


def test_given_words_are_missing_everywhere(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,city\n-999,none\n2,x\n?,y\n")
    with Source([str(path)], missing=["-999", "none"]) as source:
        (batch,) = source.rows(WANTED)
    assert np.isnan(batch.columns["size"]).tolist() == [True, False]
    assert batch.columns["city"].tolist() == [None, "x"]
    assert [reject.reason for reject in batch.rejects] == ["size is '?', not a number"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("size,city\n1,a;b\n2,c;d\n", (",", ".")),
        ('size;city\n1;"a,b,c"\n2;"c,d,e"\n', (";", ".")),
        ('"size, m²",city\n1,a\n2,b\n', (",", ".")),
        ('"size, m²";city\n1;a\n2;b\n', (";", ".")),
        ('size,city\n"1,234",a\n"5,678",b\n', (",", ".")),
        ('size,city\n"1,5",a\n"5,678",b\n', (",", ",")),
        ("size\n1\n2\n", (",", ".")),
        ("size;city\n1;a\n", (";", ".")),
    ],
)
def test_marks(tmp_path, text, marks):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with Source([str(path)]) as source:
        assert (source.found["delimiter"], source.found["decimal"]) == marks


def test_what_is_no_text_is_replaced():
    import io

    assert Recoded(io.BytesIO(b"a\x81b"), "cp1252").read(9).decode() == "a�b"


def test_the_work_per_column_does_not_grow_with_the_columns(tmp_path, monkeypatch):
    """A schema that asks for all columns once for each of them takes minutes for 3,000 columns."""
    import colk.tabular.reading.first_rows as first_rows
    from colk.cli import main

    n_calls = 0
    plain = first_rows._plain

    def counted(counts):
        nonlocal n_calls
        n_calls += 1
        return plain(counts)

    monkeypatch.setattr(first_rows, "_plain", counted)
    names, path = [f"c{k}" for k in range(200)], tmp_path / "wide.csv"
    rows = np.random.default_rng(0).normal(size=(30, 201)).round(2).astype(str)
    path.write_text("\n".join(",".join(row) for row in [[*names, "y"], *rows]) + "\n")
    flags = ["--target=y", f"--model={tmp_path / 'm.colk'}", "--kernel=gaussian"]
    assert main(["fit", str(path), *flags]) == 0
    assert n_calls < 40 * len(names)


def test_the_baselines_of_a_wide_table_do_not_name_its_columns():
    """The header of a file, which has the notes of a model, is limited to 1 MiB."""
    from colk.model.baselines import Baselines

    columns = {f"c{k}": np.arange(5.0) for k in range(600)}
    sums = Baselines(list(columns), [], is_classification=False)
    sums.add(columns, np.arange(5.0))
    assert len(str(sums.fitted().state)) < 300
