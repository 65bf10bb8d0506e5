"""Parse the LIBSVM format: a label, then pairs of feature number and value."""

import re
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from colk.tabular.reading.blocks import TextBlock
from colk.tabular.reading.cells import as_number
from colk.tabular.reading.first_rows import FirstRows
from colk.tabular.reading.lines import Parsed
from colk.tabular.reading.rows import Column, Columns, Kind, Reject

__all__ = ["LABEL", "LibSVM", "largest_feature"]

# Name of the column of labels; the names of features are their numbers.
LABEL = "label"

# Characters stripped from a line; the first line may begin with a byte order mark.
_BLANK = " \t\r\n\v\f\ufeff"

_PAIR = re.compile(r"(\d{1,9}):(\S+)", re.ASCII)
_MOST_FEATURES = 100_000


class LibSVM:
    r"""Parser of lines such as `1 1:0.5 3:2`; features missing from a line are 0.

    Parameters
    ----------
    n_features : int, optional
        The largest feature number. Default: the largest in the first block.

    Examples
    --------
    >>> table = LibSVM()
    >>> block = TextBlock(b"1 1:0.5 3:2\n", 0, 1, 12)
    >>> table.look(block), list(table.kinds)
    (0, ['label', '1', '2', '3'])
    """

    quoted = False
    found: ClassVar[dict[str, str]] = {}

    def __init__(self, n_features: int | None = None) -> None:
        self._n_features = n_features
        self.kinds: dict[str, Kind] = {}
        self.first_rows = FirstRows()  # stays empty, because a missing feature is 0

    def look(self, block: TextBlock) -> int:
        """Find the features in the first block, and whether their numbers begin at 0 or 1."""
        found = [int(place) for place, _ in _PAIR.findall(block.data.decode(errors="replace"))]
        if not found:
            raise ValueError("its first lines have no features such as 1:0.5")
        largest = self._n_features or max(found)
        if largest > _MOST_FEATURES:
            raise ValueError(f"it has {largest} features, more than {_MOST_FEATURES}")
        labels = [line.split(maxsplit=1)[:1] for line in block.data.split(b"\n")]
        plain = sum(_is_plain(label[0]) for label in labels if label)
        text = 2 * plain < sum(bool(label) for label in labels)
        lowest = min(1, *found, largest)
        self.kinds = {LABEL: "text" if text else "number"}
        self.kinds |= {str(place): "number" for place in range(lowest, largest + 1)}
        return 0

    def parse(self, block: TextBlock, wanted: Columns) -> Parsed:
        """Return the wanted columns, the lines of their rows, and rejected rows."""
        if set(wanted.carried) - {LABEL}:
            raise ValueError("only the label of the LIBSVM format can be kept beside predictions")
        places = {name: place for place, name in enumerate(wanted.numbers)}
        matrix, labels, lines, rejects = [], [], [], []
        for line, data in enumerate(block.data.split(b"\n")[:-1], block.line):
            text = data.decode(errors="replace").partition("#")[0].strip(_BLANK)
            if not text:
                continue
            try:
                label, values = self._row(text, places)
            except ValueError as error:
                rejects.append(Reject(line, str(error)))
                continue
            matrix.append(values)
            labels.append(label)
            lines.append(line)
        table = np.array(matrix, dtype=np.float64).reshape(len(lines), len(places))
        columns: dict[str, Column] = {name: table[:, place] for name, place in places.items()}
        for name in (*wanted.texts, *wanted.carried_keys):  # only labels are read as text
            columns[name] = np.array(labels, dtype=object)
        return columns, np.array(lines, dtype=np.int64), rejects

    def _row(self, text: str, places: dict[str, int]) -> tuple[str, list[float]]:
        label, *pairs = text.split()
        values = [0.0] * len(places)
        if LABEL in places:
            values[places[LABEL]] = as_number(label, LABEL)
        for pair in pairs:
            if pair.startswith("qid:"):
                continue
            match = _PAIR.fullmatch(pair)
            if match is None:
                raise ValueError(f"{pair[:40]!r} is not a feature such as 1:0.5")
            name = str(int(match[1]))
            if name not in self.kinds:
                raise ValueError(
                    f"feature {name} is outside the range of the first lines; set `n_features` to "
                    "the number of features"
                )
            if name in places:
                values[places[name]] = as_number(match[2], name)
        return label, values


def largest_feature(names: Iterable[str]) -> int | None:
    """Return the largest name that is a number, if there is one.

    Examples
    --------
    >>> largest_feature(["label", "1", "12"])
    12
    """
    return max((int(name) for name in names if name.isdecimal()), default=None)


def _is_plain(label: bytes) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True
