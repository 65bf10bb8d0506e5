"""Means and intervals of scores, problems where colk is worse, and the CSV file."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from colk_lab.bench.cells import CellScore, Measure, Track

__all__ = ["Behind", "SeedSummary", "behind", "ratios", "read_csv", "summarise", "to_csv"]

# A peer is better than colk if it is ahead by this share and by more than the noise over seeds.
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
        array, half = np.asarray(values, dtype=float), 0.0
        if len(array) > 1:
            factor = float(student.ppf(0.975, len(array) - 1))
            half = factor * float(array.std(ddof=1)) / len(array) ** 0.5
        return cls(float(array.mean()), half)


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
    name = track.measures[0].name
    values = {
        (score.problem, score.peer, score.seed): score.values[name]
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
        peer: _geometric(list(by_problem.values()))
        for peer, by_problem in logs.items()
        if set(by_problem) == problems
    }


def _geometric(logs: list[list[float]]) -> SeedSummary:
    """Return the geometric mean over problems, given logarithms of ratios for each problem."""
    repeated = [found for found in logs if len(found) > 1]
    mean = float(np.exp(np.mean([np.mean(found) for found in logs])))
    if not repeated:
        return SeedSummary(mean, 0.0)
    variance = sum(float(np.var(found, ddof=1)) / len(found) for found in repeated)
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
    """Return the problems on which the best peer is better than colk by more than the noise."""
    measure, found = track.measures[0], []
    own = [score for score in scores if score.track == track.key]
    for problem, peers in summarise(own, measure.name).items():
        others = {
            name: summary
            for name, summary in peers.items()
            if not name.startswith(track.ours) and np.isfinite(summary.mean)
        }
        if track.ours not in peers or not others:
            continue
        ours = peers[track.ours]
        name = min(others, key=lambda peer: measure.badness(others[peer].mean))
        lead = measure.badness(ours.mean) - measure.badness(others[name].mean)
        if lead > max(_AHEAD * abs(others[name].mean), ours.half, others[name].half):
            found.append(Behind(track.title, problem, measure, name, others[name].mean, ours.mean))
    return found


_COLUMNS = ("track", "problem", "peer", "seed", "measure", "value")


def to_csv(scores: Sequence[CellScore]) -> str:
    """Return the scores as CSV with one line per value."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for score in scores:
        for measure, value in score.values.items():
            writer.writerow(
                (score.track, score.problem, score.peer, score.seed, measure, repr(value))
            )
    return file.getvalue()


def read_csv(text: str) -> list[CellScore]:
    """Return the scores of a CSV file that `to_csv` wrote.

    Examples
    --------
    >>> scores = [CellScore("tails", "delays", "colk", 0, {"tail": 0.5})]
    >>> read_csv(to_csv(scores)) == scores
    True
    """
    values: dict[tuple[str, str, str, int], dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        key = (row["track"], row["problem"], row["peer"], int(row["seed"]))
        values.setdefault(key, {})[row["measure"]] = float(row["value"])
    return [CellScore(*key, found) for key, found in values.items()]
