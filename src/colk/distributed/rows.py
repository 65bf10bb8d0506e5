"""Pure functions of one partition, which workers run: check, count, sample, encode."""

from typing import Any, NamedTuple

import numpy as np

from colk._validation import Array, check_points, check_vector, check_weight_range
from colk.rkhs.polishing import Block, OutlierRule

__all__ = [
    "Rows",
    "Summary",
    "checked_rows",
    "encode_rows",
    "normalise_block",
    "sample_rows",
    "summarise_rows",
    "weight_block",
]


class Rows(NamedTuple):
    """The rows of a partition."""

    points: Array  # (n, p)
    targets: Any  # (n,) or (n, q): numbers or labels
    weights: Array  # (n,)


class Summary(NamedTuple):
    """What the caller needs to know of a partition."""

    n_rows: int
    weight: float
    n_features: int
    target_shape: tuple[int, ...]  # of one target
    labels: Any  # distinct labels, sorted; None for numbers
    counts: Any  # rows of each label that have a weight


class PartitionError(ValueError):
    """A partition that cannot be read or used."""

    def __reduce__(self) -> tuple[type["PartitionError"], tuple[str]]:
        return PartitionError, (str(self),)


def checked_rows(X: Any, y: Any, weights: Any, place: str, are_labels: bool) -> Rows:
    """Return the rows of a partition as arrays; raise an error that names the partition.

    Examples
    --------
    >>> checked_rows([[1.0]], [2.0], None, "partition 0", are_labels=False).targets
    array([2.])
    """
    try:
        points = check_points(np.asarray(X, dtype=np.float64, order="C"))
        targets = np.asarray(y) if are_labels else np.asarray(y, dtype=np.float64, order="C")
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if len(targets) != len(points):
            raise ValueError(f"X has {len(points)} rows, and y has {len(targets)}")  # noqa: TRY301
        if not are_labels and not np.isfinite(targets).all():
            raise ValueError("y has values that are not finite")  # noqa: TRY301
        if weights is None:
            return Rows(points, targets, np.ones(len(points)))
        weights = check_vector(weights, len(points), "sample_weight")
        return Rows(points, targets, check_weight_range(weights, "sample_weight"))
    except (ValueError, TypeError) as error:
        raise PartitionError(f"{place} cannot be used: {error}") from error


def summarise_rows(rows: Rows, are_labels: bool) -> Summary:
    """Return counts and shapes of a partition."""
    labels = counts = None
    if are_labels:
        labels, counts = np.unique(rows.targets[rows.weights > 0.0], return_counts=True)
    weight = float(np.sum(rows.weights))
    shape = rows.targets.shape[1:]
    return Summary(len(rows.points), weight, rows.points.shape[1], shape, labels, counts)


def sample_rows(rows: Rows, own: tuple[int, int], seed: int, are_labels: bool) -> Rows:
    """Return some rows in their order, drawn by a seed of their own, with a row of each label.

    Parameters
    ----------
    rows : Rows
        A partition.
    own : (int, int)
        Number of rows to draw among those that have a weight, and number of the partition.
    seed : int
        The seed of the fit.
    are_labels : bool
        Whether targets are labels.
    """
    (size, place), counted = own, np.flatnonzero(rows.weights > 0.0)
    order = np.random.default_rng([seed, place]).permutation(counted)
    chosen = order[:size]
    if are_labels and len(order):
        _, first = np.unique(rows.targets[order], return_index=True)
        chosen = np.union1d(chosen, order[first])
    chosen = np.sort(chosen)
    return Rows(rows.points[chosen], rows.targets[chosen], rows.weights[chosen])


def encode_rows(
    rows: Rows, estimator: Any, class_weight: dict[Any, float] | None, rule: OutlierRule | None
) -> Block:
    """Return a block of targets as the loss takes them; its shares are weights."""
    weights = rows.weights
    if class_weight is not None and len(weights):
        weights = weights * np.array(
            [class_weight.get(label, 1.0) for label in rows.targets.tolist()]
        )
    counted = weights > 0.0
    rows = Rows(*(each if counted.all() else each[counted] for each in (*rows[:2], weights)))
    targets = estimator.encode_targets(rows.targets)
    share = rows.weights
    if rule is not None:
        share = np.where(rule.outliers(rows.points, targets), 0.0, share)
    return Block(rows.points, targets, share)


def weight_block(block: Block) -> tuple[float, int]:
    """Return the sum of the weights, and the number of rows without."""
    return float(np.sum(block.share)), int(np.sum(block.share == 0.0))


def normalise_block(block: Block, total: float) -> Block:
    """Divide weights by their sum over all blocks."""
    return block._replace(share=block.share / total)
