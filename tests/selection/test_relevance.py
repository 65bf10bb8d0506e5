"""Rates of features maximise the marginal likelihood, and find the features that matter."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import make_friedman1

from colk.kernels import Gaussian, Laplacian, Matern, Mixed
from colk.kernels.mixed import category_weights
from colk.selection import CONTENDERS, contenders_for, race
from colk.selection.left_out_losses import RaceSamples
from colk.selection.marginal_likelihood import MarginalLikelihood, Process
from colk.selection.relevance import RelevanceSearch, as_laplacian

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(60, 3)), RNG.integers(3, size=60)])
Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 1] + X[:, 3])]) + 0.1 * RNG.normal(size=(60, 2))
WEIGHT = RNG.uniform(0.5, 2.0, size=60)
PROCESS = Process(np.array([0.5, 0.3, 0.9, 0.7]), 1.3, 0.2)
ALL = np.arange(4)


def covariance(is_l1):
    """The covariance of the targets, by the kernels of the package."""
    numbers = tuple(1.0 / PROCESS.rates[:3])
    kernel = Laplacian(numbers) if is_l1 else Matern(numbers, nu=2.5)
    mixed = Mixed(kernel, [3], category_weights(is_l1, 1.0, PROCESS.rates[3:]))
    return PROCESS.variance * mixed.gram(X) + np.diag(PROCESS.noise / WEIGHT)


@pytest.mark.parametrize("is_l1", [False, True])
def test_the_value_is_the_likelihood_of_a_gaussian_process(is_l1):
    likelihood = MarginalLikelihood(X, Y, WEIGHT, is_l1, categorical=(3,), size=100)
    value, gradient = likelihood.objective(ALL)(PROCESS.logarithms())
    C = covariance(is_l1)
    expected = sum(0.5 * y @ np.linalg.solve(C, y) for y in Y.T) + np.linalg.slogdet(C)[1]
    assert value == pytest.approx(expected, rel=1e-9)

    def at(logarithms):
        return likelihood.objective(ALL)(logarithms)[0]

    steps = approx_fprime(PROCESS.logarithms(), at, 1e-7)
    np.testing.assert_allclose(gradient, steps, rtol=1e-4, atol=1e-4)


def test_blocks_are_independent_and_leave_samples_out():
    likelihood = MarginalLikelihood(X, Y, WEIGHT, False, categorical=(3,), size=30)
    halves = [
        MarginalLikelihood(X[rows], Y[rows], WEIGHT[rows], False, categorical=(3,), size=30)
        for rows in (slice(30), slice(30, None))
    ]
    z = PROCESS.logarithms()
    total = sum(half.objective(ALL)(z)[0] for half in halves)
    assert likelihood.objective(ALL)(z)[0] == pytest.approx(total, rel=1e-12)
    C, i, rest = covariance(False)[:30, :30], 4, np.arange(30) != 4
    predicted = C[i, rest] @ np.linalg.solve(C[np.ix_(rest, rest)], Y[:30][rest])
    found = likelihood.left_out(ALL, PROCESS)[i]
    np.testing.assert_allclose(found, Y[i] - predicted, rtol=1e-8)


def friedman(n, p, seed=0):
    points, targets = make_friedman1(n, p, noise=1.0, random_state=seed)
    return points, ((targets - targets.mean()) / targets.std())[:, None]


def test_five_of_many_features_are_found():
    points, targets = friedman(600, 60)
    rates = RelevanceSearch(RaceSamples(points, targets, np.ones(600), False)).rates()
    assert set(np.flatnonzero(rates)) == {0, 1, 2, 3, 4}
    own = RelevanceSearch(RaceSamples(points, targets, np.ones(600), False))
    own = own.laplacian_rates(as_laplacian(rates))
    assert set(np.flatnonzero(own)) == {0, 1, 2, 3, 4}


def test_units_of_the_features_do_not_matter():
    points, targets = friedman(200, 6)
    units = 10.0 ** np.arange(-3.0, 3.0)
    one, other = (
        RelevanceSearch(RaceSamples(points * unit, targets, np.ones(200), False)).rates() * unit
        for unit in (1.0, units)
    )
    np.testing.assert_allclose(one, other, rtol=1e-3)


def test_a_race_with_scales_uses_their_kernel_and_tells_the_relevance():
    points, targets = friedman(1200, 20)
    result = race(points, targets, CONTENDERS)
    assert result.winner.scaled
    assert result.relevance.max() == 1.0
    assert result.relevance[5:].max() < 0.05 < 0.1 < result.relevance[:3].min()
    factor = result.winner.bandwidth / np.array(result.kernel.bandwidth)
    np.testing.assert_allclose(factor, result.scales)
    named = race(points, targets, contenders_for("gaussian"))
    assert isinstance(named.kernel, Gaussian)
    assert named.winner.scaled


@pytest.mark.parametrize("seed", range(3))
def test_the_bandwidth_suits_the_refined_scales(seed):
    """With few samples the scales are refined after the race, which changes all rates."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(500, 5))
    targets = 2.0 * np.sin(points[:, 0]) + 0.5 * points[:, 1] * points[:, 2] + points[:, 3]
    targets = (targets + 0.1 * rng.normal(size=500))[:, None]
    samples = RaceSamples(points, targets / targets.std(), np.ones(500), False)
    result = race(points, samples.Y, CONTENDERS)
    kernel = result.kernel
    assert result.winner.scaled

    def loss(factor):
        wider = kernel.replace(bandwidth=tuple(factor * h for h in kernel.bandwidth))
        return samples.mean(samples.losses(samples.run(wider)))

    assert result.winner.loss == pytest.approx(loss(1.0), rel=1e-6)
    assert loss(1.0) < min(loss(0.55), loss(1.8))


def test_scales_do_not_win_by_noise():
    wins = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(200, 6))
        targets = np.sin(points.sum(axis=1, keepdims=True) / 2.0) + rng.normal(size=(200, 1))
        wins += race(points, targets, CONTENDERS).winner.scaled
    assert wins <= 1
