"""Policy evaluation: known values, laws, invalid input."""

import pickle

import numpy as np
import pytest

from colk import DivergenceError
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.rl import (
    TDC,
    DoubleWell,
    KernelLSTD,
    KernelTD,
    LinearQuadratic,
    PolicyEvaluator,
    ResidualGradient,
    agreement,
    kernel_lstd,
    monte_carlo_values,
    simulate,
)
from colk.schedules import Exponential, PolyakRuppert

LEARNERS = [PolicyEvaluator, TDC, KernelTD, ResidualGradient, KernelLSTD]


def relative_error(learner, mdp, discount=0.9):
    states = simulate(mdp, 2000, seed=77).states
    truth = mdp.value(states, discount)
    return np.sqrt(np.mean((learner.value(states) - truth) ** 2) / np.mean(truth**2))


@pytest.mark.parametrize(("n_features", "most_atoms"), [(1, 60), (2, 250)])
def test_the_function_tracker_finds_the_closed_form(n_features, most_atoms):
    mdp = LinearQuadratic.spiral(n_features)
    stream = simulate(mdp, 60_000, seed=0)
    function = PolicyEvaluator(Gaussian(0.5), 0.9).learn(*stream)
    scalar = PolicyEvaluator(Gaussian(0.5), 0.9, tracks="scalar").learn(*stream)
    residual = ResidualGradient(Gaussian(0.5), 0.9).learn(*stream)
    assert relative_error(function, mdp) < 0.06
    assert relative_error(function, mdp) < 0.7 * relative_error(scalar, mdp)
    assert relative_error(function, mdp) < 0.5 * relative_error(residual, mdp)
    assert function.n_atoms < most_atoms


@pytest.mark.parametrize("learner_type", [KernelTD, TDC])
def test_the_other_consistent_methods_find_it_too(learner_type):
    mdp = LinearQuadratic.spiral(1)
    learner = learner_type(Gaussian(0.5), 0.9).learn(*simulate(mdp, 60_000, seed=0))
    assert relative_error(learner, mdp) < 0.06


def test_without_noise_the_residual_gradient_is_right():
    mdp = LinearQuadratic([[0.8]], noise=0.0)
    rng = np.random.default_rng(0)
    states = rng.normal(scale=0.5, size=(60_000, 1))
    rewards, ahead, ends = mdp.step(states, rng)
    learner = ResidualGradient(Gaussian(0.5), 0.9, step_size=0.5).learn(
        states, rewards, ahead, ends
    )
    truth = mdp.value(states, 0.9)
    assert np.sqrt(np.mean((learner.value(states) - truth) ** 2)) < 0.1 * truth.std()


def test_double_well_agrees_with_monte_carlo_and_lstd():
    mdp, kernel = DoubleWell(), Gaussian((0.4, 0.7))
    stream = simulate(mdp, 40_000, seed=0)
    assert stream.terminated.any()
    visited = simulate(mdp, 1500, seed=1, n_chains=20).states[::10]
    truth = monte_carlo_values(mdp, visited, 0.9, n_rollouts=60)
    learner = PolicyEvaluator(kernel, 0.9, compressor=KOMP(eps=0.03)).learn(*stream)
    anchor = kernel_lstd(kernel, 0.9, *stream, n_atoms=200)
    assert agreement(anchor(truth.states), truth.mean).correlation > 0.98
    assert agreement(learner.value(truth.states), truth.mean).correlation > 0.95


def test_terminal_states_do_not_bootstrap_and_truncated_ones_do():
    """One state that pays 1 and ends is worth 1; one that pays 1 for ever is worth 1/(1 − γ)."""
    n = 4000
    x, ones = np.zeros((n, 1)), np.ones(n)
    settings = {"discount": 0.5, "step_size": 0.5, "averaging": None}
    ended = PolicyEvaluator(Gaussian(1.0), **settings).learn(x, ones, x, np.ones(n, dtype=bool))
    endless = PolicyEvaluator(Gaussian(1.0), **settings).learn(x, ones, x)
    assert ended.value([[0.0]])[0] == pytest.approx(1.0, abs=1e-3)
    assert endless.value([[0.0]])[0] == pytest.approx(2.0, abs=1e-3)
    far = PolicyEvaluator(Gaussian(1.0), **settings).learn(x, ones, x + 50.0, ones)
    assert far.n_atoms == 1, "a terminal state is not learned from"


def test_bellman_error_leaves_out_the_noise():
    mdp = LinearQuadratic.spiral(1)
    stream = simulate(mdp, 20_000, seed=0)
    learner = PolicyEvaluator(Gaussian(0.5), 0.9).learn(*stream)
    early = PolicyEvaluator(Gaussian(0.5), 0.9).learn(*stream.part(slice(300)))
    fresh = simulate(mdp, 20_000, seed=5)
    noise = learner.temporal_differences(*fresh).std()
    assert learner.bellman_error(*fresh) < 0.25 * noise
    assert learner.bellman_error(*fresh) < 0.5 * early.bellman_error(*fresh)


@pytest.mark.parametrize("learner_type", LEARNERS)
def test_chunks_and_pickles_change_nothing(learner_type):
    stream = simulate(DoubleWell(), 600, seed=3)
    whole = learner_type(Gaussian((0.4, 0.7)), 0.9).learn(*stream)
    pieces = learner_type(Gaussian((0.4, 0.7)), 0.9)
    for start in range(0, 600, 150):
        pieces = pickle.loads(pickle.dumps(pieces)).learn(*stream.part(slice(start, start + 150)))
    assert pieces.function == whole.function
    assert pieces.steps == whole.steps == 600


def test_value_scales_with_the_rewards():
    stream = simulate(LinearQuadratic.spiral(1), 500, seed=0)
    small = PolicyEvaluator(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.01)).learn(*stream)
    large = PolicyEvaluator(Gaussian(0.5), 0.9, compressor=KOMP(eps=0.04)).learn(
        stream.states, 4.0 * stream.rewards, stream.next_states
    )
    np.testing.assert_allclose(large.function.weights, 4.0 * small.function.weights, rtol=1e-9)


@pytest.mark.parametrize(
    "averaging", [None, PolyakRuppert(burn_in=100), Exponential(rate=0.01)], ids=repr
)
def test_averages(averaging):
    learner = PolicyEvaluator(Gaussian(0.5), 0.9, averaging=averaging)
    learner.learn(*simulate(LinearQuadratic.spiral(1), 400, seed=0))
    assert (learner.function == learner.last_function) == (averaging is None)


GOOD = {"states": [[0.0], [1.0]], "rewards": [0.0, 1.0], "next_states": [[1.0], [0.0]]}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"states": [0.0, 1.0]}, "states must have shape"),
        ({"states": [[np.nan], [1.0]]}, "states contains NaN"),
        ({"next_states": [[1.0]]}, "next_states has 1 rows, but states has 2"),
        ({"next_states": [[1.0, 2.0], [0.0, 1.0]]}, "next_states has 2 features, expected 1"),
        ({"rewards": [1.0]}, "rewards has 1 entries, expected 2"),
        ({"rewards": [np.inf, 1.0]}, "rewards contains infinity"),
        ({"terminated": [0.5, 1.0]}, "terminated must consist of True and False"),
        ({"terminated": [True]}, "terminated has 1 entries, expected 2"),
    ],
)
def test_bad_transitions_are_refused_and_change_nothing(bad, message):
    learner = PolicyEvaluator(Gaussian(0.5), 0.9).learn(**GOOD)
    before = learner.last_function
    with pytest.raises(ValueError, match=message):
        learner.learn(**{**GOOD, **bad})
    assert learner.last_function == before
    assert learner.steps == 2


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"discount": 0.0}, ValueError, "discount must lie in"),
        ({"discount": 1.1}, ValueError, "discount must lie in"),
        ({"step_size": -1.0}, ValueError, "step_size must be"),
        ({"tracking_rate": 1.5}, ValueError, "tracking_rate must lie in"),
        ({"tracks": "vector"}, ValueError, "tracks must be one of"),
        ({"regularization": 3.0}, ValueError, "must be below 1"),
        ({"compressor": 0.1}, TypeError, "compressor must be a KOMP"),
        ({"averaging": 0.1}, TypeError, "averaging must be"),
        ({"eps_ratio": 0.0}, ValueError, "eps_ratio must be"),
        ({"kernel": "gaussian"}, TypeError, "kernel must be a Kernel"),
    ],
)
def test_bad_settings_are_refused(settings, kind, message):
    with pytest.raises(kind, match=message):
        PolicyEvaluator(**{"kernel": Gaussian(0.5), "discount": 0.9, **settings})


def test_questions_before_the_first_transition_are_refused():
    learner = PolicyEvaluator(Gaussian(0.5), 0.9)
    assert (learner.n_atoms, learner.steps, learner.error_spent) == (0, 0, 0.0)
    for question in (lambda: learner.function, lambda: learner.value([[0.0]])):
        with pytest.raises(ValueError, match="call learn"):
            question()
    with pytest.raises(ValueError, match="trace=True"):
        _ = learner.trace
    assert learner.learn(np.empty((0, 1)), [], np.empty((0, 1))).n_atoms == 0


def test_divergence_keeps_the_last_good_state():
    stream = simulate(LinearQuadratic.spiral(1), 5000, seed=0)
    learner = KernelTD(Gaussian(0.5), 0.9, step_size=50.0)
    with pytest.raises(DivergenceError, match="lower step_size"):
        learner.learn(*stream)
    assert np.isfinite(learner.last_function.weights).all()
    assert 0 < learner.steps < 5000
