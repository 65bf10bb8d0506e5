"""The polish over partitions is that of one machine, for every loss and every risk."""

from concurrent.futures import Executor, Future
from functools import partial

import numpy as np
import pytest

from colk.distributed.engines import ExecutorParts
from colk.kernels import Gaussian
from colk.losses import LOSSES, Huber
from colk.risks import AUC, RISKS, Mean
from colk.rkhs import KernelExpansion
from colk.rkhs.polishing import Block, RowBlocks, polish, solve_by_sums

RNG = np.random.default_rng(0)
N, M, DECAY = 96, 8, 0.2
X = RNG.normal(size=(N, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * RNG.standard_t(3, size=N)
# Functions of the atoms separate the classes: if classes overlap, the least CVaR is at f = 0, where
# all losses are equal.
TEACHERS = Gaussian(1.0).gram(X, X[:M]) @ np.random.default_rng(5).normal(size=(M, 3))
SORTED = np.argsort(X[:, 0])  # partitions see different regions
# Kinks are smoothed over decreasing widths, and each width takes many passes.
TOLERANCE = {"smooth": 1e-9, "kinked": 1e-5}


class Here(Executor):
    """An executor that runs each task at once."""

    def submit(self, function, /, *arguments, **named):
        future = Future()
        future.set_result(function(*arguments, **named))
        return future


def targets(loss):
    if loss.kind == "binary":
        return np.where(TEACHERS[:, 0] > 0.0, 1.0, -1.0)
    return TEACHERS.argmax(axis=1).astype(float) if loss.kind == "multiclass" else Y


def part_of(rows, y):
    return Block(X[rows], y[rows], np.full(len(rows), 1.0 / N))


def parts(y, count, is_sorted):
    order = SORTED if is_sorted else np.arange(N)
    cut = np.array_split(order, count)
    return ExecutorParts(Here(), [partial(part_of, rows, y) for rows in cut])


def check(loss, risk, cases):
    y = targets(loss)
    shape = (M, 3) if loss.kind == "multiclass" else M
    f = KernelExpansion(Gaussian(1.0), X[:M], np.zeros(shape))
    is_kinked = bool(loss.kinks) or not risk.is_smooth
    settings = {"tolerance": TOLERANCE["kinked" if is_kinked else "smooth"]}
    whole = RowBlocks([part_of(np.arange(N), y)])
    expected, _ = solve_by_sums(whole, f, loss, risk, DECAY, **settings)
    if not is_kinked:  # kinks have a solver of their own where all rows are in memory
        local = polish(f, X, y, loss, risk, DECAY, **settings).function
        assert expected.distance(local) < 1e-8
    assert expected.norm() > 0.01
    sample = RowBlocks([part_of(np.arange(N // 2), y)])
    for count, is_sorted in cases:
        blocks = parts(y, count, is_sorted)
        found, _ = solve_by_sums(blocks, f, loss, risk, DECAY, **settings)
        assert found.distance(expected) < 1e-8, (count, is_sorted)
        if risk.n_inner == 0 and not is_kinked:
            found, _ = solve_by_sums(blocks, f, loss, risk, DECAY, sample=sample, **settings)
            assert found.distance(expected) < 1e-7, (count, is_sorted)


FEW = [(2, False), (8, True)]
ALL = [(count, is_sorted) for count in (1, 2, 8, 32) for is_sorted in (False, True)]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(loss):
    check(LOSSES[loss](), Mean(), FEW)


@pytest.mark.parametrize("risk", RISKS)
def test_every_risk(risk):
    check(Huber(), RISKS[risk](), FEW)


def test_ranking():
    check(LOSSES["logistic"](), AUC(), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_with_every_risk(loss, risk):
    check(LOSSES[loss](), RISKS[risk](), ALL)
