"""Recursive LSTD solves the system of all transitions, and KOMP compresses its solution."""

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Polynomial
from colk.reference import fit_weights, komp
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


def state_of(learner):
    """Atoms, weights w, and the system matrix A = λK + Σ k(k − γk')ᵀ over the weights."""
    packed = learner._stream.pack()
    U = packed["dictionary"]["factor"].T
    f = learner.function
    return f.atoms, f.weights, np.linalg.inv(U @ packed["inverse"] @ U.T)


def solved(kernel, state, transition):
    """The solution with one transition more, in the span of the atoms: (A + k dᵀ)w' = Aw + rk."""
    (atoms, w, A), (x, reward, ahead, terminated) = state, transition
    k, k_ahead = (kernel(atoms, point[None])[:, 0] for point in (x, ahead))
    system = A + np.outer(k, k - (0.0 if terminated else DISCOUNT) * k_ahead)
    return atoms, np.linalg.solve(system, A @ w + reward * k), system


def with_atom(kernel, state, x, prior):
    """Add x to the atoms: earlier transitions know V's projection, the rest has the prior."""
    atoms, w, A = state
    onto = np.linalg.solve(kernel(atoms), kernel(atoms, x[None]))
    T = np.hstack([np.eye(len(atoms)), onto])
    extended = T.T @ A @ T
    extended[-1, -1] += prior * (kernel(x[None]) - kernel(x[None], atoms) @ onto).item()
    return np.vstack([atoms, x]), np.append(w, 0.0), extended


def compressed(kernel, state, transition, prior, eps, max_atoms=np.inf):
    """The state after a transition, and the H-norm of what V loses against the wider span."""
    (atoms, w, _), x = state, transition[0]
    kept = solved(kernel, state, transition)
    full = solved(kernel, with_atom(kernel, state, x, prior), transition)
    lost = full[1] - np.append(kept[1], 0.0)
    error = np.sqrt(lost @ kernel(full[0]) @ lost)
    enters = error > eps
    if enters and len(atoms) >= max_atoms:
        costs = [
            v**2 / np.diag(np.linalg.inv(kernel(d))) for d, v in ((atoms, w), (full[0], full[1]))
        ]
        enters = costs[1][-1] > costs[0].min()
    if not enters:
        return kept, error
    left, weights, error, _ = komp(kernel, full[0], full[1][:, None], eps, at_most=max_atoms)
    T = fit_weights(kernel, full[0][left], full[0], np.eye(len(full[0])))
    return (full[0][left], weights[:, 0], np.linalg.inv(T @ np.linalg.inv(full[2]) @ T.T)), error


@pytest.mark.parametrize("kernel", [Gaussian(0.4), 0.5 * Laplacian(4.0)], ids=repr)
@pytest.mark.parametrize(
    "limits", [{"eps": 0.05}, {"eps": 0.0}, {"eps": 0.02, "max_atoms": 7}], ids=str
)
def test_a_step_is_the_solution_compressed_by_komp(kernel, limits):
    learner = KernelLSTD(kernel, DISCOUNT, prior=1.0, compressor=KOMP(**limits), trace=True)
    stream = transitions(60)
    state = np.empty((0, 2)), np.empty(0), np.empty((0, 0))
    for i, transition in enumerate(zip(*stream, strict=True)):
        x, reward, ahead, terminated = transition
        before = kernel(np.array([x, ahead]), state[0]) @ state[1]
        delta = reward + (0.0 if terminated else DISCOUNT) * before[1] - before[0]
        expected, error = compressed(kernel, state, transition, 1.0, **limits)
        learner.learn(*stream.part(slice(i, i + 1)))
        state = state_of(learner)
        assert learner.trace.difference[-1] == pytest.approx(delta, abs=1e-8)
        np.testing.assert_array_equal(np.sort(state[0], axis=0), np.sort(expected[0], axis=0))
        at = kernel(POINTS, expected[0])
        np.testing.assert_allclose(learner.value(POINTS), at @ expected[1], atol=1e-7)
        found, wanted = (
            np.linalg.solve(A, kernel(atoms, POINTS)).T @ kernel(atoms, POINTS)
            for atoms, _, A in (state, expected)
        )
        np.testing.assert_allclose(found.T, wanted.T, atol=1e-6)
        assert learner.trace.value_error[-1] == pytest.approx(error, rel=1e-4, abs=1e-7)
    if limits["eps"] > 0.0:
        assert learner.trace.dropped.sum() > 3
    assert learner.n_atoms > 5


def test_where_nothing_is_compressed_it_is_the_batch_solution():
    """Learned backwards, every next state is an atom already, and nothing is left out."""
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


def test_on_a_fixed_dictionary_it_is_the_batch_solution():
    """(A + Σ k dᵀ) w = A w₀ + Σ r k over 6,000 transitions that follow A and w₀."""
    mdp, kernel = LinearQuadratic.spiral(1), Gaussian(0.5)
    learner = KernelLSTD(kernel, DISCOUNT).learn(*simulate(mdp, 3000, seed=0))
    atoms, start = learner.function.atoms, learner.function.weights
    A = state_of(learner)[2]
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
