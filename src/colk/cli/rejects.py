"""Count unusable rows, write them to a file, and stop if there are too many."""

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colk.cli.csv_cells import csv_line

if TYPE_CHECKING:
    from colk.tabular.reading import Reject

__all__ = ["Rejects", "TooManyRejectsError"]

# Largest share of rejected rows, unless --allow-rejects is given.
_SHARE = 0.05
# A pipe is stopped before its end only after this many rejected rows.
_FEWEST = 100
# Number of reasons in the message.
_TOLD = 3
# Largest number of reasons that are counted separately.
_KINDS = 20


class TooManyRejectsError(ValueError):
    """More rows are unusable than a table with the right options has."""


class Rejects:
    """Counts unusable rows, and writes them to a file.

    Parameters
    ----------
    path : Path or None
        A CSV file with the columns file, line and reason; None to only count.
    strict : bool
        Whether to raise an error at the first unusable row.
    size, count : int, default=0
        For a continued run: bytes of the file to keep, and number of rows counted so far.
    allowed : bool, default=True
        Whether any number of rows may be rejected.

    Examples
    --------
    >>> from colk.tabular.reading import Reject
    >>> rejects = Rejects(None, strict=False)
    >>> rejects.add("a.csv", [Reject(2, "size is missing")])
    >>> rejects.count, rejects.first
    (1, 'a.csv, line 2: size is missing')
    """

    def __init__(
        self,
        path: Path | None,
        strict: bool,
        size: int = 0,
        count: int = 0,
        allowed: bool = True,
    ) -> None:
        self._strict, self._allowed = strict, allowed
        self.count = count
        self._kinds: dict[str, tuple[int, str]] = {}
        self.first = ""
        self._file: io.BufferedRandom | None = None
        if path is not None:
            path.touch()
            self._file = open(path, "r+b")  # noqa: SIM115, closed by `close`
            size = min(size, os.path.getsize(path))  # the file may have been removed
            self._file.truncate(size)
            self._file.seek(size)
            if size == 0:
                self._write("file", "line", "reason")

    @property
    def size(self) -> int:
        """Flush the file; return its number of bytes."""
        if self._file is None:
            return 0
        self._file.flush()
        return self._file.tell()

    def add(self, path: str, rejects: "Sequence[Reject]") -> None:
        """Count and write the unusable rows of a file; raise at the first one if `strict`."""
        for reject in rejects:
            told = f"{path}, line {reject.line}: {reject.reason}"
            self.first = self.first or told
            self._sort(reject.reason, f"{Path(path).name}, line {reject.line:,}: {reject.reason}")
            self.count += 1
            if self._file is not None:
                self._write(path, reject.line, " ".join(reject.reason.split()))
            if self._strict:
                self.close()
                raise ValueError(f"{told} (--strict)")

    def check(self, usable: int, has_ended: bool = True) -> None:
        """Raise if more than 5 % of the rows were rejected, some of them in this run.

        Parameters
        ----------
        usable : int
            Number of rows that were not rejected.
        has_ended : bool, default=True
            Whether these are all rows. If not, at least 100 rows must have been rejected.
        """
        total = self.count + usable
        if self._allowed or not self._kinds or usable == 0 or self.count <= _SHARE * total:
            return
        if not has_ended and self.count < _FEWEST:
            return
        told = "; ".join(f"{n} rows: {first}" for _, n, first in self.reasons[:_TOLD])
        raise TooManyRejectsError(
            f"{self.count:,} of {'' if has_ended else 'the first '}{total:,} rows cannot be used "
            f"({told}); --allow-rejects learns the others"
        )

    def _sort(self, reason: str, told: str) -> None:
        """Count a reason; values and counts in it are replaced by "…", as they differ by row."""
        kind = re.sub(r"'.*'|\".*\"|(?<=it has )\d+|(?<= is )[-+.\deinf]+(?=, beyond)", "…", reason)
        if kind not in self._kinds and len(self._kinds) >= _KINDS:
            kind = "other reasons"
        n, first = self._kinds.get(kind, (0, told))
        self._kinds[kind] = (n + 1, first)

    @property
    def reasons(self) -> list[tuple[str, str, str]]:
        """The reasons, most frequent first: reason, number of rows, and first row."""
        most = sorted(self._kinds.items(), key=lambda each: -each[1][0])
        return [(kind, f"{n:,}", first) for kind, (n, first) in most]

    def _write(self, *cells: str | int) -> None:
        if self._file is not None:
            self._file.write(csv_line(cells, safe=True).encode(errors="replace"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> "Rejects":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
