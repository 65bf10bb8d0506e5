"""The time left, told while a recorded run is played again, and the words for it."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from colk.cli.progress import describe
from colk.experiments.chapter import Plan
from colk.experiments.forecast import DRAWING, Forecast, measured_costs
from colk.experiments.reproduce import STUDIES, forecast

RECORD = Path(__file__).with_name("durations.csv")


class Clock:
    time = 0.0

    def __call__(self):
        return self.time


def played(costs=None, jobs=2):
    """A recorded full run on two processes: true and told seconds left, by share of the time."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        record = [
            (row["name"], float(row["size"]), float(row["seconds"]), float(row["finished"]))
            for row in csv.DictReader(file)
        ]
    clock, end = Clock(), record[-1][3]
    told = Forecast([(name, size) for name, size, *_ in record], jobs, costs, clock)
    for name, size, seconds, finished in record:
        clock.time = finished
        told.finish(name, size, seconds)
        yield finished / end, end - finished, told.seconds_left


def test_time_left_is_within_a_factor_of_two_from_the_first_fifth_on():
    looked = 0
    for share, true, told in played():
        if share >= 0.2 and true > 3.0:
            looked += 1
            assert true / 2.0 < told < true * 2.0, (share, true, told)
    assert looked > 50


def test_a_slower_machine_is_noticed():
    faster = {name: cost / 3.0 for name, cost in measured_costs().items()}
    for share, true, told in played(faster):
        if share >= 0.2 and true > 10.0:
            assert true / 2.5 < told < true * 2.5, (share, true, told)


def test_time_left_does_not_jump():
    times = [(share, told) for share, _, told in played() if share >= 0.2]
    for (_, before), (_, after) in pairwise(times):
        assert after < 1.5 * before + 5.0


@pytest.mark.parametrize("name", STUDIES)
def test_every_task_has_a_cost_and_a_name(name):
    tasks = STUDIES[name].expect(Plan())
    assert {task.name for task in tasks} <= set(measured_costs())
    assert all(task.size > 0.0 for task in tasks)


def test_what_is_expected_is_what_is_done(made, plan):
    told = forecast(tuple(STUDIES), plan)
    with (made.report.parent / "durations.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            told.finish(row["name"], float(row["size"]))
    assert told.share == pytest.approx(1.0)
    assert told.seconds_left == pytest.approx(0.0, abs=1e-6)


def test_drawing_is_counted(made, plan):
    figures = {name: len(c.figures) for name, c in zip(STUDIES, made.chapters, strict=True)}
    assert figures == {name: study.figures for name, study in STUDIES.items()}
    told = forecast(("risk",), plan)
    assert any(name == DRAWING for name in told._left)


def test_long_work_is_named():
    clock = Clock()
    told = Forecast([("Policy evaluation: Pendulum", 1.0)], 1, {}, clock)
    told.begin("Policy evaluation: Pendulum")
    clock.time = 80.0
    assert describe(told).endswith("Policy evaluation: Pendulum (for 1 min 20 s)")
