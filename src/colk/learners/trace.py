"""What each step of a learner did."""

from dataclasses import dataclass

from colk._validation import Array
from colk.quasigradient import TRACE

__all__ = ["Trace"]


@dataclass(frozen=True)
class Trace:
    """What each step did, one entry a step.

    Attributes
    ----------
    loss : array
        Loss of the new sample before the step, so that its mean is the prequential loss.
    outer : array
        Outer function at θ: its mean estimates the risk.
    n_atoms, added, dropped : array
        Model order after the step, and how it came about.
    error : array
        H-norm that compression cost: at most eps, but where `KOMP` says that it may exceed it.
    clipped : array
        Pairs whose gradient was scaled back to the gradient bound.
    step_size : array
        The step size α.
    norm : array
        The H-norm of f.
    inner : array of shape (steps, m)
        The tracked value g.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK
    >>> learner = POLK(Gaussian(0.5), trace=True).learn([[0.0], [1.0]], [1.0, 2.0])
    >>> learner.trace.n_atoms
    array([1., 2.])
    """

    loss: Array
    outer: Array
    n_atoms: Array
    added: Array
    dropped: Array
    error: Array
    clipped: Array
    step_size: Array
    norm: Array
    inner: Array

    @classmethod
    def from_rows(cls, rows: Array) -> "Trace":
        """Name the columns that the core wrote."""
        columns = {name: rows[:, i] for i, name in enumerate(TRACE)}
        return cls(inner=rows[:, len(TRACE) :], **columns)

    def __len__(self) -> int:
        return len(self.loss)
