"""Choose the label of an SVC of several classes by the votes of one function per pair."""

from itertools import combinations
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array

__all__ = ["Count", "add_count", "pairs_of", "python_count"]

# Each pair has a vote. "confidences" also adds the values, scaled to less than a vote, which breaks
# ties.
Count = Literal["votes", "confidences"]


class GraphBuilder(Protocol):
    """A graph under construction."""

    def constant(self, values: NDArray[Any]) -> str:
        """Add an array and return its name."""

    def add(self, operator: str, inputs: list[str]) -> str:
        """Add a node and return the name of its output."""


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in LIBSVM's order.

    Examples
    --------
    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def _members(n_classes: int) -> tuple[Array, Array]:
    """Return one-hot matrices (pairs, C) of the first and the second class of each pair."""
    first, second = (
        np.eye(n_classes)[[pair[place] for pair in pairs_of(n_classes)]] for place in (0, 1)
    )
    return first, second


def add_count(nodes: GraphBuilder, values: str, n_classes: int, count: Count) -> str:
    """Add nodes that turn values of pairs (n, pairs) into scores of classes (n, C)."""
    first, second = _members(n_classes)
    beats = "Greater" if count == "votes" else "GreaterOrEqual"
    won = nodes.add(beats, [values, nodes.constant(np.array(0.0))])
    one, none = nodes.constant(np.array(1.0)), nodes.constant(np.array(0.0))
    gained = nodes.add("Where", [won, one, none])
    moved = nodes.add("MatMul", [gained, nodes.constant(first - second)])
    votes = nodes.add("Add", [moved, nodes.constant(second.sum(axis=0))])
    if count == "votes":
        return votes
    sums = nodes.add("MatMul", [values, nodes.constant(first - second)])
    size = nodes.add("Add", [nodes.add("Abs", [sums]), one])
    share = nodes.add("Div", [sums, nodes.add("Mul", [size, nodes.constant(np.array(3.0))])])
    return nodes.add("Add", [votes, share])


_PLAIN_VOTES = """
def count(values):
    votes = [0.0] * len(CLASSES)
    for (i, j), value in zip(PAIRS, values):
        votes[i if value > 0.0 else j] += 1.0
    return votes
"""

_PLAIN_CONFIDENCES = """
def count(values):
    votes, sums = [0.0] * len(CLASSES), [0.0] * len(CLASSES)
    for (i, j), value in zip(PAIRS, values):
        votes[i if value >= 0.0 else j] += 1.0
        sums[i] += value
        sums[j] -= value
    return [v + s / (3.0 * (abs(s) + 1.0)) for v, s in zip(votes, sums)]
"""

_NUMPY_VOTES = """
def count(values):
    first, second = (np.eye(len(CLASSES))[[pair[k] for pair in PAIRS]] for k in (0, 1))
    won = (values > 0.0).astype(float)
    return won @ first + (1.0 - won) @ second
"""

_NUMPY_CONFIDENCES = """
def count(values):
    first, second = (np.eye(len(CLASSES))[[pair[k] for pair in PAIRS]] for k in (0, 1))
    won = (values >= 0.0).astype(float)
    sums = values @ (first - second)
    return won @ first + (1.0 - won) @ second + sums / (3.0 * (np.abs(sums) + 1.0))
"""


def python_count(n_classes: int, count: Count, numpy: bool) -> str:
    """Return the source that turns values of pairs into scores of classes."""
    plain = _PLAIN_VOTES if count == "votes" else _PLAIN_CONFIDENCES
    fast = _NUMPY_VOTES if count == "votes" else _NUMPY_CONFIDENCES
    return f"PAIRS = {pairs_of(n_classes)!r}\n\n{fast if numpy else plain}"
