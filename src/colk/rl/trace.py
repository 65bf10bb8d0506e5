"""Record of the steps of policy evaluation."""

from dataclasses import dataclass

from colk._validation import Array
from colk.rl.step import TRACE

__all__ = ["PolicyTrace"]


@dataclass(frozen=True)
class PolicyTrace:
    """Record of the steps, one entry per transition.

    Attributes
    ----------
    difference : array
        The temporal difference δ before the step.
    tracked : array
        The value of the tracker in the step of V; 0 for methods without one.
    n_atoms, added, dropped : array
        Model order after the step, atoms added and atoms dropped.
    value_error, tracker_error : array
        H-norms of the compression errors of V and z, each within its bound.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.rl import KernelTD, LinearQuadratic, simulate
    >>> learner = KernelTD(Gaussian(0.5), discount=0.9, trace=True)
    >>> learner = learner.learn(*simulate(LinearQuadratic.spiral(1), 100, seed=0))
    >>> learner.trace.n_atoms.shape
    (100,)
    """

    difference: Array
    tracked: Array
    n_atoms: Array
    added: Array
    dropped: Array
    value_error: Array
    tracker_error: Array

    @classmethod
    def from_rows(cls, rows: Array) -> "PolicyTrace":
        """Return the record of the lines that the stream wrote."""
        return cls(**{name: rows[:, i] for i, name in enumerate(TRACE)})

    def __len__(self) -> int:
        return len(self.difference)
