"""Features that move on, such as time: least bandwidths, and whether they are left out.

The latest samples show only a small part of the values that such a feature has had, and none of
those to come. A kernel that suits these samples may be far too narrow for the next ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.errors import DivergenceError
from colk.kernels import Kernel, Mahalanobis, Mixed
from colk.kernels.of_rows import OfRows
from colk.learners.colk import KernelLearner
from colk.selection import Race

__all__ = ["bounded", "for_next_rows", "least_bandwidths", "moves_on", "trend_note"]

# A feature moves on if this share of its values in the later half of the samples is above the same
# quantile of the earlier half, or below the opposite one. Ranks do not depend on the scale, which
# may move as well.
_SHARE = 0.9

# Least bandwidth of a feature, as a share of the range of all its values so far.
_OF_RANGE, _OF_RANGE_MOVING = 1e-3, 0.1

# A feature is left out by a bandwidth that is this many times its range.
_FAR = 1e6

# A feature that moves on is used if the losses are lower by a standard error and by this share of
# them, in this many blocks of the later half of the samples.
_LEAD_SHARE, _BLOCKS = 0.05, 5

# The loss after a divergence.
_WORST = 1e9

_NAMED = 5


def moves_on(X: Array) -> NDArray[np.bool_]:
    """Return which columns of the samples, which are in the order of time, move on.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=500)
    >>> moves_on(np.column_stack([np.arange(500.0), noise]))
    array([ True, False])
    """
    half = len(X) // 2
    if half < 2:
        return np.zeros(X.shape[1], dtype=bool)
    earlier, later = X[:half], X[half:]
    low, high = np.quantile(earlier, [1.0 - _SHARE, _SHARE], axis=0)
    rises, falls = (later > high).mean(axis=0), (later < low).mean(axis=0)
    return np.asarray(np.maximum(rises, falls) >= _SHARE)


def least_bandwidths(reach: Array, is_moving: NDArray[np.bool_]) -> Array:
    """Return the least bandwidth of each feature.

    Parameters
    ----------
    reach : array of shape (2, p)
        Smallest and largest value of each feature in all samples so far.
    is_moving : array of bool of shape (p,)
        Whether it moves on.

    Examples
    --------
    >>> least_bandwidths(np.array([[0.0, 0.0], [5.0, 5.0]]), np.array([False, True]))
    array([0.005, 0.5  ])
    """
    return np.asarray(np.where(is_moving, _OF_RANGE_MOVING, _OF_RANGE) * (reach[1] - reach[0]))


def bounded(race: Race, least: Array) -> Race:
    """Return a race whose winner has at least these bandwidths, one for each feature.

    Parameters
    ----------
    race : Race
        The race.
    least : array of shape (p,)
        The bandwidths; those of categories are not used.

    Examples
    --------
    >>> from colk.selection import contenders_for, race
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> found = race(X, np.sin(3.0 * X[:, :1]), contenders_for("gaussian"))
    >>> bounded(found, np.array([0.0, 1e6])).kernel.bandwidth[1]
    1000000.0
    """
    if isinstance(race.kernel, OfRows) or not hasattr(_of_numbers(race.kernel), "bandwidth"):
        return race
    kernel, shares = _with_least(race.kernel, least)
    if (shares == 1.0).all():
        return race
    is_matrix = isinstance(kernel, Mahalanobis)
    winner = race.winner._replace(metric="matrix" if is_matrix else "diagonal")
    known = [entry for entry in race.entries if entry.who != winner.who]
    scales, entries = race.scales * shares, (*known, winner)
    return replace(race, entries=entries, winner=winner, kernel=kernel, scales=scales)


def _of_numbers(kernel: Kernel) -> Any:
    """Return the kernel with a bandwidth: of the numbers beside categories, or in a metric."""
    return kernel.kernel if isinstance(kernel, Mixed | Mahalanobis) else kernel


def _with_least(kernel: Kernel, least: Array) -> tuple[Kernel, Array]:
    """Return the kernel with at least these bandwidths, and what is left of each feature's scale.

    In a metric A, the bandwidth of a feature is that of the kernel divided by the norm of its row.
    """
    inner, shares = _of_numbers(kernel), np.ones(len(least))
    width = np.asarray(inner.bandwidth, dtype=np.float64)
    if isinstance(kernel, Mahalanobis):
        sizes = np.linalg.norm(kernel.metric / width, axis=1)
        shares = 1.0 / np.maximum(sizes * least, 1.0)
        return kernel.replace(metric=kernel.metric * shares[:, None]), shares
    numbers = np.ones(len(least), dtype=bool)
    if isinstance(kernel, Mixed):
        numbers[list(kernel.categorical)] = False
    if not numbers.any():
        return kernel, shares
    before = np.broadcast_to(width, int(numbers.sum()))
    after = np.maximum(before, least[numbers])
    shares[numbers] = before / after
    inner = inner.replace(bandwidth=tuple(after.tolist()))
    return kernel.replace(kernel=inner) if isinstance(kernel, Mixed) else inner, shares


def for_next_rows(
    race: Race,
    samples: tuple[Array, Array, Array],
    reach: Array,
    fresh: Callable[[Race], KernelLearner],
    categorical: tuple[int, ...] = (),
) -> tuple[Race, list[int], bool]:
    """Return a race with bandwidths for the next samples, features that move on, and their use.

    These features are left out, unless the later half of the samples, each before it is learned, is
    predicted clearly better with them.

    Parameters
    ----------
    race : Race
        The race.
    samples : tuple of arrays
        The latest points, targets and weights, the oldest first.
    reach : array of shape (2, p)
        Smallest and largest value of each feature in all samples so far.
    fresh : callable
        Makes a learner with the kernel of a race.
    categorical : tuple of int
        Columns that hold codes of categories, which do not move.
    """
    is_moving = moves_on(samples[0])
    is_moving[list(categorical)] = False
    used = bounded(race, least_bandwidths(reach, is_moving))
    if not is_moving.any():
        return used, [], True
    left_out = bounded(used, np.where(is_moving, _FAR * (reach[1] - reach[0]), 0.0))
    losses, others = (_late_losses(fresh(one), samples) for one in (used, left_out))
    leads = others - losses
    least = max(leads.std(ddof=1) / np.sqrt(len(leads)), _LEAD_SHARE * abs(others.mean()))
    is_used = bool(leads.mean() > least)
    return used if is_used else left_out, np.flatnonzero(is_moving).tolist(), is_used


def _late_losses(learner: KernelLearner, samples: tuple[Array, Array, Array]) -> Array:
    """Return the mean losses in blocks of the later half of the samples; inf after a divergence."""
    parts = np.array_split(np.arange(len(samples[0])), 2 * _BLOCKS)
    means = np.full(_BLOCKS, np.inf)
    for place, rows in enumerate(parts):
        before = learner.loss_sums
        try:
            learner.learn_checked(*(array[rows] for array in samples))
        except DivergenceError:
            break
        if place >= _BLOCKS:
            means[place - _BLOCKS] = learner.loss_since(before)
    return np.asarray(np.nan_to_num(means, posinf=_WORST))


def trend_note(names: Sequence[object], is_used: bool) -> str:
    """Return the sentence that names features that move on, and says whether they are used.

    Examples
    --------
    >>> trend_note(["hour"], is_used=False)
    'later rows have values that no earlier row had, in: hour; the next rows are predicted better \
without, so the model leaves this out: give differences, or times of day, of week or of year'
    """
    called = ", ".join(str(name) for name in names[:_NAMED])
    more = ", …" if len(names) > _NAMED else ""
    what = "this" if len(names) == 1 else "these"
    told = f"the model uses only {'its' if len(names) == 1 else 'their'} trend"
    if not is_used:
        told = f"the next rows are predicted better without, so the model leaves {what} out"
    return (
        f"later rows have values that no earlier row had, in: {called}{more}; {told}: give "
        "differences, or times of day, of week or of year"
    )
