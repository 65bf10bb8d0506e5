"""Built-in Markov processes under a fixed policy, with known or computable values."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_discrete_lyapunov

from colk._validation import Array, check_count, check_fraction, check_number, check_points
from colk.rl.transitions import Transitions

__all__ = ["MDP", "DoubleWell", "LinearQuadratic", "simulate"]

Outcome = tuple[Array, Array, NDArray[np.bool_]]


class MDP(ABC):
    """A Markov process with rewards that simulates many chains at once.

    To add a process, define `n_features`, `reset` and `step`; `simulate` and `monte_carlo_values`
    accept it.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.rl import MDP, simulate
    >>> class Walk(MDP):
    ...     n_features = 1
    ...     def reset(self, n_chains, rng):
    ...         return np.zeros((n_chains, 1))
    ...     def step(self, states, rng):
    ...         ahead = states + rng.normal(size=states.shape)
    ...         return -np.ones(len(states)), ahead, np.abs(ahead[:, 0]) > 3.0
    >>> bool(simulate(Walk(), 1000, seed=0).terminated.any())
    True
    """

    n_features: int

    @abstractmethod
    def reset(self, n_chains: int, rng: np.random.Generator) -> Array:
        """Return initial states, of shape (n_chains, n_features)."""

    @abstractmethod
    def step(self, states: Array, rng: np.random.Generator) -> Outcome:
        """Return rewards, next states and terminal flags, one transition per chain."""


class LinearQuadratic(MDP):
    """x' = Ax + w with w normal of standard deviation `noise`, r = −xᵀQx.

    This is a linear system with linear feedback and quadratic cost, and V has a closed form. Chains
    start from the stationary distribution.

    Parameters
    ----------
    dynamics : array of shape (p, p)
        A, with all eigenvalues inside the unit circle.
    cost : array of shape (p, p), optional
        Q, symmetric. Default: the identity.
    noise : float, default=0.3
        Standard deviation of each component of w.

    Examples
    --------
    >>> from colk.rl import LinearQuadratic
    >>> mdp = LinearQuadratic([[0.5]], noise=1.0)
    >>> mdp.value([[0.0], [1.0]], discount=0.8).round(6)
    array([-5.  , -6.25])
    """

    def __init__(
        self, dynamics: ArrayLike, cost: ArrayLike | None = None, noise: float = 0.3
    ) -> None:
        self.dynamics = check_points(dynamics, name="dynamics")
        self.n_features = len(self.dynamics)
        self.cost = np.eye(self.n_features) if cost is None else check_points(cost, name="cost")
        self.noise = check_number(noise, "noise", at_least=0.0)
        square = (self.n_features, self.n_features)
        if self.dynamics.shape != square or self.cost.shape != square:
            raise ValueError(
                "dynamics and cost must be square and of the same size, "
                f"got {self.dynamics.shape} and {self.cost.shape}"
            )
        if not np.array_equal(self.cost, self.cost.T):
            raise ValueError("cost must be symmetric")
        radius = np.abs(np.linalg.eigvals(self.dynamics)).max()
        if radius >= 1.0:
            raise ValueError(
                "dynamics must be stable, with all eigenvalues inside the unit circle, but the "
                f"largest has modulus {radius:g}"
            )
        covariance = solve_discrete_lyapunov(self.dynamics, self.noise**2 * np.eye(self.n_features))
        self._spread = np.linalg.cholesky(covariance) if noise > 0.0 else np.zeros(square)

    @classmethod
    def spiral(
        cls, n_features: int, decay: float = 0.8, angle: float = 0.3, noise: float = 0.3
    ) -> "LinearQuadratic":
        """Return a process whose A rotates each pair of neighbouring axes by `angle` and shrinks.

        Examples
        --------
        >>> from colk.rl import LinearQuadratic
        >>> LinearQuadratic.spiral(1).dynamics
        array([[0.8]])
        """
        rotation = np.eye(check_count(n_features, "n_features"))
        for i in range(n_features - 1):
            turn = np.eye(n_features)
            turn[i : i + 2, i : i + 2] = [
                [np.cos(angle), np.sin(angle)],
                [-np.sin(angle), np.cos(angle)],
            ]
            rotation = turn @ rotation
        return cls(decay * rotation, noise=noise)

    def reset(self, n_chains: int, rng: np.random.Generator) -> Array:
        """Draw states from the stationary distribution."""
        return np.asarray(rng.normal(size=(n_chains, self.n_features)) @ self._spread.T)

    def step(self, states: Array, rng: np.random.Generator) -> Outcome:
        """Return −xᵀQx and Ax + w; no state is terminal."""
        rewards = -np.einsum("ni,ij,nj->n", states, self.cost, states)
        ahead = states @ self.dynamics.T + self.noise * rng.normal(size=states.shape)
        return rewards, ahead, np.zeros(len(states), dtype=np.bool_)

    def value(self, states: ArrayLike, discount: float) -> Array:
        """V(x) = −xᵀPx − γ/(1 − γ)·noise²·tr P, where P = Q + γAᵀPA (discounted Lyapunov)."""
        gamma = check_fraction(discount, "discount")
        if gamma == 1.0:
            raise ValueError(
                "the value is infinite at a discount of 1, because the process never ends"
            )
        points = check_points(states, self.n_features, "states")
        P = solve_discrete_lyapunov(np.sqrt(gamma) * self.dynamics.T, self.cost)
        constant = gamma / (1.0 - gamma) * self.noise**2 * np.trace(P)
        return np.asarray(-np.einsum("ni,ij,nj->n", points, P, points) - constant)


class DoubleWell(MDP):
    """A particle in the potential (q² − 1)²/4 with friction and noise, a nonlinear process in 2-D.

    The state is (q, v). A transition takes the time `time_step`. The reward is −(q − 1)², so the
    right-hand well is better. The process ends, with value 0, if `|q|` exceeds 1.8.

    Parameters
    ----------
    friction : float, default=0.5
        Share of the velocity lost per unit of time.
    noise : float, default=0.8
        Standard deviation of the random change of velocity per unit of time.
    time_step : float, default=0.1
        Duration of a transition.

    Examples
    --------
    >>> from colk.rl import DoubleWell, simulate
    >>> transitions = simulate(DoubleWell(), 1000, seed=0)
    >>> transitions.states.shape, bool((abs(transitions.states[:, 0]) <= 1.8).all())
    ((1000, 2), True)
    """

    n_features = 2
    boundary = 1.8

    def __init__(self, friction: float = 0.5, noise: float = 0.8, time_step: float = 0.1) -> None:
        self.friction = check_number(friction, "friction", at_least=0.0)
        self.noise = check_number(noise, "noise", at_least=0.0)
        self.time_step = check_number(time_step, "time_step", above=0.0)

    def reset(self, n_chains: int, rng: np.random.Generator) -> Array:
        """Return particles at rest, uniform between −1.5 and 1.5."""
        return np.column_stack([rng.uniform(-1.5, 1.5, n_chains), np.zeros(n_chains)])

    def step(self, states: Array, rng: np.random.Generator) -> Outcome:
        """Make one step of the symplectic Euler scheme."""
        h, q, v = self.time_step, states[:, 0], states[:, 1]
        kick = self.noise * np.sqrt(h) * rng.normal(size=len(states))
        velocity = v + h * (q - q**3 - self.friction * v) + kick
        ahead = np.column_stack([q + h * velocity, velocity])
        return -((q - 1.0) ** 2), ahead, np.abs(ahead[:, 0]) > self.boundary


def simulate(mdp: MDP, n_transitions: int, seed: int, n_chains: int = 100) -> Transitions:
    """Simulate independent chains; transitions cycle through the chains.

    A chain that reaches a terminal state starts again.

    Parameters
    ----------
    mdp : MDP
        The process.
    n_transitions : int
        Number of transitions.
    seed : int
        Random seed.
    n_chains : int, default=100
        Number of chains.

    Examples
    --------
    >>> from colk.rl import LinearQuadratic, simulate
    >>> states, rewards, next_states, terminated = simulate(LinearQuadratic.spiral(2), 250, seed=0)
    >>> states.shape, bool((states[100:] == next_states[:-100]).all())
    ((250, 2), True)
    """
    if not isinstance(mdp, MDP):
        raise TypeError(f"mdp must be an MDP, got {type(mdp).__name__}")
    check_count(n_transitions, "n_transitions")
    rng = np.random.default_rng(seed)
    x = mdp.reset(check_count(n_chains, "n_chains"), rng)
    rounds = []
    for _ in range(-(-n_transitions // n_chains)):
        rewards, ahead, ends = mdp.step(x, rng)
        rounds.append((x, rewards, ahead, ends))
        x = np.where(ends[:, None], mdp.reset(n_chains, rng), ahead)
    whole = Transitions(*(np.concatenate(part) for part in zip(*rounds, strict=True)))
    return whole.part(slice(n_transitions))
