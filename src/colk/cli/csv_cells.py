"""Write lines of CSV, also such that spreadsheets run nothing in them."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["csv_line"]

# A text that spreadsheets take for a formula, and one that is a number.
_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def csv_line(cells: Iterable[Any], safe: bool) -> str:
    r"""Return a line of CSV; if it is safe, spreadsheets take no text of it for a formula.

    Such a text begins with =, +, - or @ and is not a number; it gets an apostrophe before it.

    Examples
    --------
    >>> csv_line(["=1+1", "-7", None, 0.5], safe=True)
    "'=1+1,-7,,0.5\n"
    """
    row = tuple("'" + cell if safe and _is_formula(cell) else cell for cell in cells)
    if row == (None,):  # a blank line, which readers skip
        return '""\n'
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def _is_formula(cell: Any) -> bool:
    is_text = isinstance(cell, str) and _FORMULA.match(cell) is not None
    return is_text and not _NUMBER.fullmatch(cell)
