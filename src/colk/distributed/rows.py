"""The rows of a fit over partitions, and the functions of one partition that workers run."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from colk._encoding.frames import is_table, read_table
from colk._validation import Array, check_points, check_vector, check_weight_range
from colk.distributed.engines import Parts
from colk.model.parts import Part, Source
from colk.model.sample import RowSample
from colk.rkhs.polishing import Block

__all__ = ["PartitionRows", "Summary", "checked_rows"]


class Summary(NamedTuple):
    """Counts and shapes of a partition, which are sent to the caller."""

    n_rows: int  # with a positive weight
    n_features: int
    target_shape: tuple[int, ...]  # shape of one target


class PartitionError(ValueError):
    """A partition cannot be read or used."""

    def __reduce__(self) -> tuple[type["PartitionError"], tuple[str]]:
        return PartitionError, (str(self),)


def checked_rows(X: Any, y: Any, weights: Any, place: str, are_labels: bool) -> Part:
    """Return the rows of a partition with a positive weight; an error names the partition.

    Examples
    --------
    >>> checked_rows([[1.0]], [2.0], None, "partition 0", are_labels=False).y
    array([2.])
    """
    try:
        points: Source = read_table(X) if is_table(X) else _numbers(X)
        n_rows = len(X) if is_table(X) else len(points)
        targets = np.asarray(y) if are_labels else np.asarray(y, dtype=np.float64, order="C")
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if len(targets) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(targets)}")  # noqa: TRY301
        if not are_labels and not np.isfinite(targets).all():
            raise ValueError("y has values that are not finite")  # noqa: TRY301
        if weights is None:
            return Part(points, targets, np.ones(n_rows), 0)
        weights = check_vector(weights, n_rows, "sample_weight")
        return Part(points, targets, check_weight_range(weights, "sample_weight"), 0).counted()
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


def summarise_rows(part: Part) -> Summary:
    """Return counts and shapes of a partition."""
    source = part.source
    n_features = len(source[0]) if isinstance(source, tuple) else source.shape[1]
    return Summary(len(part.weight), n_features, part.y.shape[1:])


def number_rows(part: Part, first: int) -> Part:
    """Return the rows of a partition with the number of its first row among all rows."""
    return part._replace(first=first)


def sample_rows(part: Part, sample: RowSample) -> RowSample:
    """Return the rows of a partition that the sample of all rows needs."""
    own = deepcopy(sample)  # threads share what they are given
    own.add(part)
    return own


def encode_rows(part: Part, encode: Callable[[Part], Block]) -> Block:
    """Return the rows of a partition as the learner and the loss take them."""
    return encode(part)


class PartitionRows:
    """The rows of a fit that are spread over partitions.

    Parameters
    ----------
    parts : Parts
        The partitions, each a `Part`.

    Attributes
    ----------
    n_rows, n_features : int
        Number of rows with a positive weight, and of columns.
    """

    def __init__(self, parts: Parts) -> None:
        found: Sequence[Summary] = parts.fetch(parts.each(summarise_rows))
        places = [k for k, summary in enumerate(found) if summary.n_rows]
        if not places:
            raise ValueError("no partition has a row with a positive weight")
        summaries = [found[k] for k in places]
        for name in ("n_features", "target_shape"):
            shapes = {getattr(summary, name) for summary in summaries}
            if len(shapes) > 1:
                raise ValueError(f"partitions differ in {name}: {sorted(map(str, shapes))}")
        ends = np.cumsum([summary.n_rows for summary in summaries]).tolist()
        self.n_rows, self.n_features = ends[-1], summaries[0].n_features
        self._parts = parts.chosen(places).derive(number_rows, per_block=[[0, *ends[:-1]]])

    def scan(self, sample: RowSample) -> RowSample:
        """Show all rows to a sample; return it."""
        parts, own = self._parts, sample.for_partition(self.n_rows)
        return reduce(RowSample.merged, parts.fetch(parts.each(sample_rows, own)), sample)

    def blocks(self, encode: Callable[[Part], Block], n_rows: int, width: int) -> Parts:
        """Return all rows as blocks of encoded rows, one for each partition."""
        return self._parts.derive(encode_rows, encode)
