"""KernelLSTD: known values and invalid input."""

import numpy as np
import pytest

from colk import DivergenceError
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.rl import (
    KernelLSTD,
    KernelTD,
    LinearQuadratic,
    PolicyEvaluator,
    evaluate_policy,
    kernel_lstd,
    simulate,
)

FIRST_ORDER = (PolicyEvaluator, KernelTD)


def relative_error(value, mdp):
    states = simulate(mdp, 2000, seed=77).states
    truth = mdp.value(states, 0.9)
    return np.sqrt(np.mean((value(states) - truth) ** 2) / np.mean(truth**2))


@pytest.mark.parametrize(("n_features", "most_atoms"), [(1, 20), (2, 120)])
def test_it_finds_the_closed_form_sooner_than_first_order(n_features, most_atoms):
    mdp, kernel = LinearQuadratic.spiral(n_features), Gaussian(0.5)
    errors = []
    for seed in (1, 2, 3):
        stream = simulate(mdp, 5000, seed=seed)
        learners = [kind(kernel, 0.9).learn(*stream) for kind in FIRST_ORDER]
        learner = KernelLSTD(kernel, 0.9).learn(*stream)
        batch = kernel_lstd(kernel, 0.9, *stream)
        values = [batch, learner.value, *(other.value for other in learners)]
        errors.append([relative_error(value, mdp) for value in values])
        assert learner.n_atoms < most_atoms
    at_once, recursive, *others = np.mean(errors, axis=0)
    assert recursive < 0.09
    assert recursive < 1.6 * at_once
    assert recursive < 0.75 * min(others)


def test_terminal_states_do_not_bootstrap_and_truncated_ones_do():
    n = 4000
    x, ones = np.zeros((n, 1)), np.ones(n)
    ended = KernelLSTD(Gaussian(1.0), 0.5).learn(x, ones, x, ones)
    endless = KernelLSTD(Gaussian(1.0), 0.5).learn(x, ones, x)
    assert ended.value([[0.0]])[0] == pytest.approx(n / (n + 0.5), abs=1e-12)
    assert endless.value([[0.0]])[0] == pytest.approx(n / (0.5 * n + 0.5), abs=1e-12)


def test_value_scales_with_the_rewards():
    stream = simulate(LinearQuadratic.spiral(1), 500, seed=0)
    small = KernelLSTD(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.01)).learn(*stream)
    large = KernelLSTD(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.04)).learn(
        stream.states, 4.0 * stream.rewards, stream.next_states
    )
    np.testing.assert_allclose(large.function.weights, 4.0 * small.function.weights, rtol=1e-9)


def test_most_atoms_are_kept_to():
    stream = simulate(LinearQuadratic.spiral(2), 5000, seed=0)
    learner = KernelLSTD(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.01, max_atoms=30))
    assert learner.learn(*stream).n_atoms == 30
    assert learner._stream.dictionary.drift() < 1e-9


def test_a_singular_system_is_refused_and_the_state_stays():
    """Off the policy's own stream: V(x) = 1 + 0.9·V(x') with V(x') larger than V(x) in the span."""
    learner = KernelLSTD(Gaussian(1.0), 0.9)
    learner.learn([[0.0], [3.0]], [1.0, 1.0], [[9.0], [9.0]], [True, True])
    steps, refused = learner.steps, []
    for t in range(100):
        before = learner.value([[0.0], [3.0]])
        try:
            learner.learn([[1.5 * (t % 2)]], [1.0], [[0.6 + 0.3 * (t % 2)]])
        except DivergenceError as error:
            refused.append(str(error))
            np.testing.assert_array_equal(learner.value([[0.0], [3.0]]), before)
    assert "becomes singular; raise prior (now 0.5)" in refused[0]
    assert learner.steps == steps + 100 - len(refused)


def test_pendulum():
    learner = KernelLSTD(Gaussian((0.5, 0.5, 2.0)), discount=0.5)
    found = evaluate_policy(
        "Pendulum-v1", lambda _: [0.0], learner, n_transitions=2000, n_held_out=20, n_rollouts=2
    )
    assert found.agreement.correlation > 0.95


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": 0.0}, "prior must be"),
        ({"discount": 1.5}, "discount must"),
        ({"compressor": KOMP(parsimony=1.0)}, "KernelLSTD needs KOMP with eps or max_atoms"),
        ({"compressor": KOMP(fraction=0.1)}, "KernelLSTD needs KOMP with eps or max_atoms"),
    ],
    ids=str,
)
def test_bad_settings_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        KernelLSTD(Gaussian(0.5), **{"discount": 0.9, **settings})
