"""The built-in processes, Monte Carlo and LSTD, which other tests use as truth."""

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.rl import (
    DoubleWell,
    LinearQuadratic,
    agreement,
    horizon_of,
    kernel_lstd,
    monte_carlo_values,
    simulate,
)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_closed_form_solves_the_bellman_equation(n_features):
    """r + γE[V(x')] = V(x), the expectation of a quadratic by its two moments."""
    mdp = LinearQuadratic.spiral(n_features, noise=0.5)
    states = np.random.default_rng(0).normal(size=(20, n_features))
    rewards = mdp.step(states, np.random.default_rng(1))[0]
    ahead = states @ mdp.dynamics.T
    # The mean over ± one standard deviation √p along each axis is exact for quadratics.
    shifts = mdp.noise * np.sqrt(n_features) * np.vstack([np.eye(n_features), -np.eye(n_features)])
    expected = np.mean([mdp.value(ahead + shift, 0.9) for shift in shifts], axis=0)
    np.testing.assert_allclose(rewards + 0.9 * expected, mdp.value(states, 0.9), rtol=1e-10)


def test_chains_keep_the_stationary_law():
    mdp = LinearQuadratic.spiral(2)
    stream = simulate(mdp, 100_000, seed=0, n_chains=5000)
    first, last = np.cov(stream.states[:5000].T), np.cov(stream.next_states[-5000:].T)
    np.testing.assert_allclose(first, last, atol=0.02)


def test_monte_carlo_intervals_cover_the_truth():
    mdp = LinearQuadratic.spiral(2)
    states = simulate(mdp, 300, seed=0, n_chains=300).states
    found = monte_carlo_values(mdp, states, 0.9, n_rollouts=100, horizon=120)
    covered = np.abs(found.mean - mdp.value(states, 0.9)) <= found.half_width
    assert 0.9 < covered.mean() < 0.99
    longer = monte_carlo_values(mdp, states[:60], 0.9, n_rollouts=400, horizon=120)
    assert longer.half_width.mean() == pytest.approx(0.5 * found.half_width[:60].mean(), rel=0.1)


def test_monte_carlo_stops_at_terminal_states():
    """A particle that leaves at once earns its reward and nothing more."""
    mdp = DoubleWell()
    found = monte_carlo_values(mdp, [[1.75, 50.0]], 0.9, n_rollouts=5)
    assert found.mean[0] == pytest.approx(-((1.75 - 1.0) ** 2))
    assert found.half_width[0] == pytest.approx(0.0, abs=1e-12)


def test_lstd_finds_the_closed_form():
    mdp = LinearQuadratic.spiral(2)
    V = kernel_lstd(Gaussian(0.7), 0.9, *simulate(mdp, 40_000, seed=0), n_atoms=120)
    states = simulate(mdp, 2000, seed=1).states
    truth = mdp.value(states, 0.9)
    assert np.sqrt(np.mean((V(states) - truth) ** 2) / np.mean(truth**2)) < 0.02
    assert V.n_atoms <= 120


def test_lstd_without_discounting_ahead_is_regression():
    """Where every transition is terminal, V is the kernel ridge regression of the reward."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(300, 1))
    rewards = np.sin(3.0 * x[:, 0])
    V = kernel_lstd(Gaussian(0.5), 0.9, x, rewards, x, np.ones(300), regularization=1e-8)
    np.testing.assert_allclose(V(x), rewards, atol=1e-3)


def test_equal_values_have_an_error_but_no_correlation():
    found = agreement([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    assert np.isnan(found.correlation)
    assert found.nrmse == pytest.approx(1.0)


def test_agreement_of_known_errors():
    truth = np.random.default_rng(0).normal(size=400)
    shifted = agreement(truth + 0.5 * truth.std(), truth)
    assert shifted.correlation == pytest.approx(1.0)
    assert shifted.nrmse == pytest.approx(0.5)
    assert shifted.nrmse_interval[0] < 0.5 < shifted.nrmse_interval[1]
    noisy = agreement(truth + np.random.default_rng(1).normal(size=400), truth)
    low, high = noisy.correlation_interval
    assert low < noisy.correlation < high
    assert noisy.correlation == pytest.approx(np.corrcoef(truth, noisy_values(truth))[0, 1])


def noisy_values(truth):
    return truth + np.random.default_rng(1).normal(size=len(truth))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearQuadratic([[1.0]]), "must be stable"),
        (lambda: LinearQuadratic([[0.5, 0.1]]), "square"),
        (lambda: LinearQuadratic(0.5 * np.eye(2), [[1.0, 1.0], [0.0, 1.0]]), "symmetric"),
        (lambda: LinearQuadratic([[0.5]]).value([[0.0]], 1.0), "infinite"),
        (lambda: horizon_of(1.0), "needs a horizon"),
        (lambda: agreement([1.0, 2.0], [1.0, 2.0]), "at least 3"),
        (lambda: agreement([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), "differ"),
        (lambda: monte_carlo_values(DoubleWell(), [[0.0]], 0.9), "expected 2"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_only_processes_are_simulated():
    with pytest.raises(TypeError, match="mdp must be an MDP"):
        simulate("pendulum", 10, seed=0)
