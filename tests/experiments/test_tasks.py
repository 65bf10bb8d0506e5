"""Results are kept by settings and by code, whole or not at all."""

import numpy as np
import pytest

from colk.experiments.forecast import Forecast
from colk.experiments.laws import signal_on_grid
from colk.experiments.runner import Runner
from colk.experiments.tasks import Store, Task


def fail_after_two(number):
    if number >= 2:
        raise KeyboardInterrupt
    return {"number": np.array(number)}


def test_key_follows_settings_and_not_their_order():
    key = Task(fail_after_two, {"number": 1}).key
    assert key == Task(fail_after_two, {"number": 1}).key
    assert key != Task(fail_after_two, {"number": 2}).key
    first, second = {"n": 3, "m": 4}, {"m": 4, "n": 3}
    assert Task(signal_on_grid, first).key == Task(signal_on_grid, second).key


def test_a_damaged_file_is_computed_anew(tmp_path):
    store, task = Store(tmp_path), Task(signal_on_grid, {"n": 5})
    with Runner(store) as run:
        (expected,) = run([task])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:40])
    with Runner(store) as run:
        (again,) = run([task])
        assert run.computed == 1
    np.testing.assert_array_equal(again["y"], expected["y"])


def test_interruption_keeps_what_is_finished(tmp_path):
    store = Store(tmp_path)
    tasks = [Task(fail_after_two, {"number": number}) for number in range(4)]
    with pytest.raises(KeyboardInterrupt), Runner(store) as run:
        run(tasks)
    assert [store.load(task) is not None for task in tasks] == [True, True, False, False]
    assert len(list(tmp_path.iterdir())) == 2


def test_processes_give_the_results_of_one(tmp_path):
    tasks = [Task(signal_on_grid, {"n": n}) for n in (2, 3, 4)]
    seen = Forecast([])
    with Runner(Store(tmp_path / "one")) as run:
        alone = run(tasks)
    with Runner(Store(tmp_path / "two"), 2, seen) as run:
        together = run(tasks)
    assert len(seen.records) == len(tasks)
    for one, two in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one["y"], two["y"])
