"""The sample of a fit: the same for any parts, bounded, and with rows of rare labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colk._encoding.columns import Column
from colk._engine.counter_arrays import uniforms
from colk._engine.counter_rng import uniform
from colk.model import sample
from colk.model.parts import Part
from colk.model.rows import LocalRows
from colk.model.sample import RowSample

N = 3000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=N)
LABELS = np.where(np.arange(N) % 1000 == 7, "rare", np.where(Y > 0.0, "a", "b"))


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", 400)
    monkeypatch.setattr(sample, "CHOOSING", 200)


def drawn(y, weight, *cuts):
    def read():
        for some in np.split(np.arange(N), sorted(cuts)):
            yield X[some], y[some], weight[some]

    return LocalRows(read).scan(RowSample(3, y.dtype.kind == "U"))


def same(one, other):
    pairs = zip(
        (one.source, one.y, one.weight, one.numbers, one.chosen),
        (other.source, other.y, other.weight, other.numbers, other.chosen),
        strict=True,
    )
    return all(np.array_equal(a, b) for a, b in pairs)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40))
def test_arrays_of_numbers_are_those_of_the_counters(seed, first):
    expected = [uniform(seed, first + k) for k in range(3)]
    assert uniforms(seed, first, 3).tolist() == expected


@pytest.mark.parametrize("y", [Y, LABELS], ids=["numbers", "labels"])
@pytest.mark.parametrize("cuts", [(1500,), (1, 2, 2999), tuple(range(40, N, 40))], ids=len)
def test_parts_do_not_change_it(y, cuts):
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 2.0)
    whole, parts = drawn(y, weight), drawn(y, weight, *cuts)
    assert same(whole.drawn(), parts.drawn())
    assert (whole.n_rows, whole.weight, whole.n_of) == (2000, 4000.0, parts.n_of)
    assert whole.drawn().numbers.tolist() == sorted(whole.drawn().numbers.tolist())


def test_rows_of_weight_0_are_as_if_they_were_not_there():
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    kept = weight > 0.0
    rows = LocalRows(lambda: [(X[kept], Y[kept], weight[kept])]).scan(RowSample(3, False))
    assert same(drawn(Y, weight).drawn(), rows.drawn())


def test_rare_labels_have_some_rows():
    found = drawn(LABELS, np.ones(N)).drawn()
    for places in (np.arange(len(found.y)), found.chosen):
        labels, counts = np.unique(found.y[places], return_counts=True)
        assert labels.tolist() == ["a", "b", "rare"]
        assert counts[2] == 3  # all that there are
    assert 400 <= len(found.y) <= 405


def test_partitions_merge_to_the_same_sample():
    weight = np.ones(N)
    parts, first = RowSample(3, True), 0
    for some in np.split(np.arange(N), [700, 2900]):
        own = RowSample(3, True)
        own.add(Part(X[some], LABELS[some], weight[some], first))
        parts, first = parts.merged(own), first + len(some)
    whole = drawn(LABELS, weight)
    assert same(whole.drawn(), parts.drawn())
    assert whole.n_of == parts.n_of


def test_a_column_of_objects_takes_the_kind_of_all_its_values():
    numbers = ([Column("x", "number")], {"x": np.array([1.0, None], dtype=object)})
    texts = ([Column("x", "category")], {"x": np.array(["u", "v"], dtype=object)})
    rows = LocalRows(lambda: [(each, Y[:2], np.ones(2)) for each in (numbers, texts)])
    columns, table = rows.scan(RowSample(0, False)).drawn().source
    assert columns == [Column("x", "category")]
    assert table["x"].tolist() == [1.0, None, "u", "v"]


def test_no_rows_are_an_error():
    with pytest.raises(ValueError, match="no row could be learned"):
        drawn(Y, np.zeros(N)).drawn()
