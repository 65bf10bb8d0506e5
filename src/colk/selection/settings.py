"""What an estimator's `kernel` and `bandwidth` leave to the data, and how the data are asked."""

from typing import Any

import numpy as np

from colk._validation import Array
from colk.kernels.bandwidth import takes_bandwidth
from colk.losses import Loss
from colk.selection.contenders import CONTENDERS, contenders_for
from colk.selection.race import LARGEST, Race, race

__all__ = ["choose", "is_open", "rows_to_race", "until_chosen"]


def is_open(kernel: Any, bandwidth: Any) -> bool:
    """Whether the data are to choose the kernel, or the bandwidth of the one that is named.

    Examples
    --------
    >>> is_open("auto", 1.0), is_open("gaussian", "auto"), is_open("gaussian", 1.0)
    (True, True, False)
    """
    if isinstance(kernel, str) and kernel == "auto":
        return True
    return isinstance(bandwidth, str) and bandwidth == "auto" and takes_bandwidth(kernel)


def until_chosen(kernel: Any, bandwidth: Any) -> tuple[Any, Any]:
    """Return the kernel and the bandwidth to go by as long as the data have not chosen.

    Examples
    --------
    >>> until_chosen("auto", "auto"), until_chosen("gaussian", 2.0)
    (('laplacian', 'scale'), ('gaussian', 2.0))
    """
    if isinstance(kernel, str) and kernel == "auto":
        kernel = CONTENDERS[0].family
    if isinstance(bandwidth, str) and bandwidth == "auto":
        bandwidth = "scale"
    return kernel, bandwidth


def rows_to_race(n_samples: int, random: np.random.RandomState | None) -> Any:
    """Return which of the samples race: at most 1000, the first or, by `random`, any.

    Examples
    --------
    >>> rows_to_race(2000, None)
    slice(None, 1000, None)
    """
    if random is None or n_samples <= LARGEST:
        return slice(None, LARGEST)
    return random.permutation(n_samples)[:LARGEST]


def choose(
    kernel: str,
    bandwidth: str | float,
    X: Array,
    Y: Array,
    weight: Array,
    loss: Loss,
    n_classes: int = 2,
    *,
    prefers_narrow: bool = False,
) -> Race:
    """Let samples as a learner sees them choose what the settings leave open.

    With kernel="auto" they choose the bandwidth as well, unless it is a number or "median".

    Parameters
    ----------
    kernel, bandwidth : str, or float for the bandwidth
        The settings.
    X : array of shape (n, p)
        Points.
    Y : array of shape (n,) or (n, q)
        Targets as the loss wants them.
    weight : array of shape (n,)
        How much each sample counts.
    loss : Loss
        The loss, whose kind says what targets are.
    n_classes : int
        Classes, where targets are their indices.
    prefers_narrow : bool
        Whether regression takes the narrowest bandwidth that is about as good as the best.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> y = np.sin(3.0 * X[:, 0])
    >>> choose("auto", "auto", X, y, np.ones(500), Huber()).winner.name
    'matern 3/2'
    """
    targets = Y.reshape(len(Y), -1)
    are_labels = loss.kind != "regression"
    if loss.kind == "multiclass":
        targets = np.where(targets == np.arange(n_classes), 1.0, -1.0)
    if not are_labels:
        largest = np.abs(targets).max(axis=0, initial=0.0)
        targets = targets / np.where(largest > 0.0, largest, 1.0)  # squares of it are finite
        spread = targets.std(axis=0)
        targets = targets / np.where(spread > 0.0, spread, 1.0)
    return race(
        X,
        targets,
        contenders_for(kernel),
        bandwidth="auto" if kernel == "auto" and bandwidth == "scale" else bandwidth,
        weight=weight,
        are_labels=are_labels,
        prefers_narrow=prefers_narrow,
    )
