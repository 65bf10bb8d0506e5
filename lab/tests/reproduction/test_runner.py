"""Results are kept by settings and code, and do not depend on the number of processes."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from colk_lab.reproduction.laws import signal_on_grid
from colk_lab.runner import Runner, Watch
from colk_lab.tasks import Task, fingerprint


def fail_after_two(number):
    if number >= 2:
        raise KeyboardInterrupt
    return {"number": np.array(number)}


def most_threads():
    np.ones((50, 50)) @ np.ones((50, 50))
    return {"threads": np.array(max(pool["num_threads"] for pool in threadpool_info()))}


_KEPT = []


def grow(number):
    if number:
        _KEPT.append(np.ones(50_000_000))
    time.sleep(1.1)  # joblib looks at the size of a process once in a second
    return {"process": np.array(os.getpid())}


class Seen(Watch):
    def __init__(self):
        self.begun, self.finished, self.found = [], [], []

    def begin(self, names):
        self.begun += names

    def finish(self, name, seconds, *, found=False):
        (self.found if found else self.finished).append(name)


def grids(*sizes):
    return [Task(signal_on_grid, {"n": n}, name=str(n)) for n in sizes]


def test_a_result_is_found_by_its_settings_in_any_order(tmp_path):
    first = Task(np.full, {"shape": 2, "fill_value": 3.0})
    second = Task(np.full, {"fill_value": 3.0, "shape": 2})
    other = Task(np.full, {"fill_value": 4.0, "shape": 2})
    run = Runner(tmp_path)
    run([first])
    assert (run.computed, run.found) == (1, 0)
    run([second])
    assert (run.computed, run.found) == (1, 1)
    run([other])
    assert (run.computed, run.found) == (2, 1)


def test_changed_code_is_run_again(tmp_path, monkeypatch):
    run = Runner(tmp_path)
    run(grids(3))
    monkeypatch.setattr("colk_lab.runner.fingerprint", lambda *of: "changed")
    run(grids(3))
    assert (run.computed, run.found) == (2, 0)


def test_results_of_other_methods_outlive_a_change_of_the_package(tmp_path, monkeypatch):
    (task,) = grids(3)
    tasks = [task, replace(task, settings={**task.settings, "n": 4}, uses_package=False)]
    Runner(tmp_path)(tasks)

    def changed(module, uses_package):
        return "changed" if uses_package else fingerprint(module, uses_package)

    monkeypatch.setattr("colk_lab.runner.fingerprint", changed)
    run = Runner(tmp_path)
    run(tasks)
    assert (run.computed, run.found) == (1, 1)


def test_a_damaged_file_is_computed_again(tmp_path):
    (expected,) = Runner(tmp_path)(grids(5))
    (path,) = tmp_path.rglob("output.pkl")
    path.write_bytes(path.read_bytes()[:40])
    run = Runner(tmp_path)
    (again,) = run(grids(5))
    assert run.computed == 1
    np.testing.assert_array_equal(again["y"], expected["y"])


def test_an_interruption_keeps_finished_tasks(tmp_path):
    tasks = [Task(fail_after_two, {"number": number}) for number in range(4)]
    with pytest.raises(KeyboardInterrupt):
        Runner(tmp_path)(tasks)
    run = Runner(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tasks)
    assert (run.computed, run.found) == (0, 2)


def test_long_tasks_begin_first_and_results_keep_their_order(tmp_path):
    tasks = [Task(signal_on_grid, {"n": n}, name=str(n), seconds=n) for n in (3, 5, 4)]
    seen = Seen()
    results = Runner(tmp_path, 1, seen)(tasks)
    assert seen.begun == seen.finished == ["5", "4", "3"]
    assert [len(result["x"]) for result in results] == [3, 5, 4]


def test_processes_give_the_results_of_one(tmp_path):
    tasks, seen = grids(2, 3, 4), Seen()
    alone = Runner(tmp_path / "one")(tasks)
    together = Runner(tmp_path / "two", 2, seen)(tasks)
    assert seen.begun == ["2", "3", "4"]
    assert sorted(seen.finished) == ["2", "3", "4"]
    for one, two in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one["y"], two["y"])
    Runner(tmp_path / "two", 2, seen)(tasks)
    assert seen.found == ["2", "3", "4"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_linear_algebra_has_one_thread(tmp_path, jobs):
    (result,) = Runner(tmp_path, jobs)([Task(most_threads, {})])
    assert result["threads"] == 1


@pytest.mark.filterwarnings("error")
def test_a_process_that_has_grown_is_replaced_without_a_warning(tmp_path):
    pytest.importorskip("psutil")
    tasks = [Task(grow, {"number": number}) for number in range(8)]
    results = Runner(tmp_path, 2)(tasks)
    assert len({int(result["process"]) for result in results}) > 2


def children(pid):
    """Processes whose parent is `pid`."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="asks ps for the processes of a parent")
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_command_leaves_no_process(tmp_path, kill):
    """After Ctrl-C the exit code is 130, one line explains, and finished tasks are kept."""
    command = ["reproduce", "outliers", "--runs", "5", "--jobs", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "colk", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300.0
    while len(list(tmp_path.rglob("output.pkl"))) < 5 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    workers = children(process.pid)
    # A terminal sends Ctrl-C to the whole group.
    (os.killpg if kill == signal.SIGINT else os.kill)(process.pid, kill)
    error = process.communicate(timeout=120)[1]
    if kill == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command continues" in error.splitlines()[-1]
        assert "Traceback" not in error
        assert "Warning" not in error
    deadline = time.monotonic() + 60.0
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, workers))
    assert len(list(tmp_path.rglob("output.pkl"))) >= 5
