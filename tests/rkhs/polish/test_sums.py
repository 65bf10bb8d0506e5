"""Weights by sums over blocks of rows against the polish that sees all rows."""

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from colk.kernels import Gaussian, Laplacian
from colk.losses import LOSSES, Hinge, Huber, Logistic, Quantiles, Softmax, Squared
from colk.risks import (
    AUC,
    RISKS,
    Composition,
    CustomRisk,
    CVaR,
    Dispersion,
    Mean,
    MeanSemideviation,
    Variance,
)
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Block, RowBlocks, polish, solve_by_sums
from colk.rkhs.polishing.blocks import add

RNG = np.random.default_rng(0)
N, M, DECAY = 120, 9, 0.02
X = RNG.normal(size=(N, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * RNG.standard_t(3, size=N)
WEIGHT = RNG.uniform(0.2, 2.0, size=N)
SHARE = WEIGHT / WEIGHT.sum()
TIGHT = {"tolerance": 1e-13, "max_steps": 300}
KINKED = ("hinge", "pinball", "epsilon_insensitive")


def targets(loss):
    if loss.kind == "binary":
        return np.where(Y > 0.0, 1.0, -1.0)
    return np.digitize(Y, [-0.5, 0.5]).astype(float) if loss.kind == "multiclass" else Y


def zero(n_outputs=1, kernel=None):
    shape = (M, n_outputs) if n_outputs > 1 else M
    return KernelExpansion(kernel or Gaussian(1.0), X[:M], np.zeros(shape))


def cut(y, n_blocks, order=None, share=SHARE):
    """Blocks of rows, as they come or sorted; some of 32 blocks are empty."""
    order = np.arange(N) if order is None else order
    ends = np.linspace(0, N, n_blocks + 1).astype(int)
    if n_blocks == 32:
        ends[5:9] = ends[5]
    parts = [order[i:j] for i, j in pairwise(ends)]
    return [Block(X[part], y[part], share[part]) for part in parts]


class PickledBlocks:
    """An engine that sends everything through pickle, and adds neighbours in a tree."""

    def __init__(self, blocks):
        self._blocks = [pickle.dumps(block) for block in blocks]

    def each(self, function, *common, per_block=()):
        call = pickle.dumps((function, common))
        results = []
        for block, *own in zip(self._blocks, *per_block, strict=True):
            task, shared = pickle.loads(call)
            values = [pickle.loads(value) for value in own]
            results.append(pickle.dumps(task(pickle.loads(block), *values, *shared)))
        return results

    def total(self, function, *common, per_block=()):
        items = self.fetch(self.each(function, *common, per_block=per_block))
        while len(items) > 1:
            items = [reduce(add, items[i : i + 8]) for i in range(0, len(items), 8)]
        return items[0]

    def fetch(self, results):
        return [pickle.loads(result) for result in results]


def is_equal(loss, risk, blocks, y=None, f=None, decay=DECAY):
    y = targets(loss) if y is None else y
    f = zero(3 if loss.kind == "multiclass" else 1) if f is None else f
    whole = polish(f, X, y, loss, risk, decay, sample_weight=WEIGHT, **TIGHT)
    found, solution = solve_by_sums(blocks, f, loss, risk, decay, **TIGHT)
    assert whole.function.norm() > 0.01
    assert found.distance(whole.function) < 1e-8
    assert solution.value == pytest.approx(whole.value, rel=1e-9)


SMOOTH_RISKS = [name for name in RISKS if name != "cvar"]


@pytest.mark.parametrize("risk", SMOOTH_RISKS)
def test_every_risk_is_that_of_the_polish(risk):
    is_equal(Squared(), RISKS[risk](), RowBlocks(cut(Y, 5)))


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in KINKED])
def test_every_loss_is_that_of_the_polish(loss):
    y = targets(LOSSES[loss]())
    is_equal(LOSSES[loss](), Mean(), RowBlocks(cut(y, 5)))


def agree(loss, risk, blocks, tolerance, distance, value):
    """Compare at kinks, where the objective is flat in some directions to its last digits."""
    y, f = targets(loss), zero(3 if loss.kind == "multiclass" else 1)
    settings = {"tolerance": tolerance, "max_steps": 300}
    whole = polish(f, X, y, loss, risk, 0.2, sample_weight=WEIGHT, **settings)
    found, solution = solve_by_sums(blocks, f, loss, risk, 0.2, **settings)
    assert found.distance(whole.function) < distance
    assert solution.value == pytest.approx(whole.value, rel=value)


@pytest.mark.slow
@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_with_every_risk(loss, risk):
    blocks = RowBlocks(cut(targets(LOSSES[loss]()), 2))
    if loss == "softmax" and risk == "cvar":  # takes many steps
        agree(LOSSES[loss](), RISKS[risk](), blocks, 1e-5, 1e-2, 1e-4)
    elif loss in KINKED or risk == "cvar":
        agree(LOSSES[loss](), RISKS[risk](), blocks, 1e-13, 1e-5, 1e-9)
    else:
        is_equal(LOSSES[loss](), RISKS[risk](), blocks, decay=0.2)


@pytest.mark.parametrize(
    ("loss", "risk"),
    [(Hinge(), Mean()), (Squared(), CVaR(0.2)), (Squared(), MeanSemideviation(1.0))],
    ids=repr,
)
def test_kinks_are_certified(loss, risk):
    """To the accuracy at which the certificate of either solver ends."""
    y = targets(loss)
    whole = polish(zero(), X, y, loss, risk, DECAY, sample_weight=WEIGHT, tolerance=1e-6)
    _, solution = solve_by_sums(RowBlocks(cut(y, 3)), zero(), loss, risk, DECAY, tolerance=1e-6)
    assert solution.converged
    assert solution.gap <= 1e-6 * solution.value
    assert solution.value == pytest.approx(whole.value, rel=2e-6)


@pytest.mark.parametrize("n_blocks", [1, 2, 8, 32])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_neither_the_number_nor_the_order_of_blocks_matters(n_blocks, is_sorted):
    order = np.argsort(X[:, 0]) if is_sorted else None
    is_equal(Huber(0.5), Variance(0.3), PickledBlocks(cut(Y, n_blocks, order)))


def test_rows_of_weight_zero_do_not_count():
    kept = np.arange(N) % 3 > 0
    share = np.where(kept, SHARE, 0.0) / SHARE[kept].sum()
    for risk in (Mean(), CVaR(0.3, smoothing=0.1)):
        found, _ = solve_by_sums(
            RowBlocks(cut(Y, 4, share=share)), zero(), Huber(), risk, DECAY, **TIGHT
        )
        fewer = Block(X[kept], Y[kept], share[kept])
        expected, _ = solve_by_sums(RowBlocks([fewer]), zero(), Huber(), risk, DECAY, **TIGHT)
        assert found.distance(expected) < 1e-8


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic()], ids=repr)
def test_several_outputs(loss):
    y = np.column_stack([Y, Y**2 - 1.0])
    y = np.where(y > 0.0, 1.0, -1.0) if loss.kind == "binary" else y
    is_equal(loss, Mean(), RowBlocks(cut(y, 4)), y, zero(2))
    is_equal(loss, Variance(0.2), RowBlocks(cut(y, 4)), y, zero(2))


def test_classes_share_one_matrix_and_quantiles_their_targets():
    y = targets(Softmax())
    is_equal(Softmax(), Variance(0.2), RowBlocks(cut(y, 2)), f=zero(3))
    f, loss = zero(2), Quantiles((0.2, 0.7))
    whole = polish(f, X, Y, loss, regularization=DECAY, sample_weight=WEIGHT, tolerance=1e-6)
    found, _ = solve_by_sums(RowBlocks(cut(Y, 4)), f, loss, regularization=DECAY, tolerance=1e-6)
    assert found.distance(whole.function) < 1e-2 * whole.function.norm()


class Roughness(Dispersion):
    def spread_at(self, u):
        return np.sqrt(1.0 + u * u) - 1.0

    def spread_slope_at(self, u):
        return u / np.sqrt(1.0 + u * u)


def bias(f, y):
    return f[0] - y[0]


def one(f, y):
    return 1.0


def square(f, y, g):
    return (f[0] - y[0]) ** 2 + 3.0 * g[0] ** 2


def square_slope(f, y, g):
    return 2.0 * (f[0] - y[0])


def bias_slope(f, y, g):
    return 6.0 * g[0]


def test_risks_of_predictions_and_of_the_users_own():
    y = targets(Logistic())
    is_equal(Logistic(), AUC(), PickledBlocks(cut(y, 5)))
    is_equal(Squared(), Roughness(0.4), RowBlocks(cut(Y, 5)))


@pytest.mark.slow  # its functions are compiled
def test_a_composition():
    risk = Composition(bias, one, square, square_slope, bias_slope, is_convex=True)
    is_equal(Squared(), risk, RowBlocks(cut(Y, 2)))


def test_dependent_atoms():
    atoms = np.concatenate([X[:M], X[:M] + 1e-6])
    f = KernelExpansion(Gaussian(1.0), atoms, np.zeros(2 * M))
    is_equal(Huber(0.5), Variance(0.3), RowBlocks(cut(Y, 3)), f=f)


@pytest.mark.parametrize(
    ("loss", "risk"),
    [(Huber(0.5), Mean()), (Softmax(), Mean()), (Squared(), Variance(0.5))],
    ids=repr,
)
def test_the_curvature_of_a_sample_leads_to_the_same_weights(loss, risk):
    y = targets(loss)
    f = zero(3 if loss.kind == "multiclass" else 1, Laplacian(1.0))
    sample = RowBlocks.of(X[:60], y[:60], np.full(60, 1.0 / 60))
    blocks = RowBlocks(cut(y, 4))
    found, _ = solve_by_sums(blocks, f, loss, risk, DECAY, sample=sample, **TIGHT)
    expected, _ = solve_by_sums(blocks, f, loss, risk, DECAY, **TIGHT)
    assert found.distance(expected) < 1e-8


class Counted(RowBlocks):
    """Blocks that count the numbers that are sent."""

    largest = 0

    def total(self, function, *common, per_block=()):
        found = super().total(function, *common, per_block=per_block)
        sizes = [np.size(part) for part in found if part is not None]
        self.largest = max(self.largest, *sizes)
        return found


def test_with_a_sample_no_matrix_is_sent():
    blocks, sample = Counted(cut(Y, 4)), RowBlocks.of(X[:60], Y[:60], np.full(60, 1.0 / 60))
    solve_by_sums(blocks, zero(), Huber(), regularization=DECAY, sample=sample)
    assert blocks.largest == M
    solve_by_sums(blocks, zero(), Huber(), regularization=DECAY)
    assert blocks.largest == M * M


@pytest.mark.parametrize(
    ("loss", "risk", "with_sample"),
    [
        (Huber(0.5), Mean(), False),
        (Huber(0.5), Mean(), True),
        (Softmax(), Mean(), False),
        (Hinge(), Mean(), False),
        (Squared(), CVaR(0.2), False),
    ],
    ids=repr,
)
def test_a_killed_search_resumes_to_the_same_bits(loss, risk, with_sample):
    """From every state that it reported, after a trip through pickle."""
    y, f = targets(loss), zero(3 if loss.kind == "multiclass" else 1)
    sample = RowBlocks.of(X[:60], y[:60], np.full(60, 1.0 / 60)) if with_sample else None
    blocks, states = RowBlocks(cut(y, 4)), []
    settings = {"sample": sample, "tolerance": 1e-6, "max_steps": 60}
    whole, solution = solve_by_sums(blocks, f, loss, risk, DECAY, **settings, report=states.append)
    assert states[-1].is_done
    for state in states[:: max(1, len(states) // 6)]:
        again = pickle.loads(pickle.dumps(state))
        found, other = solve_by_sums(blocks, f, loss, risk, DECAY, **settings, state=again)
        np.testing.assert_array_equal(found.weights, whole.weights)
        assert other.n_steps == solution.n_steps
        assert other.value == solution.value


def test_a_risk_of_the_users_own_takes_as_few_passes_as_a_built_in_one():
    own = CustomRisk(
        inner=lambda loss: (loss, loss**2),
        inner_slope=lambda loss: (1.0, 2.0 * loss),
        outer=lambda loss, g: loss + 0.3 * (g[1] - g[0] ** 2),
        outer_slope_loss=lambda loss, g: 1.0,
        outer_slope_inner=lambda loss, g: (-0.6 * g[0], 0.3),
        n_inner=2,
    )
    steps = {}
    for risk in (Variance(0.3), own):
        found = polish(zero(), X, Y, Squared(), risk, DECAY, sample_weight=WEIGHT, **TIGHT)
        steps[type(risk)] = found.n_steps, found.value
    assert steps[CustomRisk][0] <= steps[Variance][0] + 1
    assert steps[CustomRisk][1] == pytest.approx(steps[Variance][1], rel=1e-12)
