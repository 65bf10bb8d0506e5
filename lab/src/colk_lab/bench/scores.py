"""Means and intervals of scores, problems where colk is worse, and the CSV file."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from colk_lab.bench.cells import CellScore, Measure, Track
from colk_lab.statistics import mean_interval

__all__ = [
    "Behind",
    "SeedSummary",
    "behind",
    "headline",
    "ratios",
    "read_csv",
    "summarise",
    "to_csv",
]

# A peer is better than colk if it is ahead by this share, and by more than the noise.
_AHEAD = 0.02


@dataclass(frozen=True)
class SeedSummary:
    """Mean of a measure over seeds, and half the width of its 95 % interval (0 for one seed)."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "SeedSummary":
        """Summarise values.

        Examples
        --------
        >>> SeedSummary.of([1.0, 1.0])
        SeedSummary(mean=1.0, half=0.0)
        """
        if len(values) == 1:
            return cls(float(values[0]), 0.0)
        found = mean_interval(values)
        return cls(found.value, found.half)


def headline(scores: Sequence[CellScore]) -> list[CellScore]:
    """Return the scores on which a track is judged: on final sets, if the run has any."""
    final = [score for score in scores if score.part == "final"]
    return final or list(scores)


def summarise(scores: Sequence[CellScore], measure: str) -> dict[str, dict[str, SeedSummary]]:
    """Return summaries by problem and peer, in the order of the scores."""
    values: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        if measure in score.values:
            by_peer = values.setdefault(score.problem, {})
            by_peer.setdefault(score.peer, []).append(score.values[measure])
    return {
        problem: {peer: SeedSummary.of(found) for peer, found in by_peer.items()}
        for problem, by_peer in values.items()
    }


def ratios(track: Track, scores: Sequence[CellScore]) -> dict[str, SeedSummary]:
    """Return the error of each peer divided by colk's, with an interval over the repetitions.

    Ratios are taken seed by seed, so that both methods have the same rows. The result is the
    geometric mean over the problems. Peers that lack a problem are left out. The result is empty if
    a value is not positive.
    """
    name, floor = track.measures[0].name, track.measures[0].floor
    values = {
        (score.problem, score.peer, score.seed): max(score.values[name], floor)
        for score in scores
        if score.track == track.key and name in score.values
    }
    problems = {problem for problem, _, _ in values}
    if not all(value > 0.0 for value in values.values()):
        return {}
    logs: dict[str, dict[str, list[float]]] = {}
    for (problem, peer, seed), value in values.items():
        ours = values.get((problem, track.ours, seed))
        if ours is not None:
            logs.setdefault(peer, {}).setdefault(problem, []).append(float(np.log(value / ours)))
    return {
        peer: _geometric(list(by_problem.values()), track.overlap)
        for peer, by_problem in logs.items()
        if set(by_problem) == problems
    }


def _geometric(logs: list[list[float]], overlap: float) -> SeedSummary:
    """Return the geometric mean over problems, given logarithms of ratios for each problem."""
    repeated = [found for found in logs if len(found) > 1]
    mean = float(np.exp(np.mean([np.mean(found) for found in logs])))
    if not repeated:
        return SeedSummary(mean, 0.0)
    variance = sum(
        float(np.var(found, ddof=1)) * (1.0 / len(found) + overlap) for found in repeated
    )
    factor = float(student.ppf(0.975, sum(len(found) - 1 for found in repeated)))
    return SeedSummary(mean, mean * factor * variance**0.5 / len(logs))


@dataclass(frozen=True)
class Behind:
    """A problem on which a peer is better than colk."""

    track: str
    problem: str
    measure: Measure
    peer: str
    theirs: float
    ours: float


def behind(track: Track, scores: Sequence[CellScore]) -> list[Behind]:
    """Return the problems on which the best peer is better than colk by more than the noise.

    The noise is the 95 % interval of the difference, paired over seeds. One seed has no noise.
    """
    measure, found = track.measures[0], []
    own = headline([score for score in scores if score.track == track.key])
    for problem, peers in summarise(own, measure.name).items():
        others = {
            name: summary.mean
            for name, summary in peers.items()
            if not name.startswith(track.ours) and np.isfinite(summary.mean)
        }
        if track.ours not in peers or not others:
            continue
        name = min(others, key=lambda peer: measure.badness(others[peer]))
        here = [score for score in own if score.problem == problem]
        lead = _lead(measure, here, track.ours, name, track.overlap)
        if lead > _AHEAD * abs(others[name]):
            ours = peers[track.ours].mean
            found.append(Behind(track.title, problem, measure, name, others[name], ours))
    return found


def _lead(
    measure: Measure, scores: Sequence[CellScore], ours: str, theirs: str, overlap: float
) -> float:
    """Return how much better a peer is than ours; 0 if the difference may be noise."""
    by_peer: dict[str, dict[int, float]] = {ours: {}, theirs: {}}
    for score in scores:
        if score.peer in by_peer and measure.name in score.values:
            by_peer[score.peer][score.seed] = measure.badness(score.values[measure.name])
    seeds = by_peer[ours].keys() & by_peer[theirs].keys()
    differences = [by_peer[ours][seed] - by_peer[theirs][seed] for seed in seeds]
    if len(differences) < 2:
        return sum(differences)
    interval = mean_interval(differences, overlap)
    return interval.value if interval.low > 0.0 else 0.0


# Begins the name of a measure that is a text.
_TEXT = "text: "
_COLUMNS = ("track", "problem", "part", "peer", "seed", "measure", "value")


def to_csv(scores: Sequence[CellScore]) -> str:
    """Return the scores as CSV with one line per value."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for score in scores:
        place = score.track, score.problem, score.part, score.peer, score.seed
        for measure, value in score.values.items():
            writer.writerow((*place, measure, repr(value)))
        for name, text in score.texts.items():
            writer.writerow((*place, _TEXT + name, text))
    return file.getvalue()


def read_csv(text: str) -> list[CellScore]:
    """Return the scores of a CSV file that `to_csv` wrote.

    Examples
    --------
    >>> scores = [CellScore("tails", "delays", "colk", 0, {"tail": 0.5})]
    >>> read_csv(to_csv(scores)) == scores
    True
    """
    found: dict[tuple[str, str, str, int], CellScore] = {}
    for row in csv.DictReader(io.StringIO(text)):
        place = row["track"], row["problem"], row["peer"], int(row["seed"])
        # Files of earlier runs have no parts.
        score = found.setdefault(place, CellScore(*place, {}, row.get("part") or "", {}))
        if row["measure"].startswith(_TEXT):
            score.texts[row["measure"].removeprefix(_TEXT)] = row["value"]
        else:
            score.values[row["measure"]] = float(row["value"])
    return list(found.values())
