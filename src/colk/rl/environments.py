"""Policy evaluation on Gymnasium environments, which needs `pip install "colk[rl]"`."""

import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk._extras import needed_for
from colk._validation import Array, check_count
from colk.rl.base import ValueLearner
from colk.rl.monte_carlo import Agreement, MonteCarloValues, agreement, horizon_of
from colk.rl.transitions import Transitions

__all__ = ["Policy", "PolicyEvaluation", "evaluate_policy", "rollout"]

Policy = Callable[[Any], Any]
Progress = Callable[[int, int], None]

# Transitions per call of the learner.
_CHUNK = 2000
# An RMS error above this share of the returns causes a warning.
_LARGE_ERROR = 0.05


@dataclass(frozen=True)
class PolicyEvaluation:
    """Result of `evaluate_policy`.

    Attributes
    ----------
    learner : ValueLearner
        The learned value function.
    monte_carlo : MonteCarloValues or None
        Mean returns with intervals, from held-out states; None if the environment cannot be copied
        or `n_held_out` is 0.
    agreement : Agreement or None
        Correlation and normalised RMS error of the learned values at these states. None if there
        are fewer than 3 states, or if all have the same return (for example, a pole that never
        falls); use `rmse` then.
    rmse : float
        RMS difference between learned values and mean returns, in units of rewards; NaN without
        held-out states.
    order : array of shape (k, 2)
        Number of transitions and model order during learning.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import PolicyEvaluator, evaluate_policy
    >>> learner = PolicyEvaluator(Gaussian((0.5, 0.5, 2.0)), discount=0.5)
    >>> found = evaluate_policy("Pendulum-v1", lambda observation: [0.0], learner,
    ...                         n_transitions=4000, n_held_out=20, n_rollouts=2)
    >>> found.order.shape[1]
    2
    """

    learner: ValueLearner
    monte_carlo: MonteCarloValues | None
    agreement: Agreement | None
    rmse: float
    order: Array


def _made(env: Any) -> Any:
    """Return an environment; make it if `env` is a name."""
    if not isinstance(env, str):
        for name in ("reset", "step"):
            if not callable(getattr(env, name, None)):
                raise TypeError(
                    f"env must be a Gymnasium environment or its name, got {type(env).__name__}"
                )
        return env
    with needed_for("an environment's name", extra="rl"):
        import gymnasium
    return gymnasium.make(env)


def _observed(observation: Any) -> Array:
    return np.asarray(observation, dtype=np.float64).reshape(-1)


def _walk(env: Any, policy: Policy, seed: int) -> Iterator[tuple[Any, float, Any, bool]]:
    """Yield transitions forever; begin a new episode when one ends or is truncated."""
    observation, _ = env.reset(seed=seed)
    while True:
        ahead, reward, terminated, truncated, _ = env.step(policy(observation))
        yield observation, float(reward), ahead, bool(terminated)
        observation = env.reset()[0] if terminated or truncated else ahead


def _gather(walk: Iterator[tuple[Any, float, Any, bool]], n: int) -> Transitions:
    rows = [next(walk) for _ in range(n)]
    return Transitions(
        np.array([_observed(row[0]) for row in rows]),
        np.array([row[1] for row in rows]),
        np.array([_observed(row[2]) for row in rows]),
        np.array([row[3] for row in rows]),
    )


def rollout(env: Any, policy: Policy, n_transitions: int, seed: int = 0) -> Transitions:
    """Return transitions of an environment under a policy, episode after episode.

    Parameters
    ----------
    env : gymnasium.Env or str
        The environment, or its name.
    policy : callable
        Function from observation to action.
    n_transitions : int
        Number of transitions.
    seed : int
        Seed of the environment.

    Examples
    --------
    >>> from colk.rl import rollout
    >>> rollout("Pendulum-v1", lambda observation: [0.0], 5).states.shape
    (5, 3)
    """
    return _gather(_walk(_made(env), policy, seed), check_count(n_transitions, "n_transitions"))


def _returns(env: Any, policy: Policy, observation: Any, settings: "_Rollouts") -> list[float]:
    """Return the discounted returns of independent rollouts from the current state."""
    totals = []
    for _ in range(settings.n_rollouts):
        branch = copy.deepcopy(env.unwrapped)
        branch.np_random = settings.rng.spawn(1)[0]
        seen, weight, total = observation, 1.0, 0.0
        for _ in range(settings.horizon):
            seen, reward, terminated, _, _ = branch.step(policy(seen))
            total += weight * float(reward)
            weight *= settings.discount
            if terminated:
                break
        totals.append(total)
    return totals


@dataclass(frozen=True)
class _Rollouts:
    discount: float
    n_rollouts: int
    horizon: int
    rng: np.random.Generator


def held_out_values(
    env: Any,
    policy: Policy,
    discount: float,
    n_states: int = 200,
    n_rollouts: int = 16,
    spacing: int = 37,
    horizon: int | None = None,
    confidence: float = 0.95,
    seed: int = 1,
) -> MonteCarloValues:
    """Return Monte-Carlo values with intervals at states that the policy visits.

    Rollouts branch off a trajectory every `spacing` transitions. Each rollout uses a copy of the
    environment in its current state, without the time limit and with its own random generator.

    Parameters
    ----------
    env, policy, discount, seed
        As in `evaluate_policy`.
    n_states, n_rollouts, spacing : int, default=200, 16 and 37
        Number of states, rollouts per state, and transitions between states.
    horizon : int, optional
        Steps per rollout. Default: the smallest h with γ^h ≤ 0.001.
    confidence : float, default=0.95
        Coverage of the intervals.

    Examples
    --------
    >>> from colk.rl import held_out_values
    >>> found = held_out_values("Pendulum-v1", lambda observation: [0.0], 0.5, 3, n_rollouts=2)
    >>> found.states.shape, found.horizon
    ((3, 3), 10)
    """
    check_count(n_states, "n_states")
    check_count(n_rollouts, "n_rollouts", at_least=2)
    check_count(spacing, "spacing")
    length = horizon_of(discount) if horizon is None else check_count(horizon, "horizon")
    settings = _Rollouts(discount, n_rollouts, length, np.random.default_rng(seed))
    environment = _made(env)
    walk = _walk(environment, policy, seed)
    states, returns = [], []
    for _ in range(n_states):
        for _ in range(spacing - 1):
            next(walk)
        _, _, ahead, terminated = next(walk)
        while terminated:  # a terminal state always has value 0
            _, _, ahead, terminated = next(walk)
        states.append(_observed(ahead))
        returns.append(_returns(environment, policy, ahead, settings))
    return MonteCarloValues.from_returns(np.array(states), np.array(returns), length, confidence)


def evaluate_policy(
    env: Any,
    policy: Policy,
    learner: ValueLearner,
    n_transitions: int = 100_000,
    n_held_out: int = 200,
    n_rollouts: int = 16,
    seed: int = 0,
    progress: bool | Progress = False,
    horizon: int | None = None,
) -> PolicyEvaluation:
    """Learn the value function of a policy and compare it with Monte-Carlo values.

    Parameters
    ----------
    env : gymnasium.Env or str
        The environment, or its name. Monte-Carlo values need copies of the environment during an
        episode. Environments in plain Python can be copied; for others there is no comparison.
    policy : callable
        Function from observation to action; it may be random.
    learner : ValueLearner
        The learner, for example a `PolicyEvaluator`. Observations are not scaled, so give its
        kernel one bandwidth per feature.
    n_transitions : int, default=100000
        Number of transitions to learn from.
    n_held_out, n_rollouts : int, default=200 and 16
        Number of held-out states (0 for no comparison), and rollouts per state.
    seed : int, default=0
        Seed of the environment; held-out states use seed + 1.
    progress : bool or callable, default=False
        True writes a line to standard error; a callable is called with (transitions done, total).
    horizon : int, optional
        Steps per rollout. Default: the smallest h with γ^h ≤ 0.001. A discount of 1 needs it.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import PolicyEvaluator, evaluate_policy
    >>> learner = PolicyEvaluator(Gaussian((0.5, 0.5, 2.0)), discount=0.5)
    >>> found = evaluate_policy("Pendulum-v1", lambda observation: [0.0], learner,
    ...                         n_transitions=4000, n_held_out=20, n_rollouts=2)
    >>> bool(found.agreement.correlation > 0.9)
    True
    """
    if not isinstance(learner, ValueLearner):
        raise TypeError(f"learner must be a ValueLearner, got {type(learner).__name__}")
    check_count(n_transitions, "n_transitions")
    check_count(n_held_out, "n_held_out", at_least=0)
    if n_held_out > 0 and horizon is None:
        horizon = horizon_of(learner.discount)
    report = _reporter(progress)
    environment = _made(env)
    walk = _walk(environment, policy, seed)
    done, order = 0, []
    while done < n_transitions:
        part = _gather(walk, min(_CHUNK, n_transitions - done))
        learner.learn(*part)
        done += part.n_transitions
        order.append((done, learner.n_atoms))
        report(done, n_transitions)
    growth = np.array(order, dtype=float)
    if n_held_out == 0 or not _can_branch(environment):
        return PolicyEvaluation(learner, None, None, float("nan"), growth)
    truth = held_out_values(
        environment,
        policy,
        learner.discount,
        n_held_out,
        n_rollouts,
        horizon=horizon,
        seed=seed + 1,
    )
    values = learner.value(truth.states)
    rmse = float(np.sqrt(np.mean((values - truth.mean) ** 2)))
    _warn_of_error(rmse, truth.mean)
    scores = None
    if n_held_out > 2 and np.ptp(truth.mean) > 0.0:
        scores = agreement(values, truth.mean)
    else:
        _warn_of_no_agreement(truth.mean)
    return PolicyEvaluation(learner, truth, scores, rmse, growth)


def _warn_of_error(rmse: float, truth: Array) -> None:
    """Warn if the error exceeds both the spread of the returns and a share of their size."""
    size = float(np.sqrt(np.mean(truth**2)))
    if rmse > max(float(truth.std()), _LARGE_ERROR * size):
        warnings.warn(
            f"the learned values have an RMS error of {rmse:.2g}, but returns are "
            f"{truth.mean():.4g} ± {truth.std():.2g}: learn from more transitions, choose other "
            "bandwidths or a larger step_size, or use KernelLSTD",
            RuntimeWarning,
            stacklevel=3,
        )


def _warn_of_no_agreement(truth: Array) -> None:
    """Warn that correlation and normalised error are undefined."""
    reason = "fewer than 3 states are held out"
    if len(truth) > 2:
        reason = f"all {len(truth)} held-out states have the return {truth[0]:.4g}"
    warnings.warn(f"agreement is None, because {reason}: see rmse", RuntimeWarning, stacklevel=3)


def _can_branch(env: Any) -> bool:
    """Return whether an environment can be copied; warn if it cannot."""
    try:
        copy.deepcopy(env.unwrapped)
    except Exception as error:  # parts of an environment may raise anything
        warnings.warn(
            f"{env.unwrapped!r} cannot be copied ({error}), so there are no Monte-Carlo values to "
            "compare with",
            RuntimeWarning,
            stacklevel=3,
        )
        return False
    return True


def _reporter(progress: bool | Progress) -> Progress:
    if callable(progress):
        return progress
    return _print_progress if progress else _stay_silent


def _print_progress(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done} of {total} transitions", end=end, file=sys.stderr, flush=True)


def _stay_silent(done: int, total: int) -> None:
    pass
