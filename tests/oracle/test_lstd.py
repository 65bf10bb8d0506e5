"""Recursive LSTD equals its NumPy reference and the batch solution on the same dictionary."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Polynomial
from colk.reference import ReferenceLSTD
from colk.rl import KernelLSTD, LinearQuadratic, Transitions, kernel_lstd, simulate

DISCOUNT = 0.9
POINTS = np.random.default_rng(9).uniform(-1.0, 1.0, size=(30, 2))


def transitions(n, seed=0):
    """Random transitions in the plane, one in six of them terminal."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1.0, 1.0, size=(n, 2))
    ahead = 0.8 * states + 0.3 * rng.normal(size=(n, 2))
    rewards = np.sin(2.0 * states[:, 0]) + 0.2 * rng.normal(size=n)
    return Transitions(states, rewards, ahead, rng.random(n) < 1 / 6)


@pytest.mark.parametrize("kernel", [Gaussian(0.4), 0.5 * Laplacian(4.0)], ids=repr)
@pytest.mark.parametrize(
    "limits", [{"eps": 0.05}, {"eps": 0.0}, {"eps": 0.02, "max_atoms": 7}], ids=str
)
def test_engine_equals_twin_step_by_step(kernel, limits):
    twin = ReferenceLSTD(kernel, 2, DISCOUNT, 1.0, **limits)
    learner = KernelLSTD(kernel, DISCOUNT, prior=1.0, compressor=KOMP(**limits), trace=True)
    stream = transitions(60)
    for i, (x, reward, ahead, terminated) in enumerate(zip(*stream, strict=True)):
        learner.learn(*stream.part(slice(i, i + 1)))
        delta = twin.step(x, reward, ahead, bool(terminated))
        assert learner.trace.difference[-1] == pytest.approx(delta, abs=1e-7)
        np.testing.assert_array_equal(
            np.sort(learner.function.atoms, axis=0), np.sort(twin.atoms, axis=0)
        )
        expected = kernel(POINTS, twin.atoms) @ twin.weights
        np.testing.assert_allclose(learner.value(POINTS), expected, atol=1e-7)
        assert learner.trace.value_error[-1] == pytest.approx(twin.error, rel=1e-4, abs=1e-7)
    if limits["eps"] > 0.0:
        assert learner.trace.dropped.sum() > 3
    assert learner.n_atoms > 5


def test_where_nothing_is_compressed_it_is_the_batch_solution():
    """Learned backwards every state ahead is an atom already, and nothing is left out."""
    rng = np.random.default_rng(1)
    walk = np.cumsum(0.4 * rng.normal(size=(61, 2)), axis=0)
    ends = np.arange(60) == 59
    stream = Transitions(walk[:60], np.sin(walk[:60, 0]), walk[1:], ends)
    kernel = Gaussian(0.2)
    backwards = [part[::-1] for part in stream]
    learner = KernelLSTD(kernel, DISCOUNT, prior=0.6, compressor=KOMP(eps=0.0)).learn(*backwards)
    batch = kernel_lstd(kernel, DISCOUNT, *stream, regularization=0.6 / 60)
    assert learner.n_atoms == batch.n_atoms == 60
    np.testing.assert_allclose(learner.value(walk), batch(walk), atol=1e-9)


def test_in_a_span_of_few_dimensions_it_is_the_batch_solution():
    """Polynomials of degree 2 in the plane: six atoms, which transitions that end span first."""
    first = transitions(6, seed=2)
    first = first._replace(terminated=np.ones(6, dtype=bool))
    rest = simulate(LinearQuadratic.spiral(2), 4000, seed=3)
    stream = Transitions(*(np.concatenate(pair) for pair in zip(first, rest, strict=True)))
    learner = KernelLSTD(Polynomial(2), DISCOUNT, prior=2.0, compressor=KOMP(eps=0.0))
    learner.learn(*stream)
    batch = kernel_lstd(Polynomial(2), DISCOUNT, *stream, regularization=2.0 / len(stream.rewards))
    assert learner.n_atoms == batch.n_atoms == 6
    expected = batch(stream.states[:500])
    np.testing.assert_allclose(learner.value(stream.states[:500]), expected, rtol=1e-6, atol=1e-8)


def test_on_a_dictionary_that_stands_it_is_the_batch_solution():
    """(A + Σ k dᵀ) w = A w₀ + Σ r k for all that comes after A and w₀, in 6,000 updates."""
    mdp, kernel = LinearQuadratic.spiral(1), Gaussian(0.5)
    learner = KernelLSTD(kernel, DISCOUNT).learn(*simulate(mdp, 3000, seed=0))
    atoms, start = learner.function.atoms, learner.function.weights
    packed = learner._stream.pack()
    U = packed["dictionary"]["factor"].T
    A = np.linalg.inv(U @ packed["inverse"] @ U.T)
    rng = np.random.default_rng(4)
    states = atoms[rng.integers(len(atoms), size=6000)]
    rewards, ahead, ends = mdp.step(states, rng)
    k, k_ahead = kernel(states, atoms), kernel(ahead, atoms)
    learner.learn(states, rewards, ahead, ends)
    np.testing.assert_array_equal(learner.function.atoms, atoms)
    system = A + k.T @ (k - DISCOUNT * k_ahead)
    expected = np.linalg.solve(system, A @ start + k.T @ rewards)
    np.testing.assert_allclose(learner.value(atoms), kernel(atoms, atoms) @ expected, rtol=1e-6)


def test_what_is_forgotten_is_within_eps():
    stream = simulate(LinearQuadratic.spiral(2), 1000, seed=0)
    learner = KernelLSTD(Gaussian(0.5), DISCOUNT, compressor=KOMP(eps=0.03), trace=True)
    errors = learner.learn(*stream).trace.value_error
    assert 0.0 < errors.max() <= 0.03
    assert learner.error_spent == pytest.approx(errors.sum())
