"""Settings of all tests: one BLAS thread per worker, a seed, and the choice of cases.

Several `parametrize` give all combinations of their values. A test whose code takes each value the
same way, whatever the others are, runs fewer of them: those in which each value occurs
(`@pytest.mark.each_value`), or each pair of values (`@pytest.mark.each_pair`). `--all-cases` runs
all combinations.
"""

import os
from itertools import combinations, groupby

import pytest

# Several BLAS threads on few cores wait for each other.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (after the number of threads is set)


def pytest_addoption(parser):
    parser.addoption(
        "--at-most",
        type=int,
        metavar="N",
        help="run at most N cases of each parametrised test, spread over its list",
    )
    parser.addoption("--all-cases", action="store_true", help="run all combinations of parameters")


@pytest.hookimpl(tryfirst=True)  # before fixtures of modules
def pytest_runtest_setup(item):
    """Seed NumPy's global generator, which `random_state=None` uses, so that failures repeat."""
    np.random.seed(0)  # noqa: NPY002  (scikit-learn uses the global one)


@pytest.hookimpl(trylast=True)  # after the choice by markers
def pytest_collection_modifyitems(config, items):
    most, kept, left_out = config.getoption("--at-most"), [], []
    for _, group in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        cases = list(group)
        if not config.getoption("--all-cases"):
            cases = covering(cases, left_out)
        chosen = set(range(len(cases)) if most is None else spread(len(cases), most))
        for place, case in enumerate(cases):
            (kept if place in chosen else left_out).append(case)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def covering(cases, left_out):
    """Return cases in which each value, or each pair of values, of the parameters occurs."""
    markers = [cases[0].get_closest_marker(name) for name in ("each_value", "each_pair")]
    if not any(markers):
        return cases
    size = 2 if markers[1] else 1
    values = {case: [(name, id(v)) for name, v in case.callspec.params.items()] for case in cases}
    waiting = {case: set(combinations(values[case], size)) for case in cases}
    kept = set()
    while any(waiting.values()):
        best = max(cases, key=lambda case: len(waiting[case]))  # the first of the largest
        kept.add(best)
        found = set(waiting[best])
        for missing in waiting.values():
            missing -= found
    left_out.extend(case for case in cases if case not in kept)
    return [case for case in cases if case in kept]


def spread(size, most):
    """Return at most `most` places of a list, with the first and the last, at equal distances."""
    if size <= most:
        return range(size)
    return sorted({round(i * (size - 1) / (most - 1)) for i in range(most)})
