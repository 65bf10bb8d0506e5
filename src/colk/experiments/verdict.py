"""A claim of the paper, the intervals that it is judged by, and the judgement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from colk.experiments.chapter import Plan
from colk.experiments.statistics import Interval

__all__ = ["NEGLIGIBLE", "OUTCOMES", "Check", "Measured", "Outcome", "Part", "State", "Verdict"]

Outcome = Literal[
    "holds", "holds in part", "does not hold", "not enough runs", "not enough samples"
]
State = Literal["supports", "contradicts", "open"]
OUTCOMES: tuple[Outcome, ...] = (
    "holds",
    "holds in part",
    "does not hold",
    "not enough runs",
    "not enough samples",
)
# A difference of fewer per cent counts as none.
NEGLIGIBLE = 2.0


@dataclass(frozen=True)
class Check:
    """An interval, and the region in which it has to lie: one line of a verdict's plot.

    Parameters
    ----------
    label : str
        What was measured, or with whom COLK was compared.
    interval : Interval
        What was found, in the verdict's unit.
    low, high : float
        The region: the claim is supported where the whole interval lies in it.
    column : str
        The plot's column: "printed", "tuned", a phase, or empty.
    color : str
        A name of `colk.experiments.style.PALETTE`.
    slack : float
        The claim is contradicted where the interval does not reach this far into the region.

    Examples
    --------
    >>> Check("BSGD", Interval(-5.0, -9.0, -1.0), high=0.0).state
    'supports'
    >>> Check("BSGD", Interval(-5.0, -11.0, 1.0), high=0.0).state
    'open'
    >>> Check("BSGD", Interval(0.1, -0.5, 0.7), high=0.0, slack=NEGLIGIBLE).state
    'contradicts'
    """

    label: str
    interval: Interval
    low: float = float("-inf")
    high: float = float("inf")
    column: str = ""
    color: str = "blue"
    slack: float = 0.0

    @property
    def state(self) -> State:
        """What the interval says of the claim."""
        found = self.interval
        if self.low <= found.low and found.high <= self.high:
            return "supports"
        if found.low > self.high - self.slack or found.high < self.low + self.slack:
            return "contradicts"
        return "open"


@dataclass(frozen=True)
class Part:
    """Checks that stand or fall together.

    Parameters
    ----------
    title : str
        Said above them in the plot.
    checks : sequence of Check
        At least one.
    needs : {"all", "any"}
        How many have to support the claim.

    Examples
    --------
    >>> good = Check("a", Interval(-5.0, -9.0, -1.0), high=0.0)
    >>> bad = Check("b", Interval(5.0, 1.0, 9.0), high=0.0)
    >>> Part("", [good, bad]).state, Part("", [good, bad], "any").state
    ('contradicts', 'supports')
    """

    title: str
    checks: Sequence[Check]
    needs: Literal["all", "any"] = "all"

    @property
    def state(self) -> State:
        """What the checks together say of the claim."""
        states = {check.state for check in self.checks}
        wins: State = "supports" if self.needs == "any" else "contradicts"
        loses: State = "contradicts" if self.needs == "any" else "supports"
        if wins in states:
            return wins
        return loses if states == {loses} else "open"


@dataclass(frozen=True)
class Measured:
    """A number that is told beside a verdict, and decides nothing.

    Examples
    --------
    >>> Measured("atoms of COLK", 21.0, "printed").column
    'printed'
    """

    what: str
    value: float
    column: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of a sentence of the paper.

    Parameters
    ----------
    claim : str
        The sentence, in short. Mathematics stands between dollars.
    quote, where : str
        The paper's own words, and where they stand.
    found : sequence of str
        What was found, in sentences made from the numbers.
    rule : str
        When the claim holds.
    parts : sequence of Part
        What it is judged by, and what is drawn.
    plan : Plan
        How much was run.
    unit : {"%", "exponent"}
        Of all intervals.
    numbers : sequence of Measured
        Told besides.

    Examples
    --------
    >>> part = Part("error", [Check("BSGD", Interval(-5.0, -9.0, -1.0), high=0.0)])
    >>> told = {"claim": "BSGD is worse.", "quote": "…", "where": "Section V", "found": ["5 %"]}
    >>> Verdict(**told, rule="Below 0.", parts=[part], plan=Plan()).outcome
    'holds'
    >>> Verdict(**told, rule="Below 0.", parts=[part], plan=Plan(runs=2)).outcome
    'not enough runs'
    """

    claim: str
    quote: str
    where: str
    found: Sequence[str]
    rule: str
    parts: Sequence[Part]
    plan: Plan
    unit: Literal["%", "exponent"] = "%"
    numbers: Sequence[Measured] = ()

    @property
    def outcome(self) -> Outcome:
        """The judgement. An open part counts as not shown; in a reduced run it leaves all open."""
        short: Outcome = "not enough samples" if self.plan.lacks == "samples" else "not enough runs"
        states = [part.state for part in self.parts]
        supported, contradicted = "supports" in states, "contradicts" in states
        if not self.plan.can_judge:
            return short
        if "open" in states and self.plan.lacks and not (supported and contradicted):
            return short
        if all(state == "supports" for state in states):
            return "holds"
        if supported:
            return "holds in part"
        return "does not hold" if contradicted else short

    @property
    def checks(self) -> list[Check]:
        """All checks, in the order of the parts."""
        return [check for part in self.parts for check in part.checks]
