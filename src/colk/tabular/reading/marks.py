"""Find where a table in CSV begins, its delimiter, and how its numbers are written."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

__all__ = ["DELIMITERS", "decimal_of", "delimiter_of", "lines_before", "undressed"]

# Delimiters that are looked for.
DELIMITERS = ",;\t|"
# Number of lines in which they are looked for.
_LINES = 100
# Largest number of lines before the names of the columns.
_BEFORE = 20
_MONEY = "(?:[$€£¥]|EUR|USD|GBP|CHF)"
_SPACES = " '’\u00a0\u2009\u202f"


def _number(point: str, comma: str) -> re.Pattern[str]:
    """Return the pattern of a number with a sign, thousands, a currency, or percent."""
    return re.compile(
        rf"\s*(?P<sign>[+-]?){_MONEY}?\s*(?P<later>[+-]?)"
        rf"(?P<whole>\d{{1,3}}(?P<mark>[{comma}{_SPACES}])\d{{3}}(?:(?P=mark)\d{{3}})*|\d*)"
        rf"(?:[{point}](?P<rest>\d*))?(?P<power>[eE][+-]?\d+)?\s*(?:{_MONEY}|%)?\s*",
        re.ASCII,
    )


_NUMBERS = {".": _number(".", ","), ",": _number(",", ".")}
# In 1,234 the comma may separate thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)


def undressed(cell: str, decimal: str) -> str | None:
    """Return a number with a decimal point, without thousands, currency and percent; or None.

    Parameters
    ----------
    cell : str
        The cell.
    decimal : {".", ","}
        Its decimal mark.

    Examples
    --------
    >>> undressed("-$1,234.50", "."), undressed("1.234,5 EUR", ","), undressed("12 %", ".")
    ('-1234.50', '1234.5', '12')
    >>> undressed("12 kg", "."), undressed("1,2", ".")
    (None, None)
    """
    found = _NUMBERS[decimal].fullmatch(cell)
    if found is None or not (found["whole"] or found["rest"]) or (found["sign"] and found["later"]):
        return None
    whole = found["whole"].replace(found["mark"], "") if found["mark"] else found["whole"]
    rest = f".{found['rest']}" if found["rest"] else ""
    return f"{found['sign']}{found['later']}{whole}{rest}{found['power'] or ''}"


def lines_before(lines: Sequence[str], delimiters: str) -> int:
    r"""Return the number of lines before the names of the columns, such as titles.

    They are lines before the first one from which nine lines of ten have the same number of cells,
    at least two, and of which no cell is a number and at most a third of the cells are empty.

    Parameters
    ----------
    lines : sequence of str
        The first lines.
    delimiters : str
        The delimiter, or several that are possible.

    Examples
    --------
    >>> lines_before(["Report\n", "\n", "a;b\n", "1;2\n", "3;4\n"], DELIMITERS)
    2
    >>> lines_before(["a\n", "1,5\n", "2,5\n"], DELIMITERS)
    0
    """
    places = [place for place, line in enumerate(lines) if line.strip()]
    for place in places[:_BEFORE]:
        text = "".join(lines[place:])
        for mark in delimiters:
            share = _share(text, mark, None)
            if place == places[0] and share >= 0.5:
                return 0
            if share >= 0.9 and _may_be_names(next(csv.reader([lines[place]], delimiter=mark), [])):
                return place
    return 0


def _may_be_names(cells: Sequence[str]) -> bool:
    are_numbers = any(undressed(cell, mark) for cell in cells for mark in _NUMBERS)
    return not are_numbers and 3 * sum(not cell.strip() for cell in cells) <= len(cells)


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
            with_comma, with_point = (_has_rest(cell, mark) for mark in ",.")
            if with_comma:
                commas += 1
                is_sure = is_sure or _THOUSANDS.fullmatch(cell) is None
            elif with_point:
                points += 1
    return "," if is_sure and commas > points else "."


def _has_rest(cell: str, decimal: str) -> bool:
    """Whether a cell is a number with digits after this decimal mark."""
    found = _NUMBERS[decimal].fullmatch(cell) if decimal in cell else None
    return found is not None and bool(found["rest"])
