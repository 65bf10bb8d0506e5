"""Choose a kernel, as far as the settings leave it to the data: prepare the samples of a race."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._engine.blas_threads import one_blas_thread
from colk._engine.running_scale import without_outliers
from colk._validation import Array
from colk.kernels.of_rows import SparseRows
from colk.losses import Loss
from colk.selection.contenders import contenders_for
from colk.selection.race import race
from colk.selection.result import LARGEST, Race

__all__ = ["choose", "ridge_targets", "rows_to_race"]

# The largest distance of a target from the median, in robust standard deviations.
_REACH = 4.0


def rows_to_race(n_samples: int, random: np.random.RandomState | None) -> Any:
    """Return the indices of at most 2400 samples: the first, or drawn by `random`.

    Examples
    --------
    >>> rows_to_race(9000, None)
    slice(None, 2400, None)
    """
    if random is None or n_samples <= LARGEST:
        return slice(None, LARGEST)
    return random.permutation(n_samples)[:LARGEST]


@one_blas_thread()
def choose(
    kernel: str,
    bandwidth: str | float,
    X: Array,
    Y: Array,
    weight: Array,
    loss: Loss,
    n_classes: int = 2,
    *,
    both_halves: bool = False,
    categorical: tuple[int, ...] = (),
    rows: SparseRows | None = None,
) -> Race:
    """Choose the kernel and its bandwidth by a race, as far as the settings leave them open.

    With kernel="auto" the bandwidth is chosen too, unless it is a number or "median".

    Parameters
    ----------
    kernel, bandwidth : str, or float for the bandwidth
        The settings.
    X : array of shape (n, p)
        Points.
    Y : array of shape (n,) or (n, q)
        Targets as the loss takes them.
    weight : array of shape (n,)
        Weights of the samples.
    loss : Loss
        The loss; its kind shows whether targets are numbers or labels.
    n_classes : int
        Number of classes, if targets are class indices. Default: 2.
    both_halves : bool
        As in `race`. Default: False.
    categorical : tuple of int
        Columns of X that hold categories. Default: none.
    rows : SparseRows, optional
        A sparse matrix, if X holds indices of its rows. In this case features have no metric.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
    >>> y = np.sin(3.0 * X[:, 0])
    >>> choose("auto", "auto", X, y, np.ones(500), Huber()).winner.name
    'gaussian'
    """
    if rows is None:
        codes = X[:, list(categorical)]
        X = without_outliers(X, weight)
        X[:, list(categorical)] = codes
    return race(
        X,
        ridge_targets(Y, weight, loss, n_classes),
        contenders_for(kernel, categorical, rows),
        bandwidth="auto" if kernel == "auto" and bandwidth == "scale" else bandwidth,
        weight=weight,
        are_labels=loss.kind != "regression",
        both_halves=both_halves,
    )


def ridge_targets(Y: Array, weight: Array, loss: Loss, n_classes: int = 2) -> Array:
    """Return the targets of a ridge regression that stands for a fit: deviations, or labels ±1.

    Parameters
    ----------
    Y, weight, loss, n_classes
        As in `choose`.

    Examples
    --------
    >>> from colk.losses import Softmax
    >>> ridge_targets(np.array([0.0, 2.0]), np.ones(2), Softmax(), n_classes=3)
    array([[ 1., -1., -1.],
           [-1., -1.,  1.]])
    """
    targets = Y.reshape(len(Y), -1)
    if loss.kind == "multiclass":
        return np.where(targets == np.arange(n_classes), 1.0, -1.0)
    if loss.kind != "regression":
        return targets
    targets = without_outliers(targets, weight)
    counted = weight > 0.0
    largest = np.abs(targets[counted]).max(axis=0, initial=0.0)
    targets = targets / np.where(largest > 0.0, largest, 1.0)  # so that squares are finite
    targets = _within_reach(targets, counted)
    spread = targets[counted].std(axis=0) if counted.any() else np.ones(targets.shape[1])
    return np.asarray(targets / np.where(spread > 0.0, spread, 1.0))


def _within_reach(targets: Array, counted: NDArray[np.bool_]) -> Array:
    """Return targets at most `_REACH` robust deviations from the median, as squares follow few."""
    if not counted.any():
        return targets
    low, middle, high = np.quantile(targets[counted], (0.25, 0.5, 0.75), axis=0)
    reach = np.where(high > low, _REACH * (high - low) / 1.349, np.inf)
    return np.asarray(np.clip(targets, middle - reach, middle + reach))
