"""Rows of numbers from columns of numbers, categories and dates, with gaps."""

import numpy as np
import pytest

from colk._encoding.columns import as_numbers, as_seconds, as_texts, kind_of_objects
from colk._encoding.gaps import GapFiller
from colk._stored import pack, restore
from colk.errors import FileFormatError
from colk.tabular import Column, TableEncoder

DAY = 86400.0
COLUMNS = [Column("when", "date"), Column("city", "category"), Column("size", "number")]


def table(n=800, seed=0):
    rng = np.random.default_rng(seed)
    cities = rng.choice(["Bonn", "Rome", "Oslo"], n).astype(object)
    cities[::7] = None
    sizes = np.where(rng.random(n) < 0.1, np.nan, rng.normal(5.0, 2.0, n))
    return {"when": np.arange(n) * DAY, "city": cities, "size": sizes}


def test_a_row_has_numbers_circles_codes_and_marks():
    known = table()
    encoder = TableEncoder.of(COLUMNS, known)
    X = encoder.encode(known)
    assert encoder.names == [
        "when", "size", "sine of week of when", "cosine of week of when", "sine of year of when",
        "cosine of year of when", "city", "size is missing",
    ]  # fmt: skip
    assert X.shape == (800, encoder.width)
    assert (encoder.n_measured, encoder.categorical) == (2, (6,))
    gaps = np.isnan(known["size"])
    np.testing.assert_array_equal(X[~gaps, 1], known["size"][~gaps])
    assert np.abs(X[gaps, 1] - 5.0).max() < 1.0  # nothing predicts the size
    np.testing.assert_array_equal(X[:, 7], gaps)
    for code, value in enumerate([None, *dict.fromkeys(v for v in known["city"] if v)]):
        np.testing.assert_array_equal(X[:, 6] == code, [v == value for v in known["city"]])
    np.testing.assert_allclose(X[:-7, 2:4], X[7:, 2:4], atol=1e-9)  # a week later
    np.testing.assert_allclose((X[:, 4:6] ** 2).sum(axis=1), 2.0)


def test_values_that_were_not_admitted_are_another_one():
    encoder = TableEncoder.of(COLUMNS, table())
    new = {"when": [0.0, 1.0, 2.0], "city": ["Lima", "Kyiv", None], "size": [1.0, 2.0, 3.0]}
    codes = encoder.encode(new)[:, 6]
    assert codes.tolist() == [-1.0, -1.0, 0.0]
    assert encoder.unknown(new) == {"city": 2}
    before = encoder.encode(table())
    encoder.admit(new)
    assert encoder.unknown(new) == {}
    np.testing.assert_array_equal(encoder.encode(table()), before)
    assert len(set(encoder.encode(new)[:, 6])) == 3


def test_the_first_gap_of_a_column_adds_a_mark_at_the_end():
    full = {"when": np.arange(9.0), "city": ["Bonn"] * 9, "size": np.arange(9.0)}
    encoder = TableEncoder.of(COLUMNS, full)
    before = encoder.encode(full)
    gap = {"when": [np.nan], "city": ["Bonn"], "size": [2.0]}
    encoder.admit(gap, grows=False)
    median = before[4, 0]
    assert encoder.encode(gap).tolist() == [[median, 2.0, 1.0]]
    encoder.admit(gap)
    assert encoder.encode(gap).tolist() == [[median, 2.0, 1.0, 1.0]]
    np.testing.assert_array_equal(encoder.encode(full), np.column_stack([before, np.zeros(9)]))


def test_there_is_no_limit_to_the_values_of_a_category():
    names = np.array([f"v{i}" for i in range(5000)], dtype=object)
    encoder = TableEncoder.of([Column("id", "category")], {"id": names})
    assert encoder.encode({"id": names})[:, 0].tolist() == list(range(1, 5001))


@pytest.mark.parametrize(
    ("seconds", "cycles"),
    [
        (np.arange(20.0), 0),
        (np.arange(100) * 3600.0, 1),
        (np.arange(30) * DAY, 1),
        (np.arange(800) * DAY, 2),
        (np.arange(0.0, 800 * DAY, 5000.0), 3),
        (np.full(5, np.nan), 0),
    ],
)
def test_cycles_that_the_dates_span_are_used(seconds, cycles):
    encoder = TableEncoder.of([Column("t", "date")], {"t": seconds})
    assert encoder.width == 1 + 2 * cycles + int(np.isnan(seconds).any())
    assert np.isfinite(encoder.encode({"t": seconds})).all()


def test_a_gap_is_filled_with_what_the_other_cells_make_likely():
    rng = np.random.default_rng(0)
    a, kind = rng.normal(size=500), rng.choice(["low", "high"], 500).astype(object)
    full = {"a": a, "b": 3.0 * a + 2.0 * (kind == "high"), "kind": kind}
    with_gaps = {name: values.copy() for name, values in full.items()}
    hidden = rng.random(500) < 0.3
    with_gaps["b"][hidden] = np.nan
    with_gaps["kind"][rng.random(500) < 0.1] = None
    columns = [Column("a", "number"), Column("b", "number"), Column("kind", "category")]
    encoder = TableEncoder.of(columns, with_gaps)
    rows = encoder.encode(with_gaps)
    known = hidden & np.array([value is not None for value in with_gaps["kind"]])
    np.testing.assert_allclose(rows[known, 1], full["b"][known], atol=0.15)
    for batch in (slice(3, 4), slice(100, 417)):  # each row by itself
        part = encoder.encode({name: values[batch] for name, values in with_gaps.items()})
        np.testing.assert_array_equal(part, rows[batch])


def test_moments_of_rows_with_gaps_are_those_of_full_rows():
    rng = np.random.default_rng(1)
    full = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 3)) + [1.0, 2.0, 3.0]
    filler = GapFiller.of(np.where(rng.random(full.shape) < 0.3, np.nan, full))
    found = filler.correlations * np.outer(filler.unit, filler.unit)
    np.testing.assert_allclose(found, np.cov(full.T), atol=0.25)
    np.testing.assert_allclose(filler.center, full.mean(axis=0), atol=0.15)


def test_dates_are_texts_or_datetimes_or_seconds():
    texts = ["1970-01-01", "1969-12-31T12:00:00", None]
    expected = np.array([0.0, -43200.0, np.nan])
    np.testing.assert_array_equal(as_seconds(texts, "t"), expected)
    np.testing.assert_array_equal(as_seconds(expected, "t"), expected)
    np.testing.assert_array_equal(
        as_seconds(np.array(["1970-01-01", "1969-12-31T12:00", "NaT"], "datetime64[ns]"), "t"),
        expected,
    )
    with pytest.raises(ValueError, match="t must be a column of dates"):
        as_seconds(["yesterday"], "t")


def test_cells_of_objects():
    assert as_texts([1.5, "x", np.nan, True], "c").tolist() == ["1.5", "x", None, "True"]
    np.testing.assert_array_equal(as_numbers([1, None, True], "c"), [1.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="c must be a column of numbers"):
        as_numbers(np.array([1.0, "x"], dtype=object), "c")
    with pytest.raises(ValueError, match="beyond"):
        as_numbers([1.0, np.inf], "c")
    assert kind_of_objects([None, np.float64(1.0), True]) == "number"


def test_changed_tables_are_refused():
    encoder = TableEncoder.of(COLUMNS, table())
    with pytest.raises(ValueError, match="column 'city' is missing"):
        encoder.encode({"when": [0.0], "size": [1.0]})
    with pytest.raises(ValueError, match="size must be a column of numbers"):
        encoder.encode({"when": [0.0], "size": ["large"], "city": ["Bonn"]})
    with pytest.raises(ValueError, match="columns differ in length"):
        encoder.encode({"when": [0.0], "size": [1.0, 2.0], "city": ["Bonn"]})
    with pytest.raises(ValueError, match="different names"):
        TableEncoder([Column("a", "number"), Column("a", "date")])
    with pytest.raises(ValueError, match="must be one of"):
        TableEncoder([Column("a", "text")])


def test_an_encoder_in_a_file_is_the_same():
    encoder = TableEncoder.of(COLUMNS, table())
    again = restore(TableEncoder, pack(encoder), None)
    new = {**table(50, seed=1), "city": ["Lima"] * 50}
    np.testing.assert_array_equal(again.encode(new), encoder.encode(new))
    assert (again.names, again.description()) == (encoder.names, encoder.description())


@pytest.mark.parametrize(
    "change",
    [
        {"kinds": ["date", "category", "text"]},
        {"names": ["when", "when", "size"]},
        {"typical": [1.0]},
        {"cycles": [["hour"]]},
        {"values": [["Bonn", "Bonn"]]},
        {"gaps": ["city"]},
        {"gaps": ["size", "size"]},
        {"predictors": [0]},
        {"predictors": [2, 2]},
        {"filler": None, "predictors": [11]},
    ],
)
def test_a_damaged_encoder_is_refused(change):
    with pytest.raises(FileFormatError):
        restore(TableEncoder, {**pack(TableEncoder.of(COLUMNS, table())), **change}, None)
