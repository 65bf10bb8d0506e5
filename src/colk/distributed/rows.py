"""Pure functions of one partition that workers run: check, count, sample and encode."""

from typing import Any, NamedTuple

import numpy as np

from colk._encoding.frames import is_table
from colk._frames import as_rows
from colk._validation import Array, check_points, check_vector, check_weight_range
from colk.rkhs.polishing import Block, OutlierRule

__all__ = [
    "Rows",
    "Summary",
    "as_input",
    "checked_rows",
    "encode_rows",
    "normalise_block",
    "sample_rows",
    "summarise_rows",
    "weight_block",
    "without_outliers",
]


class Rows(NamedTuple):
    """The rows of a partition."""

    points: Any  # (n, p): numbers with NaN for missing cells, or a table with other columns
    targets: Any  # (n,) or (n, q): numbers or labels
    weights: Array  # (n,)


class Summary(NamedTuple):
    """Counts and shapes of a partition, which are sent to the caller."""

    n_rows: int
    weight: float
    n_features: int
    target_shape: tuple[int, ...]  # shape of one target
    labels: Any  # distinct labels, sorted; None for numbers
    counts: Any  # number of rows of each label with a positive weight


class PartitionError(ValueError):
    """A partition cannot be read or used."""

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
        points = X if is_table(X) else _numbers(X)
        targets = np.asarray(y) if are_labels else np.asarray(y, dtype=np.float64, order="C")
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if len(targets) != len(points):
            raise ValueError(f"X has {len(points)} rows, but y has {len(targets)}")  # noqa: TRY301
        if not are_labels and not np.isfinite(targets).all():
            raise ValueError("y has values that are not finite")  # noqa: TRY301
        if weights is None:
            return Rows(points, targets, np.ones(len(points)))
        weights = check_vector(weights, len(points), "sample_weight")
        return Rows(points, targets, check_weight_range(weights, "sample_weight"))
    except (ValueError, TypeError) as error:
        raise PartitionError(f"{place} cannot be used: {error}") from error


def _numbers(X: Any) -> Array:
    """Return X as an array of numbers; missing cells are NaN."""
    is_pandas = hasattr(X, "iloc")
    found = X.to_numpy(np.float64, na_value=np.nan) if is_pandas else np.asarray(X, np.float64)
    points = np.ascontiguousarray(found)
    is_missing = np.isnan(points)
    check_points(np.where(is_missing, 0.0, points) if is_missing.any() else points)
    return points


def as_input(points: Any, names: Any) -> Any:
    """Return points as an estimator takes them: as a data frame if their columns have names.

    Examples
    --------
    >>> as_input(np.zeros((1, 2)), ["a", "b"]).columns.tolist()
    ['a', 'b']
    """
    if names is None or hasattr(points, "iloc"):
        return points
    import pandas

    return pandas.DataFrame(points, columns=names)


def summarise_rows(rows: Rows, are_labels: bool) -> Summary:
    """Return counts and shapes of a partition."""
    labels = counts = None
    if are_labels:
        labels, counts = np.unique(rows.targets[rows.weights > 0.0], return_counts=True)
    weight = float(np.sum(rows.weights))
    shape = rows.targets.shape[1:]
    return Summary(len(rows.points), weight, rows.points.shape[1], shape, labels, counts)


def sample_rows(rows: Rows, own: tuple[int, int], seed: int, are_labels: bool) -> Rows:
    """Return random rows of a partition in their order, at least one for each label.

    Each partition has its own seed.

    Parameters
    ----------
    rows : Rows
        A partition.
    own : (int, int)
        Number of rows to draw among those with a positive weight, and index of the partition.
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
    return _chosen(rows, chosen)


def _chosen(rows: Rows, places: Any) -> Rows:
    return Rows(as_rows(rows.points)[places], rows.targets[places], rows.weights[places])


def encode_rows(
    rows: Rows, estimator: Any, class_weight: dict[Any, float] | None, rule: OutlierRule | None
) -> Block:
    """Return rows encoded for the learner and the loss; the shares are still the weights."""
    weights = rows.weights
    if class_weight is not None and len(weights):
        weights = weights * np.array(
            [class_weight.get(label, 1.0) for label in rows.targets.tolist()]
        )
    counted = weights > 0.0
    rows = rows._replace(weights=weights)
    rows = rows if counted.all() else _chosen(rows, np.flatnonzero(counted))
    points = np.empty((0, estimator.learner_.function.n_features))
    if len(rows.weights):
        names = getattr(estimator, "feature_names_in_", None)
        points = estimator.encode_points(as_input(rows.points, names))
    block = Block(points, estimator.encode_targets(rows.targets), rows.weights)
    return block if rule is None else without_outliers(block, rule)


def without_outliers(block: Block, rule: OutlierRule) -> Block:
    """Return the block with weight 0 for outliers."""
    is_outlier = rule.outliers(block.points, block.targets)
    return block._replace(share=np.where(is_outlier, 0.0, block.share))


def weight_block(block: Block) -> tuple[float, int]:
    """Return the sum of the weights, and the number of rows of weight 0."""
    return float(np.sum(block.share)), int(np.sum(block.share == 0.0))


def normalise_block(block: Block, total: float) -> Block:
    """Divide weights by their sum over all blocks."""
    return block._replace(share=block.share / total)
