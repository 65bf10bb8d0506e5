"""One sample at a time, at the price of a call: its buffers are pinned beside the learner."""

from typing import NamedTuple

from colk._core.assess import combine
from colk._core.buffers import COLUMN, SIZE
from colk._core.jit import stepper
from colk._core.kernels import column
from colk._core.reference import Matrix, reference_to
from colk._core.stream import run
from colk._core.window import Learner
from colk._validation import Array

__all__ = ["Sample", "learn_sample", "predict_sample"]


class Sample(NamedTuple):
    """A learner and the buffers through which it meets one sample."""

    learner: Learner
    x: Matrix  # (1, features)
    y: Matrix  # (1, targets)
    weight: Array  # (1,)
    scores: Array  # (outputs,)
    trace: Matrix  # (1, 0)


_sample_at = reference_to(Sample)


@stepper
def learn_sample(address: int) -> int:
    """Learn from the sample in the buffers; returns why it stopped."""
    s = _sample_at(address)
    _, _, status = run(s.learner, s.x, s.y, s.weight, s.trace)
    return status


@stepper
def predict_sample(address: int, first: int) -> None:
    """Write the values at x of the functions from row `first` on to the scores."""
    s = _sample_at(address)
    d = s.learner.dictionary
    n, k = d.counters[SIZE], d.panels[COLUMN, 0]
    column(d.column, d.program, d.atoms, n, s.x[0], k, d.work)
    combine(d.weights, first, n, k, s.scores)
