"""The time left, told while a recorded run is played again, and the words for it."""

import csv
import heapq
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


def record():
    """Names, sizes and processor seconds of a full run."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        return [
            (row["name"], float(row["size"]), float(row["seconds"])) for row in csv.DictReader(file)
        ]


def events(jobs):
    """When each task of the record begins and ends, on several processes, then drawing."""
    free, found = [0.0] * jobs, []
    for name, size, seconds in record():
        if name.startswith(DRAWING):
            free = [max(free)]
        begun = free[0]
        heapq.heapreplace(free, begun + seconds)
        found += [(begun, 1, name, size, seconds), (begun + seconds, 0, name, size, seconds)]
    return sorted(found)


def played(costs=None, jobs=2, load=1.0):
    """True and told seconds left while the record is played, by share of the time."""
    clock, course = Clock(), events(jobs)
    end = load * course[-1][0]
    told = Forecast([(name, size) for name, size, _ in record()], jobs, costs, clock)
    for moment, begins, name, size, seconds in course:
        # Half-way to what happens next, then when it does.
        clock.time = 0.5 * (clock.time + load * moment)
        yield clock.time / end, end - clock.time, told.seconds_left
        clock.time = load * moment
        if begins:
            told.begin(name, size)
        else:
            told.finish(name, size, seconds)
        yield clock.time / end, end - clock.time, told.seconds_left


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("load", [1.0, 3.0])
def test_time_left_is_within_a_factor_of_two_from_the_first_fifth_on(jobs, load):
    """The costs are those of another run; under load only the clock goes on."""
    looked = 0
    for share, true, told in played(jobs=jobs, load=load):
        if share >= 0.2 and true > 2.0:
            looked += 1
            assert true / 2.0 < told < true * 2.0, (share, true, told)
    assert looked > 50


def test_a_slower_machine_is_noticed():
    faster = {name: cost / 3.0 for name, cost in measured_costs().items()}
    for share, true, told in played(faster):
        if share >= 0.2 and true > 2.0:
            assert true / 2.0 < told < true * 2.0, (share, true, told)


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
    for study, chapter in zip(STUDIES.values(), made.chapters, strict=True):
        assert study.figures == tuple(figure.name for figure in chapter.figures)
    told = forecast(("policy",), plan)
    for task in STUDIES["policy"].expect(plan):
        told.finish(task.name, task.size)
    costs = measured_costs()
    figures = [costs[DRAWING + name] for name in STUDIES["policy"].figures]
    assert told.seconds_left == pytest.approx(sum(figures), rel=0.05)


def test_more_tasks_than_were_told():
    told = Forecast([("a", 1.0)], 1, {"a": 1.0}, Clock())
    for name in ("a", "a", "b"):
        told.begin(name, 1.0)
    told.finish("a", 1.0, seconds=1.0)
    assert told.seconds_left == 0.0


def test_a_task_that_ended_before_its_beginning_was_told_is_recorded():
    told = Forecast([("a", 1.0), ("a", 1.0)])
    told.begin("a", 1.0)
    for seconds in (1.0, 2.0):
        told.finish("a", 1.0, seconds)
    assert told.records == [("a", 1.0, 1.0), ("a", 1.0, 2.0)]


def test_a_task_that_was_not_seen_to_begin_took_its_own_time():
    """It says nothing of the load: what is left takes as long as it did."""
    clock = Clock()
    told = Forecast([("a", 1.0), ("a", 1.0)], 1, {"a": 10.0}, clock)
    clock.time = 100.0
    told.finish("a", 1.0, seconds=10.0)
    assert told.seconds_left == pytest.approx(10.0)


def test_long_work_is_named():
    clock = Clock()
    told = Forecast([("Policy evaluation: Pendulum", 1.0)], 1, {}, clock)
    told.begin("Policy evaluation: Pendulum", 1.0)
    clock.time = 80.0
    assert describe(told).endswith("Policy evaluation: Pendulum (for 1 min 20 s)")
