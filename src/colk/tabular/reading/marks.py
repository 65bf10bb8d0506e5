"""Find the delimiter and the decimal mark of CSV in its first lines."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

__all__ = ["DELIMITERS", "decimal_of", "delimiter_of"]

# Delimiters that are looked for.
DELIMITERS = ",;\t|"
# Number of lines in which they are looked for.
_LINES = 100
_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*", re.ASCII)
# In 1,234 the comma may separate thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)


def delimiter_of(text: str, usual: str, n_names: int | None = None, decimal: str = "") -> str:
    r"""Return the delimiter of a table.

    It is the usual one if this separates the names of the columns and the cells of half of the
    lines. Otherwise it is the one with the same number of cells in most lines, if there is one.

    Parameters
    ----------
    text : str
        The first lines.
    usual : str
        The delimiter that belongs to the file's extension.
    n_names : int, optional
        Number of columns. Default: as many as the first line has cells.
    decimal : str, default=""
        The decimal mark if it is known; it is not the delimiter.

    Examples
    --------
    >>> delimiter_of("a;b\n1,5;2\n", ","), delimiter_of("a\n1\n", ",")
    (';', ',')
    """
    candidates = [usual, *(mark for mark in DELIMITERS if mark not in (usual, decimal))]
    shares = {mark: _share(text, mark, n_names) for mark in candidates}
    if shares[usual] >= 0.5:
        return usual
    best = max(candidates, key=shares.__getitem__)
    return best if shares[best] >= 0.5 else usual


def _share(text: str, delimiter: str, n_names: int | None) -> float:
    """Return the share of the lines that have a cell for each of several columns."""
    lines = io.StringIO(text, newline="").readlines()[:_LINES]
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(row)]
    except csv.Error:
        return 0.0
    width = n_names or len(rows[0] if rows else ())
    if width < 2:
        return 0.0
    return sum(len(row) == width for row in rows) / len(rows)


def decimal_of(rows: Iterable[Sequence[str]], delimiter: str) -> str:
    """Return the decimal mark that most numbers with a mark have; a point if there are none.

    Parameters
    ----------
    rows : iterable of sequence of str
        Cells.
    delimiter : str
        The delimiter. Beside a comma, numbers such as "1,234" are taken for thousands.

    Examples
    --------
    >>> decimal_of([["1,5", "x"]], ";"), decimal_of([["1.5", "x"]], ";")
    (',', '.')
    >>> decimal_of([["1,234"]], ","), decimal_of([["1,234", "1,5"]], ",")
    ('.', ',')
    """
    commas = points = 0
    is_sure = delimiter != ","
    for row in rows:
        for cell in row:
            if _WITH_COMMA.fullmatch(cell):
                commas += 1
                is_sure = is_sure or _THOUSANDS.fullmatch(cell) is None
            elif _WITH_POINT.fullmatch(cell):
                points += 1
    return "," if is_sure and commas > points else "."
