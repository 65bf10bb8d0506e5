"""What an experiment hands to the report: figures with their data and tables; the plan of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from colk._validation import check_count, check_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from colk.experiments.verdict import Verdict

__all__ = ["WIDTH", "Chapter", "Figure", "Plan", "Table", "as_columns"]

# Inches: figures of one width have type of one size on the page.
WIDTH = 7.4
_RUNS = 20
# With fewer runs, or a smaller share of the samples, no claim is judged.
_FEWEST_RUNS = 5
_LEAST_SCALE = 0.5


@dataclass(frozen=True)
class Plan:
    """How much is run.

    Parameters
    ----------
    runs : int
        Training sets, each with its own draws; at least 2, as a spread is measured.
    seed : int
        What all draws follow from.
    scale : float
        Share of the full numbers of samples, in (0, 1]; below 1 for a quick look.

    Examples
    --------
    >>> Plan(runs=2, scale=0.1).size(24000)
    2400
    """

    runs: int = _RUNS
    seed: int = 0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.runs, "runs", at_least=2)
        check_count(self.seed, "seed", at_least=0)
        if not 0.0 < check_number(self.scale, "scale") <= 1.0:
            raise ValueError(f"scale must lie in (0, 1], got {self.scale!r}")

    def size(self, full: int) -> int:
        """A number of samples at this scale, even, as COLK takes them in pairs."""
        return max(2 * round(0.5 * full * self.scale), 200)

    @property
    def lacks(self) -> Literal["", "runs", "samples"]:
        """What there is less of than by default; runs come first."""
        if self.runs < _RUNS:
            return "runs"
        return "samples" if self.scale < 1.0 else ""

    @property
    def can_judge(self) -> bool:
        """Whether there is enough to judge a claim at all.

        The claims are about the full numbers of samples: much shorter runs end elsewhere. And of
        very few runs one interval in twenty is narrow by chance, and many are drawn.
        """
        return self.runs >= _FEWEST_RUNS and self.scale >= _LEAST_SCALE


@dataclass(frozen=True)
class Figure:
    """A picture, and the numbers that it shows.

    Parameters
    ----------
    name : str
        Name of its files.
    title, caption : str
        What it shows; what is to be seen in it.
    columns : mapping of str to sequence
        The data, for the CSV file.
    draw : callable
        Draws on an empty matplotlib figure.
    height : float
        In inches; all figures have one width.
    """

    name: str
    title: str
    caption: str
    columns: Mapping[str, Sequence[Any]]
    draw: "Callable[[Canvas], None]"
    height: float = 3.4


@dataclass(frozen=True)
class Table:
    """Rows of text or numbers under a head."""

    name: str
    title: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chapter:
    """One experiment: its story, figures, tables, verdicts and settings.

    Examples
    --------
    >>> Chapter("risk", "What a risk buys", "A story.", [], [], {"runs": "20"}).settings["runs"]
    '20'
    """

    name: str
    title: str
    text: str
    figures: Sequence[Figure]
    verdicts: "Sequence[Verdict]"
    settings: Mapping[str, str]
    tables: Sequence[Table] = field(default=())


def as_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Rows as named columns.

    Examples
    --------
    >>> as_columns(("run", "error"), [(0, 0.5), (1, 0.25)])
    {'run': [0, 1], 'error': [0.5, 0.25]}
    """
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
