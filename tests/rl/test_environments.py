"""Gymnasium environments: learning, comparison with rollouts, errors."""

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.rl import (
    KernelLSTD,
    KernelTD,
    PolicyEvaluator,
    evaluate_policy,
    held_out_values,
    rollout,
)

gymnasium = pytest.importorskip("gymnasium")


class Countdown(gymnasium.Env):
    """One reward a step; the state counts 3, 2, 1, and 0 is the end. Episodes start at 3."""

    observation_space = gymnasium.spaces.Box(0.0, 3.0, shape=(1,))
    action_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return np.array([3.0]), {}

    def step(self, action):
        self.left -= 1
        return np.array([float(self.left)]), 1.0, self.left == 0, False, {}


def stay(observation):
    return 0


def test_rollouts_end_where_the_environment_says():
    transitions = rollout(Countdown(), stay, 7)
    np.testing.assert_array_equal(transitions.states[:, 0], [3, 2, 1, 3, 2, 1, 3])
    np.testing.assert_array_equal(transitions.terminated, [0, 0, 1, 0, 0, 1, 0])


def test_truncated_episodes_are_not_terminal():
    limited = gymnasium.wrappers.TimeLimit(Countdown(), max_episode_steps=2)
    transitions = rollout(limited, stay, 6)
    np.testing.assert_array_equal(transitions.states[:, 0], [3, 2, 3, 2, 3, 2])
    assert not transitions.terminated.any()


def test_held_out_values_ignore_the_time_limit_and_stop_at_the_end():
    limited = gymnasium.wrappers.TimeLimit(Countdown(), max_episode_steps=2)
    found = held_out_values(limited, stay, 0.5, n_states=6, n_rollouts=2, spacing=1)
    known = {2.0: 1.5, 1.0: 1.0}
    np.testing.assert_allclose(found.mean, [known[state] for state in found.states[:, 0]])
    np.testing.assert_array_equal(found.half_width, 0.0)


def test_evaluation_finds_known_values_and_tells_its_progress():
    seen = []
    learner = KernelTD(Gaussian(0.3), 0.5)
    found = evaluate_policy(
        Countdown(),
        stay,
        learner,
        n_transitions=5000,
        n_held_out=20,
        n_rollouts=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert found.agreement.nrmse < 0.05
    assert seen == [(2000, 5000), (4000, 5000), (5000, 5000)]
    np.testing.assert_array_equal(found.order[:, 0], [2000, 4000, 5000])
    assert found.order[-1, 1] == learner.n_atoms == found.learner.n_atoms
    np.testing.assert_allclose(learner.value([[3.0], [1.0]]), [1.75, 1.0], atol=0.05)


class Even(Countdown):
    """One reward a step, without end: the same value in all states."""

    def step(self, action):
        self.left = self.left % 3 + 1
        return np.array([float(self.left)]), 1.0, False, False, {}


class Locked(Countdown):
    """An environment that cannot be copied."""

    def __deepcopy__(self, memo):
        raise TypeError("a handle of the simulator")


def evaluated(env, discount=0.5, n_held_out=10, **settings):
    learner = KernelTD(Gaussian(0.3), discount)
    return evaluate_policy(env, stay, learner, 2000, n_held_out, 2, **settings)


def test_equal_values_are_learned_though_nothing_correlates_with_them():
    with pytest.warns(RuntimeWarning, match="agreement is None, because all 10 held-out states"):
        found = evaluated(Even())
    assert found.agreement is None
    np.testing.assert_allclose(found.monte_carlo.mean, 2.0, atol=0.01)
    expected = found.learner.value(found.monte_carlo.states) - found.monte_carlo.mean
    assert found.rmse == pytest.approx(np.sqrt(np.mean(expected**2)))
    assert found.rmse < 0.1


@pytest.mark.parametrize(
    ("name", "policy", "bandwidth"),
    [
        ("CartPole-v1", lambda o: int(o @ [0.1, 0.2, 1.0, 0.5] > 0), (1.0, 1.0, 0.2, 1.0)),
        ("FrozenLake-v1", lambda o: 0, 0.5),
    ],
)
def test_poles_that_never_fall_and_lakes_without_a_goal(name, policy, bandwidth):
    with pytest.warns(RuntimeWarning) as told:
        found = evaluate_policy(name, policy, KernelTD(Gaussian(bandwidth), 0.9), 1000, 10, 2)
    assert any("agreement is None" in str(each.message) for each in told)
    assert found.agreement is None
    assert np.isfinite(found.rmse)
    assert found.learner.steps == 1000


def test_without_anything_to_compare_with():
    nothing = evaluated(Countdown(), n_held_out=0)
    assert nothing.monte_carlo is None
    assert np.isnan(nothing.rmse)
    with pytest.warns(RuntimeWarning, match="agreement is None, because fewer than 3 states"):
        two = evaluated(Countdown(), n_held_out=2)
    assert two.agreement is None
    with pytest.warns(RuntimeWarning, match="cannot be copied .a handle of the simulator"):
        locked = evaluated(Locked())
    assert locked.agreement is None
    np.testing.assert_allclose(locked.learner.value([[1.0]]), 1.0, atol=0.1)


def test_without_discount_the_horizon_is_asked_for_before_anything_is_learned():
    learner = KernelTD(Gaussian(0.3), 1.0)
    with pytest.raises(ValueError, match="needs a horizon"):
        evaluate_policy(Countdown(), stay, learner, 100)
    assert learner.steps == 0
    assert evaluated(Countdown(), discount=1.0, horizon=5).monte_carlo.horizon == 5


def test_progress_goes_to_the_standard_error(capsys):
    evaluate_policy(
        Countdown(),
        stay,
        KernelTD(Gaussian(0.3), 0.5),
        n_transitions=30,
        n_held_out=4,
        n_rollouts=2,
        progress=True,
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("\r30 of 30 transitions\n")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: rollout(3, stay, 5), TypeError, "env must be a Gymnasium environment"),
        (lambda: rollout(Countdown(), stay, 0), ValueError, "n_transitions must be at least 1"),
        (lambda: evaluate_policy(Countdown(), stay, None), TypeError, "must be a ValueLearner"),
        (lambda: held_out_values(Countdown(), stay, 1.0), ValueError, "needs a horizon"),
    ],
)
def test_bad_input_is_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_missing_agreement_and_a_large_error_are_explained():
    """A pole that never falls: all returns are equal, and gradient steps do not reach them."""

    def upright(observation):
        return int(observation[2] + 0.5 * observation[3] > 0.0)

    kernel, settings = Gaussian((2.0, 1.0, 0.1, 1.0)), {"n_held_out": 4, "n_rollouts": 2}
    reason = r"agreement is None, because all 4 held-out states have the return 9\.99"
    learner = KernelLSTD(kernel, discount=0.9)
    with pytest.warns(RuntimeWarning, match=reason) as told:
        exact = evaluate_policy("CartPole-v1", upright, learner, n_transitions=3000, **settings)
    assert exact.agreement is None
    assert exact.rmse < 0.3
    assert not any("off by" in str(each.message) for each in told)
    learner = PolicyEvaluator(kernel, discount=0.9)
    with pytest.warns(RuntimeWarning) as told:
        rough = evaluate_policy("CartPole-v1", upright, learner, n_transitions=3000, **settings)
    assert rough.rmse > 0.5
    assert any("the learned values have an RMS error" in str(each.message) for each in told)
    with pytest.warns(RuntimeWarning, match="fewer than 3 states are held out"):
        evaluate_policy(
            "CartPole-v1",
            upright,
            KernelLSTD(kernel, discount=0.9),
            n_transitions=3000,
            n_held_out=2,
            n_rollouts=2,
        )
