"""The time left that is announced while a run is simulated."""

import heapq

import numpy as np
import pytest

from colk_lab.progress import Progress, time_left
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.reproduce import STUDIES, expected_seconds


def kind(task):
    return task.name.partition(":")[0]


def simulate(jobs, speeds):
    """Announced and true seconds left whenever a task of a full run finishes."""
    free, ends = [0.0] * jobs, []
    for study in STUDIES.values():
        # A chapter waits for the one before; its long tasks begin first.
        free = [max(free)] * jobs
        for task in sorted(study.tasks(RunPlan()), key=lambda task: -task.seconds):
            end = free[0] + task.seconds * speeds[kind(task)]
            heapq.heapreplace(free, end)
            ends.append((end, task.seconds))
    done, total = 0.0, sum(seconds for _, seconds in ends)
    for moment, seconds in sorted(ends):
        done += seconds
        yield done / total, max(free) - moment, time_left(done, total, moment, moment, jobs)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_announced_time_is_not_below_half(jobs, seed):
    """On another machine one kind of task may take twice as long as its weight beside others."""
    kinds = sorted({kind(task) for study in STUDIES.values() for task in study.tasks(RunPlan())})
    factors = np.exp(np.random.default_rng(seed).uniform(-0.5, 0.5, len(kinds)) * np.log(2.0))
    looked = 0
    for share, true, (least, most) in simulate(jobs, dict(zip(kinds, 3.0 * factors, strict=True))):
        if true > 5.0:
            looked += 1
            assert most >= 0.5 * true, (share, true, least, most)
            # At first, the tasks that run side by side are not counted; at last, a few long ones.
            assert not 0.05 < share < 0.7 or least <= 2.0 * true, (share, true, least, most)
    assert looked > 50


@pytest.mark.parametrize("name", STUDIES)
def test_every_task_has_a_name_and_a_weight(name):
    tasks = STUDIES[name].tasks(RunPlan())
    assert all(task.name and task.seconds > 0.0 for task in tasks)


def test_expected_tasks_and_figures_are_those_of_the_run(made, plan, weights):
    for study, chapter in zip(STUDIES.values(), made.chapters, strict=True):
        assert study.n_figures == len(chapter.figures)
    assert weights.total == pytest.approx(expected_seconds(tuple(STUDIES), plan))
    tasks = sum(len(study.tasks(plan)) for study in STUDIES.values())
    assert weights.finished == tasks + sum(study.n_figures for study in STUDIES.values())


def test_lines_without_a_terminal(plan, capsys, monkeypatch):
    monkeypatch.setattr("colk_lab.progress._FIRST", 0.0)
    tasks = STUDIES["policy"].tasks(plan)
    with Progress(expected_seconds(["policy"], plan)) as progress:
        progress.begin([task.name for task in tasks])
        progress.finish(tasks[0].name, tasks[0].seconds)
        progress.finish(tasks[1].name, tasks[1].seconds)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("colk: ")
    assert " left, " in line
    assert line.endswith(tasks[1].name)


def test_tasks_from_the_cache_take_no_time(plan, capsys, monkeypatch):
    """Cached tasks are subtracted from the total, because they say nothing about the speed."""
    monkeypatch.setattr("colk_lab.progress._FIRST", 0.0)
    with Progress(10.0) as progress:
        progress.begin(["a", "b"])
        for _ in range(4):
            progress.finish("found", 2.0, found=True)
        progress.finish("a", 1.0)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("colk: 50 %")


def test_the_first_task_does_not_announce_days():
    """The start of the processes takes longer than a task of a thousandth of the work."""
    least, most = time_left(1.0, 1000.0, elapsed=30.0, last=30.0, jobs=2)
    assert 400.0 < least < most < 2500.0
