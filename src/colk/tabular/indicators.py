"""Named columns as a matrix: numbers unchanged, an indicator for each value of a category."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from colk._validation import Array

__all__ = ["MOST_CATEGORIES", "IndicatorEncoder"]

# The most indicators of a column; later values have none.
MOST_CATEGORIES = 64


class IndicatorEncoder:
    """Makes a matrix of columns: first the numbers, then indicators in the order of appearance.

    The order does not depend on the size of the batches.

    Parameters
    ----------
    numbers, categorical : sequence of str
        Names of the columns of numbers, and of the columns of text.
    indicators : sequence of (str, str)
        Column and value of each indicator so far.

    Examples
    --------
    >>> import numpy as np
    >>> encoder = IndicatorEncoder(["size"], ["city"])
    >>> columns = {"size": np.array([1.0, 2.0]), "city": np.array(["Bonn", "Rome"], dtype=object)}
    >>> encoder.admit(columns)
    >>> encoder.names
    ['size', 'city=Bonn', 'city=Rome']
    >>> encoder.encode(columns)
    array([[1., 1., 0.],
           [2., 0., 1.]])
    """

    def __init__(
        self,
        numbers: Sequence[str],
        categorical: Sequence[str],
        indicators: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.numbers, self.categorical = list(numbers), list(categorical)
        self._places: dict[str, dict[str, int]] = {name: {} for name in self.categorical}
        self._crowded: set[str] = set()  # columns whose later values a warning has named
        self.indicators: list[tuple[str, str]] = []
        for name, value in indicators:
            self._add(name, value)

    @property
    def names(self) -> list[str]:
        """Names of the columns of the matrix."""
        return self.numbers + [f"{name}={value}" for name, value in self.indicators]

    def _add(self, name: str, value: str) -> None:
        self._places[name][value] = len(self.numbers) + len(self.indicators)
        self.indicators.append((name, value))

    def admit(self, columns: Mapping[str, Any]) -> None:
        """Add an indicator for each new value."""
        new: list[tuple[int, int, str]] = []
        for place, name in enumerate(self.categorical):
            known = set(self._places[name])
            for row, value in enumerate(columns[name]):
                if value not in known:
                    known.add(value)
                    new.append((row, place, value))
        for _, place, value in sorted(new):
            name = self.categorical[place]
            if len(self._places[name]) < MOST_CATEGORIES:
                self._add(name, value)
            elif name not in self._crowded:
                self._crowded.add(name)
                warnings.warn(
                    f"column {name!r} has more than {MOST_CATEGORIES} values: later ones, such as "
                    f"{value!r}, get no indicator and look alike to the model; merge rare values",
                    RuntimeWarning,
                    stacklevel=5,
                )

    def without_indicator(self, columns: Mapping[str, Any]) -> dict[str, int]:
        """Return how many rows have a value without an indicator, for each such column.

        Parameters
        ----------
        columns : mapping of str to array
            The columns by name.
        """
        missing = {
            name: sum(str(value) not in self._places[name] for value in columns[name])
            for name in self.categorical
        }
        return {name: count for name, count in missing.items() if count}

    def encode(self, columns: Mapping[str, Any]) -> Array:
        """Return the matrix of rows; a value without an indicator is all zeros."""
        width = len(self.numbers) + len(self.indicators)
        matrix = np.zeros((_length(columns, self.numbers + self.categorical), width))
        for place, name in enumerate(self.numbers):
            matrix[:, place] = columns[name]
        for name in self.categorical:
            places = self._places[name]
            for row, value in enumerate(columns[name]):
                column = places.get(value)
                if column is not None:
                    matrix[row, column] = 1.0
        return matrix


def _length(columns: Mapping[str, Any], names: Sequence[str]) -> int:
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing")
    lengths = {len(columns[name]) for name in names}
    if len(lengths) > 1:
        raise ValueError(f"columns differ in length: {sorted(lengths)}")
    return lengths.pop()
