"""Monte-Carlo values with confidence intervals, and their agreement with a value function."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from colk._validation import (
    Array,
    check_count,
    check_fraction,
    check_number,
    check_points,
    check_vector,
)
from colk.rl.mdp import MDP

__all__ = ["Agreement", "MonteCarloValues", "agreement", "horizon_of", "monte_carlo_values"]


@dataclass(frozen=True)
class MonteCarloValues:
    """Mean discounted returns of rollouts from given states, with confidence intervals.

    Attributes
    ----------
    states : array of shape (n, p)
        Initial states of the rollouts.
    mean : array of shape (n,)
        Mean returns.
    half_width : array of shape (n,)
        Half-width of the confidence interval, from Student's t.
    n_rollouts, horizon : int
        Rollouts per state, and steps per rollout.

    Examples
    --------
    >>> from colk.rl import LinearQuadratic, monte_carlo_values
    >>> found = monte_carlo_values(LinearQuadratic.spiral(1), [[0.5]], discount=0.9)
    >>> bool(abs(found.mean[0] + 2.5) < 2 * found.half_width[0])
    True
    """

    states: Array
    mean: Array
    half_width: Array
    n_rollouts: int
    horizon: int

    @classmethod
    def from_returns(
        cls, states: Array, returns: Array, horizon: int, confidence: float
    ) -> "MonteCarloValues":
        """Return the means and intervals of `returns`, an array of shape (n, n_rollouts)."""
        n_rollouts = returns.shape[1]
        quantile = float(stdtrit(n_rollouts - 1, 0.5 + 0.5 * confidence))
        error = returns.std(axis=1, ddof=1) / np.sqrt(n_rollouts)
        return cls(states, returns.mean(axis=1), quantile * error, n_rollouts, horizon)


def horizon_of(discount: float, tolerance: float = 1e-3) -> int:
    """Return the smallest number of steps h with γ^h ≤ `tolerance`.

    Examples
    --------
    >>> from colk.rl import horizon_of
    >>> horizon_of(0.9)
    66
    """
    gamma = check_fraction(discount, "discount")
    check_number(tolerance, "tolerance", above=0.0)
    if gamma == 1.0:
        raise ValueError("a discount of 1 needs a horizon: set horizon")
    return int(np.ceil(np.log(tolerance) / np.log(gamma)))


def monte_carlo_values(
    mdp: MDP,
    states: ArrayLike,
    discount: float,
    n_rollouts: int = 200,
    horizon: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> MonteCarloValues:
    """Return mean discounted returns of rollouts from each state.

    Parameters
    ----------
    mdp : MDP
        The process.
    states : array of shape (n, p)
        Initial states.
    discount : float
        The discount γ, in (0, 1].
    n_rollouts : int, default=200
        Rollouts from each state, at least 2.
    horizon : int, optional
        Steps per rollout. Default: the smallest h with γ^h ≤ 0.001.
    confidence : float, default=0.95
        Coverage of the intervals.
    seed : int, default=0
        Random seed.

    Examples
    --------
    >>> from colk.rl import LinearQuadratic, monte_carlo_values
    >>> mdp = LinearQuadratic.spiral(1)
    >>> found = monte_carlo_values(mdp, [[0.5]], discount=0.9)
    >>> bool(abs(found.mean - mdp.value([[0.5]], 0.9))[0] < found.half_width[0] + 0.01)
    True
    """
    points = check_points(states, mdp.n_features, "states")
    check_count(n_rollouts, "n_rollouts", at_least=2)
    length = horizon_of(discount) if horizon is None else check_count(horizon, "horizon")
    rng = np.random.default_rng(seed)
    x = np.repeat(points, n_rollouts, axis=0)
    returns, weight = np.zeros(len(x)), np.ones(len(x))
    for _ in range(length):
        rewards, ahead, ends = mdp.step(x, rng)
        returns += weight * rewards
        weight *= np.where(ends, 0.0, discount)
        x = np.where(weight[:, None] > 0.0, ahead, x)
    shaped = returns.reshape(len(points), n_rollouts)
    return MonteCarloValues.from_returns(points, shaped, length, confidence)


@dataclass(frozen=True)
class Agreement:
    """Agreement of values with reference values, with bootstrap intervals.

    Attributes
    ----------
    correlation, nrmse : float
        Pearson correlation, and root mean square difference divided by the standard deviation of
        the reference values.
    correlation_interval, nrmse_interval : (float, float)
        Percentile intervals from resampled states.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rl import agreement
    >>> truth = np.linspace(0.0, 1.0, 50)
    >>> print(agreement(truth, truth))
    correlation 1.000 [1.000, 1.000], NRMSE 0.000 [0.000, 0.000]
    """

    correlation: float
    nrmse: float
    correlation_interval: tuple[float, float]
    nrmse_interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.correlation_interval
        best, worst = self.nrmse_interval
        return (
            f"correlation {self.correlation:.3f} [{low:.3f}, {high:.3f}], "
            f"NRMSE {self.nrmse:.3f} [{best:.3f}, {worst:.3f}]"
        )


def agreement(
    values: ArrayLike,
    truth: ArrayLike,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Return the correlation and normalised RMS error of values, with bootstrap intervals.

    Examples
    --------
    >>> from colk.rl import agreement
    >>> print(agreement([1.0, 2.0, 3.0, 4.1], [1.0, 2.0, 3.0, 4.0], n_resamples=10).nrmse < 0.1)
    True
    """
    found = check_vector(values, None, "values")
    wanted = check_vector(truth, len(found), "truth")
    if len(found) < 3 or np.ptp(wanted) == 0.0:
        raise ValueError("agreement needs at least 3 states whose true values differ")
    rng = np.random.default_rng(seed)
    draws = rng.integers(len(found), size=(n_resamples, len(found)))
    scores = np.array([_scores(found[draw], wanted[draw]) for draw in draws])
    tails = [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence]
    with warnings.catch_warnings():  # constant values have no correlation
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        (low, best), (high, worst) = np.nanquantile(scores, tails, axis=0).tolist()
    correlation, nrmse = _scores(found, wanted)
    return Agreement(correlation, nrmse, (low, high), (best, worst))


def _scores(found: Array, wanted: Array) -> tuple[float, float]:
    """Return correlation and normalised RMS error; NaN if a sample is constant."""
    spread, own = wanted.std(), found.std()
    if spread == 0.0:
        return np.nan, np.nan
    if own == 0.0:
        return np.nan, float(np.sqrt(np.mean((found - wanted) ** 2)) / spread)
    covariance = np.mean((found - found.mean()) * (wanted - wanted.mean()))
    error = np.sqrt(np.mean((found - wanted) ** 2))
    return float(covariance / (spread * own)), float(error / spread)
