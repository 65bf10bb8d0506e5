"""Many rows at once leave the sample as one row after the other does."""

from typing import Any

import numpy as np
import pytest

from colk._engine.sorted_sample import SortedSample


def add_one_by_one(sample: SortedSample, Y: Any, weight: Any) -> None:
    for row, own in zip(Y, weight, strict=True):
        if sample.takes_next():
            for j, value in enumerate(row):
                sample.insert(j, value, own)


@pytest.mark.parametrize("n", [0, 1, 20, 256, 700])
@pytest.mark.parametrize("kind", ["numbers", "ties"])
def test_many_rows_are_as_one_by_one(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(n, 2)) if kind == "numbers" else rng.integers(4, size=(n, 2)) * 1.0
    weight = rng.uniform(0.1, 1.0, size=n)
    expected = SortedSample(2, 0.95)
    add_one_by_one(expected, Y, weight)
    before = expected.rows()
    add_one_by_one(expected, Y[:9], weight[:9])
    for cut in (0, n // 3, n):
        found = SortedSample(2, 0.95)
        add_one_by_one(found, Y[:cut], weight[:cut])
        found.add_rows(Y[cut:], weight[cut:])
        assert np.array_equal(found.rows(), before)  # later rows would hide a row that is missing
        add_one_by_one(found, Y[:9], weight[:9])
        assert found.n_seen == expected.n_seen
        assert np.array_equal(found.rows(), expected.rows())
        for limit in (SortedSample.low, SortedSample.high, SortedSample.widest):
            assert [limit(found, j) for j in (0, 1)] == [limit(expected, j) for j in (0, 1)]
