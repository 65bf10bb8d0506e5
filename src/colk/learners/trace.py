"""The record of the steps of a learner."""

from dataclasses import dataclass

from colk._engine.quasigradient import TRACE
from colk._validation import Array

__all__ = ["Trace"]


@dataclass(frozen=True)
class Trace:
    """The record of a stream, one entry per step.

    Attributes
    ----------
    loss, outer : array
        Loss of the new sample before the step, whose mean is the prequential loss, and the outer
        function at θ, whose mean estimates the risk.
    n_atoms, added, dropped : array
        Model order after the step, and the numbers of atoms added and dropped.
    error : array
        H-norm of the compression error. It may exceed eps in the cases listed in `KOMP`.
    clipped, step_size, norm : array
        Number of pairs whose gradient was clipped, the step size α, and the H-norm of f.
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
        """Return the trace from the columns that the engine wrote."""
        columns = {name: rows[:, i] for i, name in enumerate(TRACE)}
        return cls(inner=rows[:, len(TRACE) :], **columns)

    def __len__(self) -> int:
        return len(self.loss)
