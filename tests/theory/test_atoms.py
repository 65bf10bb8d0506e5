"""The distances between atoms: where the paper's proof fails, and what holds instead."""

import math
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from colk import COLK
from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian
from colk.losses import Squared
from colk.reference import komp
from colk.risks import Mean, Variance
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion
from colk.theory import Constants, bound_atoms


def spans(kernel, points):
    """Distance of each κ(d, ·) from the span of the others, by Schur complements."""
    return 1.0 / np.sqrt(np.diag(np.linalg.inv(kernel.gram(points))))


def pairs(kernel, points):
    """Distances in H of all pairs of points."""
    K = kernel.gram(points)
    squares = np.diag(K)[:, None] + np.diag(K)[None] - 2.0 * K
    return np.sqrt(np.maximum(squares[np.triu_indices(len(K), 1)], 0.0))


def test_a_swap_breaks_the_separation_that_the_paper_proves():
    """Atoms more than χ apart and one new point: KOMP by brute force keeps two .48χ apart."""
    kernel, eps, longest = Gaussian(0.3), 0.03, 0.1
    chi = eps / longest
    points = np.array([0.778, 0.261, 0.145, 0.887, 0.49, 0.844])[:, None]
    weights = np.array([-0.072, -0.004, 0.241, 0.092, -0.013, -0.091])
    assert abs(weights[-1]) <= longest
    assert pairs(kernel, points[:-1]).min() > chi
    kept, *_ = komp(kernel, points, weights[:, None], eps=eps)
    assert kept == [2, 3, 5]
    np.testing.assert_allclose(pairs(kernel, points[kept]).min() / chi, 0.4766, atol=1e-3)
    # The compiled KOMP keeps the same points.
    found = compress(KernelExpansion(kernel, points, weights), eps=eps).function.atoms
    assert sorted(found[:, 0]) == sorted(points[kept, 0])


def test_pairs_break_the_separation_that_the_paper_proves():
    """A step adds two points: χ = .5 is not kept in 3 of 6 streams, in one for most of the time."""
    kernel, alpha, eps, bound = Gaussian(0.3), 0.1, 0.05, 1.0
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.random((4000, 1))
        y = 2.0 * X[:, 0] + 3.0 * np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=4000)
        learner = COLK(
            kernel,
            Squared(),
            Variance(0.5),
            step_size=alpha,
            compressor=KOMP(eps=eps),
            gradient_bound=bound,
            averaging=None,
        )
        closest = []
        for start in range(0, 4000, 2):
            atoms = learner.learn(X[start : start + 2], y[start : start + 2]).last_function.atoms
            if len(atoms) > 1:
                closest.append(pairs(kernel, atoms).min())
        shares.append(np.mean(np.array(closest) < eps / (alpha * bound)))
    assert np.count_nonzero(shares) == 3
    assert max(shares) > 0.9


def drawn(rng, pace, learner, kernel, p, crowd):
    """The samples of a step. An adversary takes, of eight, those that leave atoms closest."""
    tried = []
    for _ in range(8 if crowd else 1):
        X = rng.random((pace, p))
        if learner.steps and learner.n_atoms and rng.random() < 0.5:
            near = learner.last_function.atoms[rng.integers(learner.n_atoms, size=pace)]
            X = near + 10.0 ** rng.uniform(-3.0, -0.5) * rng.normal(size=(pace, p))
        tried.append((X, 3.0 * rng.normal(size=pace)))

    def closest(samples):
        atoms = deepcopy(learner).learn(*samples).last_function.atoms
        return pairs(kernel, atoms).min() if len(atoms) > 1 else math.inf

    return min(tried, key=closest) if crowd else tried[0]


def follow(seed, crowd, steps):
    """Least distances of one stream: over ε/(√b W), χ/s_k and χ; and the bound over the order."""
    rng = np.random.default_rng([seed, crowd])
    bandwidth, p, pace = rng.uniform(0.1, 0.6), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    kernel = (Gaussian, Laplacian)[rng.integers(2)](bandwidth)
    alpha, bound = 10.0 ** rng.uniform(-2.0, 0.0), 10.0 ** rng.uniform(-0.5, 1.0)
    chi = 10.0 ** rng.uniform(-1.3, -0.2)
    eps = chi * alpha * bound
    learner = COLK(
        kernel,
        Squared(),
        Variance(0.5) if pace == 2 else Mean(),
        step_size=alpha,
        compressor=KOMP(eps=eps),
        gradient_bound=bound,
        averaging=None,
    )
    old, least, heaviest, most = set(), [math.inf] * 3, alpha * bound, 1
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for _ in range(steps):
        X, y = drawn(rng, pace, learner, kernel, p, crowd)
        f = learner.learn(X, y).last_function
        points = [row.tobytes() for row in f.atoms]
        k = len(old | {row.tobytes() for row in X}) - len(points)
        low, high = np.minimum(low, X.min(axis=0)), np.maximum(high, X.max(axis=0))
        heaviest, most = max(heaviest, np.abs(f.weights).max(initial=0.0)), max(most, len(points))
        new = np.array([point not in old for point in points], dtype=bool)
        if len(points) > 1 and new.any():
            apart = spans(kernel, f.atoms)
            if len(points) > len(old):
                least[0] = min(least[0], apart.min() / (eps / (math.sqrt(pace) * heaviest)))
            s = math.sqrt((13.0 * 4.0 ** (k - 1) - 1.0) / 3.0) if k else 1.0
            least[1] = min(least[1], apart[new].min() / (chi / s))
            least[2] = min(least[2], pairs(kernel, f.atoms).min() / chi)
        old = set(points)
    steepest = 0.4513 if isinstance(kernel, Gaussian) else math.sqrt(p)
    constants = Constants(
        gradient_bound=bound,
        weight_bound=heaviest,
        kernel_lipschitz=steepest / bandwidth,
        sides=tuple(high - low),
    )
    return [*least, bound_atoms(constants, alpha, eps) / most]


@pytest.mark.parametrize(("crowd", "streams", "steps"), [(False, 100, 80), (True, 6, 40)])
def test_atoms_are_as_far_apart_as_proved(crowd, streams, steps):
    """Propositions A and B and the bound; `colk_lab.tables.atoms` follows 10⁴ and 10² streams."""
    found = np.array([follow(seed, crowd, steps) for seed in range(streams)])
    growth, entry, pair, ratio = found.min(axis=0)
    assert growth > 1.0
    assert entry > 1.0 - 1e-6
    assert ratio > 1.0
    # Both distances are nearly reached, and the paper's χ is not kept.
    assert min(growth, entry) < 1.1
    assert pair < 0.95


def test_the_bound_counts_balls_on_the_side_of_a_box():
    """Side 1, separation .25, L = 1: r = .03125, and (1 + 2·r/2)/(2·r/2) = 33 balls."""
    constants = Constants(weight_bound=2.0)
    eps = 0.25 * math.sqrt(2.0) * 2.0
    np.testing.assert_allclose(bound_atoms(constants, 0.1, eps), 33.0)
    # A step with larger coefficients than the weights counts in their place.
    larger = replace(constants, gradient_bound=40.0)
    np.testing.assert_allclose(bound_atoms(larger, 0.1, 2.0 * eps), 33.0)


def test_the_bound_grows_with_the_weights_and_not_with_the_step():
    constants = Constants(weight_bound=2.0)
    assert bound_atoms(constants, 0.1, 0.01) == bound_atoms(constants, 0.2, 0.01)
    heavier = replace(constants, weight_bound=20.0)
    growth = bound_atoms(heavier, 0.1, 0.01) / bound_atoms(constants, 0.1, 0.01)
    np.testing.assert_allclose(growth, 100.0, rtol=1e-3)
