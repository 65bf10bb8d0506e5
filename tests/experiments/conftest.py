"""One small run of all experiments, shared by several test files."""

import pytest

from colk.experiments import STUDIES, Plan, reproduce
from colk.experiments.runner import Watch


@pytest.fixture(scope="session")
def plan():
    return Plan(runs=2, seed=1, scale=0.01)


class Weights(Watch):
    """Adds up the seconds of all tasks and figures."""

    total = 0.0

    def finish(self, name, seconds, *, found=False):
        self.total += seconds


@pytest.fixture(scope="session")
def weights():
    return Weights()


@pytest.fixture(scope="session")
def made(plan, weights, tmp_path_factory):
    return reproduce(tuple(STUDIES), plan, tmp_path_factory.mktemp("whole"), 1, weights)


@pytest.fixture(scope="session")
def folder(made):
    return made.report.parent
