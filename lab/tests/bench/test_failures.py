"""Difficult tables and streams: each can be run, and what the user is told is kept."""

import warnings

import numpy as np
import pytest

from colk_lab.bench.cells import CellScore
from colk_lab.bench.scores import read_csv, to_csv
from colk_lab.bench.stream_peers import last_target
from colk_lab.bench.tracks import failures
from colk_lab.data.hard_streams import HARD_STREAMS
from colk_lab.data.hard_tables import HARD_TABLES


def test_there_are_thirty():
    assert len(HARD_TABLES) >= 30


@pytest.mark.parametrize("hard", HARD_TABLES.values(), ids=list(HARD_TABLES))
def test_a_table_is_fixed_by_its_generator(hard):
    (X, y, truth), (again, _, _) = (hard.draw(200, np.random.default_rng(1)) for _ in "ab")
    assert X.equals(again)
    assert len(X) == len(y) == len(truth) == 200
    assert np.isfinite(np.asarray(truth, dtype=float)).all()
    assert hard.is_classifier == (set(np.unique(y)) <= {0, 1})


@pytest.mark.parametrize("hard", HARD_STREAMS.values(), ids=list(HARD_STREAMS))
def test_a_stream_is_fixed_by_its_generator(hard):
    first, again = (hard.draw(60, np.random.default_rng(1)) for _ in "ab")
    assert first == again
    assert len(first) == 60


def test_the_reference_has_the_error_one():
    assert failures.run_table("gaps", "constant", 0)["error"] == pytest.approx(1.0)
    assert failures.run_table("rare class", "constant", 0)["error"] == pytest.approx(1.0)
    assert failures.run_stream("clock", "mean so far", 0)["error"] == pytest.approx(1.0)


def test_warnings_and_exceptions_are_kept():
    def warn():
        warnings.warn("columns differ\nsecond line", UserWarning, stacklevel=1)
        warnings.warn("columns differ\nsecond line", UserWarning, stacklevel=1)
        return 1

    def fail():
        raise ValueError("no rows")

    assert failures._attempt(warn) == (1, "UserWarning: columns differ")
    assert failures._attempt(fail) == (None, "ValueError: no rows")


def test_an_exception_counts_as_the_worst_error(monkeypatch):
    class Broken:
        def predict_one(self, x):
            raise RuntimeError("broken")

    monkeypatch.setitem(failures.STREAM_MODELS, "colk", Broken)

    found = failures.run_stream("clock", "colk", 0)
    assert (found["error"], str(found["told"])) == (10.0, "RuntimeError: broken")


def test_colk_tells_which_columns_are_constant():
    told = str(failures.run_table("constant columns", "colk", 0)["told"])
    assert "one value in all rows" in told


def test_the_last_target_is_the_latest():
    model, found = last_target(), []
    for y in (1.0, 2.0, 3.0):
        model.learn_one({}, y)
        found.append(model.predict_one({}))
    assert found == [1.0, 2.0, 3.0]


def test_sentences_have_the_errors_and_the_words():
    scores = [
        CellScore("t", "gaps", "colk", 0, {"error": 0.5}, "", {"told": "UserWarning: x"}),
        CellScore("t", "gaps", "constant", 0, {"error": 1.0}, "", {"told": ""}),
    ]
    assert failures.sentences(scores) == [
        "gaps: colk 0.50, constant 1.00. colk tells the user: UserWarning: x."
    ]


def test_the_file_keeps_parts_and_texts():
    scores = [CellScore("t", "p", "colk", 0, {"error": 0.5}, "final", {"told": "a, “b”"})]
    assert read_csv(to_csv(scores)) == scores
