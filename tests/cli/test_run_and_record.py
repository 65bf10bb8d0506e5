"""The rows that a run holds out, and the curve that it records."""

import numpy as np
import pytest

from colk.cli.left_out import HeldOutRows
from colk.model import sample
from colk.tabular import TableModel
from colk.tabular import record as record_module
from colk.tabular.record import RunRecord, Score


@pytest.fixture
def seen(monkeypatch):
    """Collect the targets that are read in each pass, and those that are tested."""
    passes, tested = {}, []
    check, count = TableModel.checked_rows, Score.count

    def noting_check(self, columns, y):
        passes.setdefault(self.rows, []).extend(y)
        return check(self, columns, y)

    def noting_count(self, model, columns, y):
        if type(self) is Score:
            tested.extend(y)
        return count(self, model, columns, y)

    monkeypatch.setattr(TableModel, "checked_rows", noting_check)
    monkeypatch.setattr(Score, "count", noting_count)
    return passes, tested


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_same_share_of_rows_is_held_out_of_every_pass(colk, tmp_path, seen, share, monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", 300)  # so that there is a pass for the weights
    passes, tested = seen
    n, paths = 1500, [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, rows in zip(paths, (range(1000), range(1000, n)), strict=True):
        path.write_text("x,y\n" + "".join(f"{i % 7},{i}\n" for i in rows))
    command = ["fit", *paths, "--target", "y", "--model", tmp_path / "m"]
    assert colk(*command, "--kernel", "gaussian", "--holdout", share)[0] == 0
    held = set(tested)
    assert len(held) == len(tested)
    assert abs(len(held) - share * n) < 4.0 * np.sqrt(n * share * (1.0 - share))
    assert len(passes) == 2  # before and after the sample has chosen the atoms
    for learned in passes.values():
        assert len(learned) == len(set(learned))
        assert set(learned) | held == set(range(n))
        assert not set(learned) & held


def test_held_rows_depend_on_their_number_alone():
    left_out = HeldOutRows(0.3, 0.1)
    whole = left_out.rows("holdout", 0, 200)
    parts = [left_out.rows("holdout", first, 50) for first in range(0, 200, 50)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(parts[0], parts[1])


@pytest.mark.parametrize("chunk", [1, 7, 64, 5000])
def test_the_curve_has_equal_segments_whatever_the_chunks(chunk):
    errors = np.random.default_rng(0).uniform(size=3001)
    record = RunRecord()
    for start in range(0, len(errors), chunk):
        record.extend(errors[start : start + chunk], n_atoms=start)
    width = record.width
    assert width == 16  # the least power of two that gives at most 200 segments
    assert len(record.curve) <= record_module._STRETCHES
    sizes = [each[0] for each in record.curve]
    assert sizes == [width] * (len(errors) // width) + [len(errors) % width]
    sums = [errors[i : i + width].sum() for i in range(0, len(errors), width)]
    np.testing.assert_allclose([each[1] for each in record.curve], sums)
    ends = [min(i + width, len(errors)) - 1 for i in range(0, len(errors), width)]
    assert [each[2] for each in record.curve] == [end // chunk * chunk for end in ends]


def test_the_first_segments_are_single_rows():
    record = RunRecord()
    record.extend(np.ones(3), n_atoms=1)
    assert [each[0] for each in record.curve] == [1.0, 1.0, 1.0]
