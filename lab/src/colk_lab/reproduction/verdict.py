"""A claim of the paper, the intervals that judge it, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Literal

from colk_lab.reproduction.chapter import RunPlan
from colk_lab.statistics import Interval

__all__ = [
    "NEGLIGIBLE",
    "OUTCOMES",
    "Check",
    "Measured",
    "Outcome",
    "State",
    "Verdict",
    "VerdictPart",
]

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
# "Lower" means lower by at least this percentage. A smaller difference counts as none.
NEGLIGIBLE = 2.0


@dataclass(frozen=True)
class Check:
    """An interval and the region in which the claim expects it, drawn as one line of a plot.

    Parameters
    ----------
    label : str
        The quantity, or the method that COLK is compared with.
    interval : Interval
        The measured interval, in the verdict's unit.
    low, high : float, default=-inf and inf
        The region; at least one end must be finite. An interval inside it supports the claim, an
        interval outside contradicts it, and an interval across an end leaves it open.
    column : str, default=""
        Column of the plot: "printed", "tuned", a phase, or empty.
    color : str, default="blue"
        A name of `colk.cli.pages.colors.PALETTE`.

    Examples
    --------
    >>> Check("BSGD", Interval(-5.0, -9.0, -1.0), high=0.0).state
    'supports'
    >>> Check("BSGD", Interval(-5.0, -11.0, 1.0), high=0.0).state
    'open'
    >>> Check("BSGD", Interval(0.1, -0.5, 0.7), high=-NEGLIGIBLE).state
    'contradicts'
    >>> Check("BSGD", Interval(-5.0, -9.0, -1.0))
    Traceback (most recent call last):
    ...
    AssertionError: the check of 'BSGD' cannot fail: its region has no end
    """

    label: str
    interval: Interval
    low: float = float("-inf")
    high: float = float("inf")
    column: str = ""
    color: str = "blue"

    def __post_init__(self) -> None:
        can_fail = not (isinf(self.low) and isinf(self.high))
        assert can_fail, f"the check of {self.label!r} cannot fail: its region has no end"

    @property
    def state(self) -> State:
        """Whether the interval supports or contradicts the claim, or leaves it open."""
        found = self.interval
        if self.low <= found.low and found.high <= self.high:
            return "supports"
        if found.low > self.high or found.high < self.low:
            return "contradicts"
        return "open"


@dataclass(frozen=True)
class VerdictPart:
    """Checks that are judged together.

    Parameters
    ----------
    title : str
        Title above the checks in the plot.
    checks : sequence of Check
        The checks, at least one.
    needs : {"all", "any"}, default="all"
        Whether all checks, or at least one, must support the claim.

    Examples
    --------
    >>> good = Check("a", Interval(-5.0, -9.0, -1.0), high=0.0)
    >>> bad = Check("b", Interval(5.0, 1.0, 9.0), high=0.0)
    >>> VerdictPart("", [good, bad]).state, VerdictPart("", [good, bad], "any").state
    ('contradicts', 'supports')
    """

    title: str
    checks: Sequence[Check]
    needs: Literal["all", "any"] = "all"

    @property
    def agrees(self) -> bool:
        """Whether the estimates of all checks, or of at least one, lie in their regions."""
        inside = [check.low <= check.interval.value <= check.high for check in self.checks]
        return any(inside) if self.needs == "any" else all(inside)

    @property
    def state(self) -> State:
        """Whether the checks together support or contradict the claim, or leave it open."""
        states = {check.state for check in self.checks}
        wins: State = "supports" if self.needs == "any" else "contradicts"
        loses: State = "contradicts" if self.needs == "any" else "supports"
        if wins in states:
            return wins
        return loses if states == {loses} else "open"


@dataclass(frozen=True)
class Measured:
    """A number that the report shows with a verdict, but that does not affect it.

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
    """The verdict on a claim of the paper.

    Parameters
    ----------
    short : str
        The claim as a clause, after "that".
    claim : str
        The claim as a sentence. Formulas are TeX between dollar signs.
    quote, where : str
        The paper's own words, and their place in the paper.
    found : sequence of str
        The results, in sentences made from the numbers.
    rule : str
        The condition under which the claim holds.
    parts : sequence of VerdictPart
        The checks that judge the claim and that are drawn.
    plan : RunPlan
        Size of the run.
    unit : {"%", "exponent"}
        Unit of all intervals.
    numbers : sequence of Measured
        Other numbers.

    Examples
    --------
    >>> part = VerdictPart("error", [Check("BSGD", Interval(-5.0, -9.0, -1.0), high=0.0)])
    >>> told = {"short": "BSGD is worse", "claim": "BSGD is worse.", "quote": "…"}
    >>> told |= {"where": "Section V", "found": ["5 %"]}
    >>> Verdict(**told, rule="Below 0.", parts=[part], plan=RunPlan()).outcome
    'holds'
    >>> Verdict(**told, rule="Below 0.", parts=[part], plan=RunPlan(runs=2)).told
    'open: 1 of 1 agree'
    """

    short: str
    claim: str
    quote: str
    where: str
    found: Sequence[str]
    rule: str
    parts: Sequence[VerdictPart]
    plan: RunPlan
    unit: Literal["%", "exponent"] = "%"
    numbers: Sequence[Measured] = ()

    @property
    def outcome(self) -> Outcome:
        """The verdict. An open part counts as not shown; in a reduced run, it is unknown."""
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
    def told(self) -> str:
        """The verdict with the number of parts that support the claim.

        If there are not enough runs or samples, it counts the parts whose estimate agrees.
        """
        count, total = sum(part.state == "supports" for part in self.parts), len(self.parts)
        if self.outcome == "holds in part":
            return f"holds in {count} of {total}"
        if self.outcome in ("holds", "does not hold"):
            return self.outcome
        agree = sum(part.agrees for part in self.parts)
        return f"open: {agree} of {total} agree"

    @property
    def checks(self) -> list[Check]:
        """All checks, in the order of the parts."""
        return [check for part in self.parts for check in part.checks]
