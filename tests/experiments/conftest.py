"""One small run of all experiments, shared by several test files."""

import pytest

from colk.experiments import STUDIES, Plan, reproduce


@pytest.fixture(scope="session")
def plan():
    return Plan(runs=2, seed=1, scale=0.01)


@pytest.fixture(scope="session")
def made(plan, tmp_path_factory):
    return reproduce(tuple(STUDIES), plan, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def folder(made):
    return made.report.parent
