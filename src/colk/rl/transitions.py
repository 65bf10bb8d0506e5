"""Transitions (x, r, x', terminated) of a process under a fixed policy."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colk._validation import Array, check_points, check_vector

__all__ = ["Transitions"]


class Transitions(NamedTuple):
    """A stream of transitions, to be passed as `learner.learn(*transitions)`.

    Attributes
    ----------
    states : array of shape (n, p)
        States x.
    rewards : array of shape (n,)
        Rewards r.
    next_states : array of shape (n, p)
        Next states x'.
    terminated : bool array of shape (n,)
        Whether x' is terminal.

    Examples
    --------
    >>> from colk.rl import Transitions
    >>> t = Transitions.checked([[0.0]], [1.0], [[0.5]], [True])
    >>> t.n_transitions, t.terminated
    (1, array([ True]))
    """

    states: Array
    rewards: Array
    next_states: Array
    terminated: NDArray[np.bool_]

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.rewards)

    def part(self, which: slice) -> "Transitions":
        """Return some of the transitions, in their order."""
        return Transitions(
            self.states[which],
            self.rewards[which],
            self.next_states[which],
            self.terminated[which],
        )

    @classmethod
    def checked(
        cls,
        states: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
        n_features: int | None = None,
    ) -> "Transitions":
        """Return validated transitions; raise an error if they are invalid."""
        x = check_points(states, n_features, "states")
        x_next = check_points(next_states, x.shape[1], "next_states")
        if len(x_next) != len(x):
            raise ValueError(f"next_states has {len(x_next)} rows, but states has {len(x)}")
        r = check_vector(rewards, len(x), "rewards")
        return cls(x, r, x_next, _check_flags(terminated, len(x)))


def _check_flags(terminated: ArrayLike | None, size: int) -> NDArray[np.bool_]:
    if terminated is None:
        return np.zeros(size, dtype=np.bool_)
    flags = check_vector(terminated, size, "terminated")
    if not np.isin(flags, (0.0, 1.0)).all():
        raise ValueError("terminated must consist of True and False, or of 1 and 0")
    return np.asarray(flags != 0.0)
