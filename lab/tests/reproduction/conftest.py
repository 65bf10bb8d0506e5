"""One small run of all experiments, shared by several test files and by all processes."""

import shutil
from contextlib import contextmanager

import pytest

from colk_lab.reproduction import STUDIES, RunPlan, reproduce
from colk_lab.runner import Watch


@pytest.fixture(scope="session")
def plan():
    return RunPlan(runs=2, seed=1, scale=0.01)


class Weights(Watch):
    """Counts all tasks and figures, and adds up their seconds."""

    finished, total = 0, 0.0

    def finish(self, name, seconds, *, found=False):
        self.finished += 1
        self.total += seconds


@pytest.fixture(scope="session")
def weights():
    return Weights()


@contextmanager
def one_process(path):
    """Let one process at a time enter, where the system has such locks."""
    with path.open("w") as file:
        try:
            import fcntl
        except ImportError:
            yield
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@pytest.fixture(scope="session")
def made(plan, weights, tmp_path_factory):
    """The run. The first process computes the tasks; the others find their results."""
    folder, base = tmp_path_factory.mktemp("whole"), tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "experiments"
    with one_process(shared.with_suffix(".lock")):
        if shared.exists():
            shutil.copytree(shared, folder / "cache")
        run = reproduce(tuple(STUDIES), plan, folder, 1, weights)
        if not shared.exists():
            shutil.copytree(folder / "cache", shared)
    return run


@pytest.fixture(scope="session")
def folder(made):
    return made.report.parent
