"""What is known of a data set, and the rule that keeps half of the sets for final tables.

A set on which a rule or a default of colk was chosen is a *development* set. Any other set is one
if the first byte of the SHA-256 of "0:" and its name is odd, and else it is a *final* set. A final
set can be read only in a final run. Sets with the same rows share the part, by one name for both.

The number 0 is the first one with which two to three fifths of the free sets are
final: of those for regression and for classification, of at most 5,000 rows and of more. It was
fixed before any score was computed, and it does not change when a set is added.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import numpy as np

__all__ = ["DataSet", "FinalSetError", "Loaded", "check_part", "final_run", "part_of"]

_FLAG, _DRAW = "COLK_LAB_FINAL", 0
# A table of the features, and the targets: numbers, or codes of the classes.
Loaded = tuple[Any, Any]


class FinalSetError(RuntimeError):
    """A final set was asked for outside a final run."""


@dataclass(frozen=True)
class DataSet:
    """A real data set.

    Parameters
    ----------
    name : str
        Its name.
    source : str
        The package that has it.
    read : callable
        Returns a data frame of the features and the targets.
    rows, features : int
        Its size.
    task : {"regression", "classification"}
        What is predicted.
    kinds : str, default=""
        "categories", "gaps", or both, if the columns have them.
    chosen : str, default=""
        The rule of colk that was chosen on it. Default: none.
    seen : str, default=""
        Who has looked at scores on it, without a choice.
    note : str, default=""
        A fact that a reader must know.
    family : str, default=name
        A name that sets with the same rows share.

    Examples
    --------
    >>> from colk_lab.data import SETS
    >>> airfoil = SETS["airfoil"]
    >>> airfoil.rows, airfoil.features, airfoil.part
    (1503, 5, 'development')
    """

    name: str
    source: str
    read: Callable[[], Loaded]
    rows: int
    features: int
    task: Literal["regression", "classification"] = "regression"
    kinds: str = ""
    chosen: str = ""
    seen: str = ""
    note: str = ""
    family: str = ""

    @property
    def part(self) -> str:
        """Return "development" or "final"."""
        return part_of(self.family or self.name, self.chosen)

    def load(self) -> Loaded:
        """Return the features as a data frame, and the targets as an array.

        Classes are the numbers 0, 1, … in the order of their names.
        """
        check_part(self.name, self.part)
        X, y = self.read()
        if self.task == "classification":
            return X, np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
        return X, np.asarray(y, dtype=np.float64)


def part_of(name: str, chosen: str = "") -> str:
    """Return the part of a set: "development" or "final".

    Examples
    --------
    >>> part_of("any name", chosen="a default")
    'development'
    """
    if chosen or sha256(f"{_DRAW}:{name}".encode()).digest()[0] % 2:
        return "development"
    return "final"


def check_part(name: str, part: str) -> None:
    """Raise an error for a final set outside a final run."""
    if part == "final" and not os.environ.get(_FLAG):
        raise FinalSetError(
            f"{name!r} is kept for final tables: choose on a development set. A final run reads it "
            f"in `with colk_lab.data.final_run():`, or with {_FLAG}=1 in the environment"
        )


@contextmanager
def final_run() -> Iterator[None]:
    """Allow final sets in this process, and in the processes that it starts.

    Examples
    --------
    >>> import os
    >>> with final_run():
    ...     os.environ["COLK_LAB_FINAL"]
    '1'
    """
    before = os.environ.get(_FLAG)
    os.environ[_FLAG] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FLAG]
        else:
            os.environ[_FLAG] = before
