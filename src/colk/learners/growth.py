"""Changes of a packed state: more features or outputs, and points of another form."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.learners.stream_learner import StreamLearner

__all__ = ["enlarge", "points_in", "with_points"]

AnyLearner = TypeVar("AnyLearner", bound=StreamLearner)


def enlarge(packed: dict[str, Any], features: tuple[int, int], outputs: tuple[int, int]) -> None:
    """Extend a packed stream in place to more features and outputs.

    Atoms and waiting samples are 0 in a new feature; a new output starts as the function 0.
    """
    (p, n_features), (q, n_outputs) = features, outputs
    dictionary = packed["dictionary"]
    ghosts = dictionary["ghosts"]
    dictionary["atoms"] = _lengthen(dictionary["atoms"], n_features)
    dictionary["weights"] = _spread(dictionary["weights"], q, n_outputs)
    dictionary["ghosts"] = np.concatenate(
        [_lengthen(ghosts[:p], n_features), _spread(ghosts[p:], q, n_outputs)]
    )
    if "noise" in packed:
        packed["noise"] = np.append(packed["noise"], np.zeros(n_outputs - q))


def _lengthen(rows: Array, n_rows: int) -> Array:
    """Append rows of zeros."""
    return np.concatenate([rows, np.zeros((n_rows - len(rows), rows.shape[1]))])


def _spread(rows: Array, old: int, new: int) -> Array:
    """Append rows of zeros to each group of `old` rows: a group is one function's outputs."""
    groups = rows.reshape(len(rows) // old, old, rows.shape[1])
    padding = np.zeros((len(groups), new - old, rows.shape[1]))
    return np.concatenate([groups, padding], axis=1).reshape(len(groups) * new, rows.shape[1])


def points_in(learner: StreamLearner) -> Array:
    """Return all points in the state of a learner: those that `with_points` changes.

    Parameters
    ----------
    learner : KernelLearner
        The learner, which has learned.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> points_in(COLK(Gaussian(1.0)).learn([[0.5], [7.0]], [0.0, 1.0])).max()
    np.float64(7.0)
    """
    packed = learner.__getstate__()["_packed"]
    dictionary, points = packed["dictionary"], packed["window"]["points"]
    ghosts = dictionary["ghosts"][: points.shape[1]]
    return np.concatenate([dictionary["atoms"].T, ghosts.T, points])


def with_points(
    learner: AnyLearner, kernel: Kernel, points_of: Callable[[Array], Array]
) -> AnyLearner:
    """Return a learner with the same state, whose points have another form.

    Parameters
    ----------
    learner : KernelLearner
        The learner.
    kernel : Kernel
        A kernel of the new points, with the same values as that of the learner at the old ones.
    points_of : callable
        Returns the new points, of shape (n, p'), for old ones of shape (n, p).

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import COLK
    >>> learner = COLK(Gaussian(1.0)).learn([[0.0], [1.0]], [0.0, 1.0])
    >>> wider = with_points(learner, Gaussian(100.0), lambda X: 100.0 * X)
    >>> bool(wider.predict([[50.0]]) == learner.predict([[0.5]]))
    True
    """
    state = {**learner.__getstate__(), "kernel": kernel}
    if learner.has_learned:
        packed, p = state["_packed"], learner.n_features
        dictionary, window = packed["dictionary"], packed["window"]
        ghosts = dictionary["ghosts"]
        dictionary["atoms"] = np.ascontiguousarray(points_of(dictionary["atoms"].T).T)
        dictionary["ghosts"] = np.concatenate([points_of(ghosts[:p].T).T, ghosts[p:]])
        window["points"] = points_of(window["points"])
        state["_n_features"] = len(dictionary["atoms"])
    other = type(learner).__new__(type(learner))
    other.__setstate__(state)
    return other
