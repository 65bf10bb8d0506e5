"""Find the kinds of columns by counting the contents of the first rows."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from colk.tabular.moments import is_day_first, is_moment
from colk.tabular.reading.cells import is_number
from colk.tabular.reading.rows import Kind

__all__ = ["LOOKED_AT", "WORD", "FirstRows", "content_of"]

# Number of rows that determine the kinds of columns.
LOOKED_AT = 1000
# A column with values in a smaller share of the rows is not a feature unless the user names it.
_SHARE = 0.02
# Content of a cell with a word that means "missing" in a column of numbers or dates.
WORD = "word"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
# A column of numbers with at most this many values may hold classes.
FEW = 10
# With this many rows, a column of text whose values are all different is not a category.
_MANY = 100


def content_of(value: Any) -> str:
    """Return "number", "date", "text", "nested", or "" for a missing value.

    Examples
    --------
    >>> [content_of(value) for value in (1, "2", "2026-11-17", "12:30", "x", [1], None)]
    ['number', 'number', 'date', 'date', 'text', 'nested', '']
    """
    if value is None or value == "":
        return ""
    if isinstance(value, dict | list):
        return "nested"
    if not isinstance(value, str):
        return "text" if isinstance(value, bool) else "number"
    text = value.strip()
    if not text:
        return ""
    if is_number(text):
        return "number"
    return "date" if is_moment(text) else "text"


class FirstRows:
    """Counts the contents of each column, row by row.

    Examples
    --------
    >>> rows = FirstRows()
    >>> for when in ("2026-11-17", "2026-11-18", "2026-11-19"):
    ...     rows.add([("when", "date", when), ("size", "number", "3.5")])
    >>> rows.add([("size", "number", "1"), ("extra", "number", "1")])
    >>> rows.kinds, rows.dates, rows.rare
    ({'when': 'text', 'size': 'number', 'extra': 'number'}, {'when'}, {})
    >>> rows.gaps("extra"), rows.n_values("when")
    (0.75, 3)
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.n_rows = 0
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in names}
        self._values: dict[str, set[Any]] = {}  # distinct texts, dates and words
        self._words: dict[str, set[str]] = {}
        self._numbers: dict[str, set[Any]] = {}  # the first distinct numbers
        self.dressed: dict[str, str] = {}  # columns of numbers such as "$1,234", with an example
        self.unnamed: set[str] = set()  # columns without a name

    def add(self, row: Iterable[tuple[str, str, Any]]) -> None:
        """Count the cells of a row.

        Parameters
        ----------
        row : iterable of (str, str, value)
            Name of the column, `content_of` the value, and value of each cell.
        """
        self.n_rows += 1
        for name, content, value in row:
            if content:
                self._counts.setdefault(name, Counter())[content] += 1
            if content in ("text", "date", WORD):
                self._values.setdefault(name, set()).add(value)
            if content == WORD:
                self._words.setdefault(name, set()).add(value.strip())
            elif content == "number":
                self._add_numbers(name, (value,))

    def add_column(self, name: str, content: str, values: Sequence[Any]) -> None:
        """Count several values of a column with the same content.

        Parameters
        ----------
        name, content : str
            Name and content of the column.
        values : sequence
            Its values that are not missing.
        """
        self._counts.setdefault(name, Counter())[content] += len(values)
        if content in ("text", "date"):
            self._values.setdefault(name, set()).update(values)
        elif content == "number":
            self._add_numbers(name, values)

    def _add_numbers(self, name: str, values: Iterable[Any]) -> None:
        known = self._numbers.setdefault(name, set())
        for value in values:
            if len(known) > FEW:
                return
            known.add(str(value).strip())

    def few_numbers(self, name: str) -> int | None:
        """Return the number of distinct numbers in a column; None if there are more than ten."""
        n = len(self._numbers.get(name, ()))
        return n if n <= FEW else None

    @property
    def row_numbers(self) -> set[str]:
        """Columns without a name that count the rows."""
        first = {name: self._numbers.get(name, set()) for name in self.unnamed}
        return {name for name, values in first.items() if _counts(values)}

    def gaps(self, name: str) -> float | None:
        """Return the share of rows without a value in a column; None if there are no rows."""
        if name not in self._counts or self.n_rows == 0:
            return None
        return 1.0 - self._present(name) / self.n_rows

    def _present(self, name: str) -> int:
        """Number of rows with a value."""
        counts = self._counts[name]
        return _plain(counts) if _has_gaps(counts) else counts.total()

    @property
    def missing_words(self) -> set[str]:
        """The words that were found in columns of numbers or dates, where they mean "missing"."""
        gapped = (words for name, words in self._words.items() if _has_gaps(self._counts[name]))
        return set().union(*gapped)

    def n_values(self, name: str) -> int | None:
        """Return the number of distinct texts in a column; None if it has none."""
        return len(self._values[name]) if name in self._values else None

    @property
    def distinct(self) -> set[str]:
        """Columns with at least a hundred texts of which no two are equal."""
        kinds = self.kinds
        return {
            name
            for name, values in self._values.items()
            if kinds[name] == "text"
            and name not in self.dates
            and len(values) == self._counts[name].total() >= _MANY
        }

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each column: text if most of its values are not numbers."""
        return {
            name: "number" if _is_of_numbers(counts) else "text"
            for name, counts in self._counts.items()
        }

    def _mostly(self, content: str) -> set[str]:
        return {name for name, counts in self._counts.items() if _is_mostly(counts, content)}

    def holds(self, name: str, content: str) -> bool:
        """Return whether most values of a column have this content; see `content_of`.

        Parameters
        ----------
        name, content : str
            The column and the content.
        """
        return name in self._counts and _is_mostly(self._counts[name], content)

    @property
    def dates(self) -> set[str]:
        """Columns of dates or times."""
        return self._mostly("date")

    @property
    def month_first(self) -> set[str]:
        """Columns of dates with the month first, in which 3/4/2026 is in March."""
        texts = {name: self._values.get(name, set()) for name in self.dates}
        return {
            name
            for name, values in texts.items()
            if not is_day_first(value for value in values if isinstance(value, str))
        }

    @property
    def decimal_commas(self) -> set[str]:
        """Columns of text whose values are mostly numbers with a decimal comma."""
        return {
            name
            for name, values in self._values.items()
            if 2 * sum(_DECIMAL_COMMA.fullmatch(str(value)) is not None for value in values)
            > len(values)
        }

    @property
    def unreadable(self) -> set[str]:
        """Columns of lists, objects or bytes, which are neither numbers nor text."""
        return self._mostly("nested")

    @property
    def rare(self) -> dict[str, tuple[int, int]]:
        """Columns with values in very few rows: number of rows with a value, and of all rows."""
        found = {name: (self._present(name), self.n_rows) for name in self._counts}
        return {name: seen for name, seen in found.items() if seen[0] < _SHARE * seen[1]}


def _counts(values: set[Any]) -> bool:
    """Whether more than ten numbers are whole and follow each other."""
    if len(values) <= FEW or not all(str(value).isdecimal() for value in values):
        return False
    whole = sorted(map(int, values))
    return whole[-1] - whole[0] == len(whole) - 1


def _plain(counts: Counter[str]) -> int:
    """Return the number of values that are not words for missing ones."""
    return counts.total() - counts[WORD]


def _is_mostly(counts: Counter[str], content: str) -> bool:
    return 2 * counts[content] > _plain(counts)


def _has_gaps(counts: Counter[str]) -> bool:
    """Whether words mean missing values, because the others are numbers or dates."""
    return _is_of_numbers(counts) or _is_mostly(counts, "date")


def _is_of_numbers(counts: Counter[str]) -> bool:
    """Whether at least half of the values are numbers; words alone are text."""
    plain = _plain(counts)
    return plain <= 2 * counts["number"] and (plain > 0 or counts[WORD] == 0)
