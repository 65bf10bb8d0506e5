"""NewtonCOLK compresses the dense Gauss–Newton step by KOMP; restarts forget the curvature."""

from dataclasses import replace

import numpy as np
import pytest
from newton_steps import KERNEL, POINTS, compressed_step, make_oracle, state_of, stream

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK
from colk.losses import Huber, Squared

LIMITS = [KOMP(eps=0.05), KOMP(eps=0.01, max_atoms=6), KOMP(fraction=0.1), KOMP(max_atoms=4)]


def covariances(state):
    """The covariance of f at pairs of points, whatever the order of the atoms."""
    at = KERNEL(POINTS, state.atoms)
    return at @ np.linalg.solve(state.precision, at.T)


def assert_compressed(learner, X, Y, batch_size=1):
    """Compare every step with KOMP of the dense step from the state before it."""
    oracle, rule = make_oracle(learner), learner.compressor
    n_functions = len(oracle.p)
    squares, entered, dropped = 0.0, 0, 0
    for x, y in zip(X, Y, strict=True):
        if learner.steps > 0:
            oracle.state = state_of(learner, n_functions)
        learner.learn(x[None], y[None])
        oracle.learn(x[None], y[None], oracle.pairing, batch_size)
        if oracle.last is None:
            continue
        eps = (rule.eps or 0.0) + (rule.fraction or 0.0) * np.sqrt(squares)
        expected, error, moves = compressed_step(
            oracle, eps, rule.max_atoms or np.inf, learner.prior == "auto"
        )
        after = state_of(learner, n_functions)
        for move in moves:
            squares += (move - squares) / (oracle.steps * len(moves))
        if rule.fraction is not None:
            assert learner.step_length == pytest.approx(np.sqrt(squares), rel=1e-5)
        assert {*after.atoms.ravel()} == {*expected.atoms.ravel()}
        size = max(1.0, np.abs(expected.weights).max())
        f, g = after.values(KERNEL, POINTS), expected.values(KERNEL, POINTS)
        np.testing.assert_allclose(f, g, atol=1e-7 * size)
        found, wanted = (covariances(state) for state in (after, expected))
        np.testing.assert_allclose(found, wanted, atol=1e-6 / oracle.prior)
        assert learner.trace.error[-1] == pytest.approx(error, rel=1e-4, abs=2e-6)
        entered += len({*expected.atoms.ravel()} - {*oracle.state.atoms.ravel()})
        dropped += learner.trace.dropped[-1]
        oracle.last = None
    return entered, dropped


@pytest.mark.parametrize("settings", [{}, {"forgetting": 0.9}, {"forgetting": "auto"}], ids=str)
@pytest.mark.parametrize("compressor", LIMITS, ids=repr)
def test_a_step_is_compressed_by_komp(compressor, settings):
    X, Y = stream(80, Huber(0.3))
    learner = NewtonCOLK(
        KERNEL, Huber(0.3), compressor=compressor, prior=0.5, trace=True, **settings
    )
    entered, dropped = assert_compressed(learner, X, Y)
    assert entered > 3
    assert dropped > 0


@pytest.mark.parametrize("forgetting", [1.0, "auto"])
def test_a_batch_is_compressed_by_komp(forgetting):
    X, Y = stream(120, Huber(0.3))
    learner = NewtonCOLK(
        KERNEL, Huber(0.3), compressor=KOMP(eps=0.1), prior=0.5, trace=True, batch_size=3,
        forgetting=forgetting,
    )  # fmt: skip
    entered, _ = assert_compressed(learner, X, Y, batch_size=3)
    assert entered > 3


def test_an_atom_that_leaves_keeps_the_posterior():
    """With prior="auto" the other atoms get the best weights for all samples."""
    X, Y = stream(150, Squared())
    learner = NewtonCOLK(KERNEL, compressor=KOMP(eps=0.01, max_atoms=6), prior="auto", trace=True)
    entered, dropped = assert_compressed(learner, X, Y)
    assert entered > 10
    assert dropped > 5


def test_a_restart_forgets_the_curvature_and_keeps_the_function():
    X, Y = stream(1240, Huber(0.3))
    Y[1200:] *= -1.0
    learner = NewtonCOLK(KERNEL, Huber(0.3), compressor=KOMP(eps=0.2), prior=0.5, restart=True)
    learner.learn(X[:1199], Y[:1199])
    oracle, when = make_oracle(learner), 0
    oracle.steps, oracle.largest_target = 1199, np.abs(Y[:1199]).max()
    for t in range(1199, 1240):
        before = state_of(learner)
        learner.learn(X[t : t + 1], Y[t : t + 1])
        if learner.restarts == 1 and when == 0:
            when = t
            assert np.linalg.norm(before.precision) > 10.0 * len(before.atoms)
            oracle.state = replace(before, precision=0.5 * KERNEL.gram(before.atoms))
            oracle.learn(X[t : t + 1], Y[t : t + 1], "same")
            expected, _, _ = compressed_step(oracle, 0.2)
            after = state_of(learner)
            f, g = after.values(KERNEL, POINTS), expected.values(KERNEL, POINTS)
            np.testing.assert_allclose(f, g, atol=1e-7)
            values = [np.linalg.eigvalsh(state.precision) for state in (after, expected)]
            np.testing.assert_allclose(values[0], values[1], rtol=1e-6, atol=1e-8)
    assert 1205 <= when < 1235  # the detector compares blocks of ten losses


@pytest.mark.parametrize(("changes", "expected"), [((), 0), ((1200,), 1), ((1200, 1900), 2)])
def test_restarts_follow_alarms(changes, expected):
    """The detector needs 500 samples after the first one, and after an alarm."""
    X, Y = stream(2150, Huber(0.3))
    for start in changes:
        Y[start:] *= -1.0
    learner = NewtonCOLK(KERNEL, Huber(0.3), restart=True).learn(X, Y)
    assert learner.restarts == expected == len(learner.drifts)


def test_an_atom_too_many_leaves_the_best_fit_on_the_others():
    """Σ (f − y)² + λ/2‖f‖² over the span that is left; what is late in it has the prior 2λ."""
    X, Y = stream(21, Squared())
    Y[20] += 3.0
    kernel = Gaussian(0.02)
    learner = NewtonCOLK(kernel, compressor=KOMP(max_atoms=20), prior="auto", trace=True)
    learner.learn(X, Y)
    assert learner.current_prior == 0.6
    atoms = learner.function.atoms
    late = (atoms == X[20]).astype(float)
    assert len(atoms) == 20
    assert late.sum() == 1
    K, k = kernel.gram(X[:20]), kernel(X[:20], X[20:])
    novelty = (1.0 - k.T @ np.linalg.solve(K, k)).item()
    at_X = kernel(X, atoms)
    curvature = 2.0 * at_X.T @ at_X + 0.6 * kernel.gram(atoms) + 0.6 * novelty * np.diag(late[:, 0])
    expected = kernel(POINTS, atoms) @ np.linalg.solve(curvature, 2.0 * at_X.T @ Y)
    np.testing.assert_allclose(learner.predict(POINTS), expected, atol=1e-8)
    before = kernel(POINTS, X) @ np.linalg.solve(
        2.0 * kernel.gram(X) @ kernel.gram(X) + 0.6 * kernel.gram(X)
        + 0.6 * novelty * np.diag(np.arange(21) == 20), 2.0 * kernel.gram(X) @ Y
    )  # fmt: skip
    assert learner.trace.error[-1] >= np.abs(before - expected).max() > 0.0
