"""Recognise files whose rows are sorted."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["RowOrder"]

# Fewer rows are in some order by chance.
_FEWEST = 30


class RowOrder:
    """Finds the columns of numbers, dates or labels by which rows are sorted, block by block.

    Rows are sorted by labels if the rows of each label follow each other.

    Parameters
    ----------
    names : iterable of str
        The columns.

    Examples
    --------
    >>> order = RowOrder(["when", "size"])
    >>> order.add({"when": np.arange(50.0), "size": np.zeros(50)})
    >>> order.add({"when": np.arange(40.0, 90.0), "size": np.zeros(50)})
    >>> order.names
    []
    >>> order = RowOrder(["when"])
    >>> order.add({"when": np.arange(50.0)})
    >>> order.names
    ['when']
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._n = 0
        self._last: dict[str, Any] = {}
        self._signs: dict[str, set[float]] = {name: set() for name in names}
        self._labels: dict[str, set[str]] = {}

    def add(self, columns: Mapping[str, Any]) -> None:
        """Add rows, in their order.

        Parameters
        ----------
        columns : mapping of str to array
            The columns by name.
        """
        self._n += len(next(iter(columns.values()), ()))
        for name in list(self._signs):
            values = np.asarray(columns[name])
            kept = self._add_labels if values.dtype == object else self._add_numbers
            if not kept(name, values):
                del self._signs[name]

    def _add_numbers(self, name: str, values: Any) -> bool:
        """Whether the numbers so far only rise, or only fall; gaps do not count."""
        known = np.concatenate([self._last.get(name, ()), values[~np.isnan(values)]])
        self._last[name] = known[-1:]
        signs = self._signs[name]
        signs.update(np.unique(np.sign(np.diff(known))).tolist())
        return not signs >= {-1.0, 1.0}

    def _add_labels(self, name: str, values: Any) -> bool:
        """Whether no label comes back after another one."""
        seen, last = self._labels.setdefault(name, set()), self._last.get(name)
        for label in values:
            if label != last:
                if label in seen:
                    return False
                seen.add(label)
                last = label
        self._last[name] = last
        return True

    @property
    def names(self) -> list[str]:
        """The columns by which the rows are sorted, other than constant ones."""
        if self._n < _FEWEST:
            return []
        labels = {name for name, seen in self._labels.items() if len(seen) > 1}
        return [name for name, signs in self._signs.items() if signs - {0.0} or name in labels]
