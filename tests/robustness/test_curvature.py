"""NewtonCOLK: its certificate in fifty digits, and streams that return to earlier regions."""

import numpy as np
import pytest
from exact_norm import DIGITS, distance, gaussian
from mpmath import mp, mpf

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK

WIDTH = 0.3


def full_move(atoms, P, x, slope, prior):
    """The change of the weights of atoms and x by a sample with this slope of the squared loss."""
    kernel, n = gaussian(WIDTH), len(atoms)
    points = [tuple(map(mpf, atom)) for atom in atoms.tolist()]
    point = tuple(map(mpf, x.tolist()))
    K = mp.matrix(n, n)
    for i, u in enumerate(points):
        for j, v in enumerate(points):
            K[i, j] = kernel(u, v)
    k = mp.matrix([kernel(u, point) for u in points])
    L = mp.cholesky(K)
    z, v = mp.lu_solve(L, k), mp.lu_solve(K, k)
    h = mp.matrix(P.tolist()) * z
    novelty = 1 - (z.T * z)[0]
    variance = (z.T * h)[0] + novelty / prior
    amount = -mpf(slope) / (1 + 2 * variance)
    inside = mp.lu_solve(L.T, h) - v / prior
    return np.array([float(amount * each) for each in [*inside, 1 / mpf(prior)]])


def test_what_a_step_loses_is_what_it_says():
    """Against the step in the span of the atoms and x, in fifty digits."""
    rng = np.random.default_rng(0)
    X = rng.random((90, 1))
    y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=90)
    learner = NewtonCOLK(Gaussian(WIDTH), compressor=KOMP(eps=0.05, max_atoms=6))
    learner.learn(X[:1], y[:1])
    lost, said = [], []
    for t in range(1, 90):
        f, P, spent = learner.last_function, learner.covariance, learner.error_spent
        slope = 2.0 * (f(X[t : t + 1]).item() - y[t])
        with mp.workdps(DIGITS):
            move = full_move(f.atoms, P, X[t], slope, learner.prior)
        learner.learn(X[t : t + 1], y[t : t + 1])
        after, points = learner.last_function, np.vstack([f.atoms, X[t]])
        lost.append(
            distance(
                gaussian(WIDTH),
                (f.atoms, f.weights, 1.0),
                (points, move, 1.0),
                (after.atoms, after.weights, -1.0),
            )
        )
        said.append(learner.error_spent - spent)
    assert max(said) > 0.01
    # the error of a point that is left out and those of atoms that go add up
    assert (np.array(lost) <= np.array(said) + 1e-9).all()
    alone = np.array(said) > 0.0
    assert np.median(np.array(lost)[alone] / np.array(said)[alone]) > 0.99


@pytest.mark.parametrize("forgetting", [0.9, 0.99, "auto"])
def test_it_recovers_after_a_region_that_repeats(forgetting):
    """Samples everywhere, then 10⁵ in one tenth, then everywhere again, of another function."""
    rng = np.random.default_rng(1)
    learner = NewtonCOLK(Gaussian(0.1), forgetting=forgetting, compressor=KOMP(0.05, max_atoms=30))
    for n, low, high, sign in ((2000, 0.0, 1.0, 1), (100_000, 0.4, 0.5, 1), (3000, 0.0, 1.0, -1)):
        X = rng.uniform(low, high, (n, 1))
        y = sign * np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=n)
        learner.learn(X, y)
        values = np.linalg.eigvalsh(learner.covariance)
        assert values[0] > 0.0
        assert values[-1] < 3.0 / learner.prior  # at a sample never above the prior's
    probe = np.linspace(0.02, 0.98, 50)[:, None]
    error = np.mean((learner.predict(probe) + np.sin(6.0 * probe[:, 0])) ** 2)
    assert error < 0.01
    assert learner._stream.dictionary.drift() < 1e-8
