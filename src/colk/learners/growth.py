"""A learner that learns on in more features, or with more outputs."""

import numpy as np

from colk._validation import Array
from colk.learners.colk import KernelLearner

__all__ = ["grow"]


def grow(learner: KernelLearner, n_features: int, n_outputs: int) -> None:
    """Give a learner that has seen a sample more features and outputs; what it learned stays.

    Atoms and waiting samples are 0 in a new feature, where the kernel must see no difference:
    the bandwidth is one number. A new output starts as the function 0.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> learner = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
    >>> before = learner.predict([[0.5]])
    >>> grow(learner, n_features=2, n_outputs=1)
    >>> bool(learner.predict([[0.5, 0.0]]) == before)
    True
    """
    p, q = learner.n_features, learner.n_outputs or 1
    packed, n_targets = learner._state().pack(), learner._state().window.targets.shape[1]
    dictionary = packed["dictionary"]
    ghosts = dictionary["ghosts"]
    dictionary["atoms"] = _lengthen(dictionary["atoms"], n_features)
    dictionary["weights"] = _spread(dictionary["weights"], q, n_outputs)
    dictionary["ghosts"] = np.concatenate(
        [_lengthen(ghosts[:p], n_features), _spread(ghosts[p:], q, n_outputs)]
    )
    if "noise" in packed:
        packed["noise"] = np.append(packed["noise"], np.zeros(n_outputs - q))
    learner._allocate(n_features, n_outputs, n_targets)
    learner._state().unpack(packed)
    learner._n_features, learner._n_outputs = n_features, n_outputs


def _lengthen(rows: Array, n_rows: int) -> Array:
    """Append rows of zeros."""
    return np.concatenate([rows, np.zeros((n_rows - len(rows), rows.shape[1]))])


def _spread(rows: Array, old: int, new: int) -> Array:
    """Append rows of zeros to each group of `old` rows: a group is one function's outputs."""
    groups = rows.reshape(len(rows) // old, old, rows.shape[1])
    padding = np.zeros((len(groups), new - old, rows.shape[1]))
    return np.concatenate([groups, padding], axis=1).reshape(len(groups) * new, rows.shape[1])
