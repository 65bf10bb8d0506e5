"""The parts of a track: measures, and cells of problem, peer and seed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from colk_lab.tasks import Result, Task

__all__ = [
    "FAILED",
    "BenchPlan",
    "Cell",
    "CellScore",
    "Measure",
    "Track",
    "cell",
    "guarded",
    "measured",
]


# Name of the text of a method that failed on a problem.
FAILED = "failed"


@dataclass(frozen=True)
class BenchPlan:
    """Size of a run.

    Parameters
    ----------
    quick : bool, default=False
        Whether to use one seed, fewer sets and rows, and fewer trials. A run then takes three
        minutes, but is too small to compare close methods.
    seed : int, default=0
        Seed of all random numbers.
    final : bool, default=False
        Whether to use the final sets, which `colk_lab.data` keeps for final tables.
    """

    quick: bool = False
    seed: int = 0
    final: bool = False

    @property
    def seeds(self) -> range:
        """Seeds of the repetitions."""
        return range(self.seed, self.seed + (1 if self.quick else 3))

    @property
    def n_trials(self) -> int:
        """Number of settings that each tuned peer may try."""
        return 2 if self.quick else 6

    def rows(self, full: int) -> int:
        """Return the number of rows of a problem that has `full` rows in a full run."""
        return full // 4 if self.quick else full


@dataclass(frozen=True)
class Measure:
    """A number that a track measures.

    Parameters
    ----------
    name : str
        Name in the tables and in the CSV file.
    text : str
        Definition in one sentence.
    better : {"lower", "higher", "aim"}, default="lower"
        Which values are better; "aim" means close to `aim`.
    digits : int, default=3
        Significant digits in tables.
    aim : float, default=0.0
        The ideal value, for `better="aim"`.
    is_time : bool, default=False
        Whether it is a time, which varies from run to run.
    is_memory : bool, default=False
        Whether it is the memory of a process, which also varies from run to run.
    floor : float, default=0.0
        Smaller values count as this one in ratios.
    """

    name: str
    text: str
    better: str = "lower"
    digits: int = 3
    aim: float = 0.0
    is_time: bool = False
    is_memory: bool = False
    floor: float = 0.0

    @property
    def repeats(self) -> bool:
        """Whether every run on the same machine must give the same value."""
        return not (self.is_time or self.is_memory)

    def badness(self, value: float) -> float:
        """Return a number that is smaller for better values.

        Examples
        --------
        >>> Measure("R²", "", better="higher").badness(0.9)
        -0.9
        >>> round(Measure("coverage", "", better="aim", aim=0.95).badness(0.90), 2)
        0.05
        """
        if self.better == "aim":
            return abs(value - self.aim)
        return -value if self.better == "higher" else value


@dataclass(frozen=True)
class Cell:
    """One peer on one problem with one seed, and the task that measures it."""

    problem: str
    peer: str
    seed: int
    task: Task


@dataclass(frozen=True)
class CellScore:
    """The measured values of a cell, by the name of the measure.

    `part` says whether the data are a final set, a development set, or neither. `texts` has what
    the method says, such as warnings.
    """

    track: str
    problem: str
    peer: str
    seed: int
    values: dict[str, float]
    part: str = ""
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """A part of the benchmark that answers one question.

    Parameters
    ----------
    key : str
        Short name for the command line and the CSV file.
    title, question : str
        Heading, and the question that the track answers.
    measures : sequence of Measure
        The measures; the first one ranks the peers.
    cells : callable
        Returns the cells for a plan.
    notes : mapping of str to str
        Facts about problems that a reader needs, for example a published result, or that a default
        was chosen on these data.
    alone : bool, default=False
        Whether the tasks run one after the other, because they measure elapsed time.
    ours : str, default="colk"
        The peer of this package that is compared with the others.
    remarks : callable, optional
        Returns sentences about the scores of a run, for example whether a published result was
        reached. Default: no remarks.
    parts : mapping of str to str
        The part of each problem: "development" if it may be used for choices, or "final". Default:
        problems without parts, such as generators.
    chosen : mapping of str to str
        The rules of colk that were chosen on a problem. Default: none.
    overlap : float, default=0.0
        Rows for testing divided by rows for training, if seeds are random splits of the same rows.
    """

    key: str
    title: str
    question: str
    measures: Sequence[Measure]
    cells: Callable[[BenchPlan], list[Cell]]
    notes: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    ours: str = "colk"
    remarks: Callable[[Sequence[CellScore]], list[str]] = lambda scores: []
    parts: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    overlap: float = 0.0


def cell(
    function: Callable[..., Result],
    problem: str,
    peer: str,
    seed: int,
    seconds: float,
    uses_package: bool = True,
    **more: Any,
) -> Cell:
    """Return a cell whose task is called with problem, peer and seed.

    With `uses_package=False`, the cached result stays valid when the package changes outside the
    benchmark.
    """
    settings = {"problem": problem, "peer": peer, "seed": seed, **more}
    task = Task(function, settings, f"{peer} on {problem}", seconds, uses_package)
    return Cell(problem, peer, seed, task)


def measured(**values: float) -> Result:
    """Return values as the arrays of a task; underscores in names become spaces.

    Examples
    --------
    >>> measured(fit_time=2.0)
    {'fit time': array(2.)}
    """
    return {name.replace("_", " "): np.asarray(float(value)) for name, value in values.items()}


def guarded(function: Callable[..., Result]) -> Callable[..., Result]:
    """Let a task return what went wrong, instead of ending the run: the page names it.

    Examples
    --------
    >>> @guarded
    ... def run(problem, peer, seed):
    ...     raise ValueError("a gap")
    >>> str(run(problem="hills", peer="SVR", seed=0)["failed"])
    'ValueError: a gap'
    """

    @wraps(function)
    def run(*arguments: Any, **settings: Any) -> Result:
        try:
            return function(*arguments, **settings)
        except Exception as error:  # of any library
            return {FAILED: np.asarray(f"{type(error).__name__}: {error}".splitlines()[0])}

    return run
