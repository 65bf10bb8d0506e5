"""The size of a run, and the parts of the report: chapters, figures and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from colk_lab.checks import check_count, check_fraction

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from colk_lab.reproduction.verdict import Verdict

__all__ = ["WIDTH", "Chapter", "Figure", "RunPlan", "Table", "as_columns"]

# Width of all figures in inches; with one width, their text has the same size on the page.
WIDTH = 7.4
_RUNS = 20
# With fewer runs or a smaller share of the samples, no claim is judged.
_FEWEST_RUNS = 5
_LEAST_SCALE = 0.5


@dataclass(frozen=True)
class RunPlan:
    """The size of a run.

    Parameters
    ----------
    runs : int, default=20
        Number of training sets, which are drawn independently; at least 2, to measure a spread.
    seed : int, default=0
        Seed of all random numbers.
    scale : float, default=1.0
        Share of the full sample sizes, in (0, 1]; below 1 for a quick run.

    Examples
    --------
    >>> RunPlan(runs=2, scale=0.1).size(24000)
    2400
    >>> RunPlan(runs=4).warning[:51]
    'no claim is judged: this needs at least 5 runs (--r'
    """

    runs: int = _RUNS
    seed: int = 0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.runs, "runs", at_least=2)
        check_count(self.seed, "seed", at_least=0)
        check_fraction(self.scale, "scale")

    def size(self, full: int) -> int:
        """Scale a number of samples; the result is even, because COLK takes samples in pairs."""
        return max(2 * round(0.5 * full * self.scale), 200)

    @property
    def lacks(self) -> Literal["", "runs", "samples"]:
        """Whether the run has fewer runs or fewer samples than the default."""
        if self.runs < _RUNS:
            return "runs"
        return "samples" if self.scale < 1.0 else ""

    @property
    def warning(self) -> str:
        """What a run of this size cannot do, and the size that it needs; empty for a full run."""
        if not self.lacks:
            return ""
        if self.can_judge:
            return (
                f"claims whose intervals are too wide stay open; {_RUNS} runs and all samples "
                "judge every claim"
            )
        return (
            f"no claim is judged: this needs at least {_FEWEST_RUNS} runs (--runs) and "
            f"{100 * _LEAST_SCALE:g} % of the samples (--scale), and {_RUNS} runs to judge every "
            "claim. The table counts the estimates that agree"
        )

    @property
    def can_judge(self) -> bool:
        """Whether the run is large enough to judge a claim.

        The claims are about the full sample sizes, and much shorter runs give other results. With
        very few runs, some of the many intervals are narrow by chance.
        """
        return self.runs >= _FEWEST_RUNS and self.scale >= _LEAST_SCALE


@dataclass(frozen=True)
class Figure:
    """A figure and its data.

    Parameters
    ----------
    name : str
        Name of the files, without extension.
    title, caption : str
        Title and caption in the report.
    columns : mapping of str to sequence
        Data of the CSV file.
    draw : callable
        Draws on an empty matplotlib figure.
    height : float
        Height in inches.
    """

    name: str
    title: str
    caption: str
    columns: Mapping[str, Sequence[Any]]
    draw: "Callable[[Canvas], None]"
    height: float = 3.4


@dataclass(frozen=True)
class Table:
    """A table of the report."""

    name: str
    title: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chapter:
    """One experiment: text, figures, tables, verdicts and settings.

    Examples
    --------
    >>> Chapter("risk", "Effect of risks", "Text.", [], [], {"runs": "20"}).settings["runs"]
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
    """Turn rows into named columns.

    Examples
    --------
    >>> as_columns(("run", "error"), [(0, 0.5), (1, 0.25)])
    {'run': [0, 1], 'error': [0.5, 0.25]}
    """
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
