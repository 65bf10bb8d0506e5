"""Drifts that `colk fit` and `colk serve` report."""

import numpy as np
import pytest

from colk import load
from colk.cli import main
from colk.cli.live_state import state_of
from colk.cli.serving import Service
from colk.learners import DriftDetector, DriftEvent
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

N, CHANGED = 4000, 3000
RNG = np.random.default_rng(0)


def columns(drifts):
    late = (np.arange(N) >= CHANGED) & drifts
    a, b = RNG.normal(size=(2, N))
    b = b + 3.0 * late
    noise = RNG.normal(size=N)
    return {"a": a, "b": b, "y": np.sin(a) + 0.1 * noise * np.where(late, 8.0, 1.0)}


def written(path, table):
    rows = np.column_stack(list(table.values()))
    np.savetxt(path, rows, delimiter=",", header=",".join(table), comments="")
    return str(path)


@pytest.mark.parametrize("drifts", [False, True])
def test_a_drift_is_told_and_may_fail_the_command(tmp_path, capsys, drifts):
    data, model = written(tmp_path / "rows.csv", columns(drifts)), tmp_path / "m.colk"
    report = tmp_path / "page.html"
    words = ["fit", data, "--target", "y", "--model", str(model), "--kernel", "gaussian"]
    words += ["--max-atoms", "30", "--no-polish", "--epochs", "2", "--report", str(report)]
    assert main([*words, "--fail-on-drift"]) == (3 if drifts else 0)
    told = capsys.readouterr().out
    assert ("(b changed)" in told) == drifts
    assert ("(b changed)" in report.read_text(encoding="utf-8")) == drifts
    events = RunRecord(load(model).notes["record"]).drifts
    assert [CHANGED < event.time < CHANGED + 100 for event in events] == [True] * drifts
    assert main([*words, "--overwrite"]) == 0


def test_a_server_marks_the_row(tmp_path):
    table = columns(drifts=True)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    service = Service(TableModel("y", ["a", "b"], kernel="gaussian", max_atoms=30), learns=True)
    for start in range(0, N, 50):
        service.learn({"rows": rows[start : start + 50]})
    (mark,) = state_of(service.model, service.record, "", 0.0)["drifts"]
    assert CHANGED < mark < CHANGED + 100


@pytest.mark.parametrize("size", [1, 7, 10, 4096])
def test_batches_give_the_events_of_single_samples(size):
    table = columns(drifts=True)
    table["a"][::3] = np.nan
    losses = np.abs(table.pop("y") - np.sin(np.nan_to_num(table["a"])))
    one, many = DriftDetector(), DriftDetector()
    for t in range(N):
        one.update(float(losses[t]), {name: float(v[t]) for name, v in table.items()})
    found = []
    for start in range(0, N, size):
        part = {name: values[start : start + size] for name, values in table.items()}
        found += many.update_many(losses[start : start + size], part)
    assert [(e.time, e.severity) for e in found] == [(e.time, e.severity) for e in one.events]
    assert [list(e.features) for e in found] == [list(e.features) for e in one.events] == [["b"]]


def test_a_state_that_is_no_event_is_refused():
    event = DriftEvent(7, 0.5, {"a": 1.0})
    assert DriftEvent.of(event.state) == event
    for bad in ([1, 2.0], [1, 2.0, ["a"], []], ["x", 2.0, [], []], 3):
        with pytest.raises(ValueError, match="drift event"):
            DriftEvent.of(bad)
