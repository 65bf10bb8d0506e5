"""Settings of all tests: one BLAS thread per worker, a seed, and the option `--at-most`."""

import os
from itertools import groupby

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


@pytest.hookimpl(tryfirst=True)  # before fixtures of modules
def pytest_runtest_setup(item):
    """Seed NumPy's global generator, which `random_state=None` uses, so that failures repeat."""
    np.random.seed(0)  # noqa: NPY002  (scikit-learn uses the global one)


@pytest.hookimpl(trylast=True)  # after the choice by markers
def pytest_collection_modifyitems(config, items):
    most = config.getoption("--at-most")
    if most is None:
        return
    kept, left_out = [], []
    for _, cases in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        cases = list(cases)
        chosen = set(spread(len(cases), most))
        for place, case in enumerate(cases):
            (kept if place in chosen else left_out).append(case)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def spread(size, most):
    """Return at most `most` places of a list, with the first and the last, at equal distances."""
    if size <= most:
        return range(size)
    return sorted({round(i * (size - 1) / (most - 1)) for i in range(most)})
