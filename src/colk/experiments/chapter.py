"""What an experiment hands to the report: figures with their data, tables and verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from colk._validation import check_count, check_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = [
    "Chapter",
    "Figure",
    "Measured",
    "Outcome",
    "Plan",
    "Table",
    "Verdict",
    "as_columns",
    "judge",
    "show",
]

Outcome = Literal["holds", "holds in part", "does not hold"]


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

    runs: int = 20
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
    width, height : float
        Size in inches.
    """

    name: str
    title: str
    caption: str
    columns: Mapping[str, Sequence[Any]]
    draw: "Callable[[Canvas], None]"
    width: float = 7.0
    height: float = 3.2


@dataclass(frozen=True)
class Table:
    """Rows of text or numbers under a head."""

    name: str
    title: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Measured:
    """A number that a verdict rests on.

    Parameters
    ----------
    what : str
        What was measured.
    value : float
        The number.
    low, high : float, optional
        Its 95 % interval.
    protocol : str
        "printed", "tuned" or empty.

    Examples
    --------
    >>> print(Measured("slope", 1.234, 1.1, 1.3))
    slope 1.23 [1.10, 1.30]
    """

    what: str
    value: float
    low: float | None = None
    high: float | None = None
    protocol: str = ""

    def __str__(self) -> str:
        text = f"{self.what} {show(self.value)}"
        if self.low is not None and self.high is not None:
            text += f" [{show(self.low)}, {show(self.high)}]"
        return text


@dataclass(frozen=True)
class Verdict:
    """What became of a sentence of the paper.

    Parameters
    ----------
    claim : str
        The sentence, in short.
    where : str
        Where in the paper it stands.
    outcome : {"holds", "holds in part", "does not hold"}
        The judgement, by the rule that `reading` states.
    numbers : sequence of Measured
        What it rests on.
    reading : str
        The rule, and what is to be learned from it.
    """

    claim: str
    where: str
    outcome: Outcome
    numbers: Sequence[Measured]
    reading: str


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
    verdicts: Sequence[Verdict]
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


def show(value: float) -> str:
    """Three digits, with an exponent only where it is needed.

    Examples
    --------
    >>> show(0.012345), show(1.5), show(12345.6), show(1.2e-7), show(0.0)
    ('0.0123', '1.50', '12346', '1.20e-07', '0')
    """
    size = abs(value)
    if value == 0.0:
        return "0"
    if size < 1e-4 or size >= 1e6:
        return f"{value:.2e}"
    if size >= 100.0:
        return f"{value:.0f}"
    if size >= 10.0:
        return f"{value:.1f}"
    if size >= 1.0:
        return f"{value:.2f}"
    return f"{value:.3g}"


def judge(*checks: bool) -> Outcome:
    """All true: holds; none: does not hold; else in part.

    Examples
    --------
    >>> judge(True, True), judge(True, False), judge(False)
    ('holds', 'holds in part', 'does not hold')
    """
    if all(checks):
        return "holds"
    return "holds in part" if any(checks) else "does not hold"
