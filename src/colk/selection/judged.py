"""The entrants of a heat, judged on samples that did not find their metrics."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.selection.entrants import Entrant, Kind, Trial
from colk.selection.result import Entry, Race
from colk.selection.samples import RaceSamples

__all__ = ["Judged"]

# An entrant with a metric must be ahead of one without by _AHEAD standard errors, and a matrix of a
# diagonal. An entrant that is _BEHIND standard errors behind the best leaves the race.
_AHEAD, _BEHIND = 0.25, 2.0

_ORDER: dict[Kind, int] = {"none": 0, "diagonal": 1, "matrix": 2}


class Judged:
    """The left-out losses of entrants.

    Parameters
    ----------
    samples : RaceSamples
        The samples of the heat.
    n_seen : int
        Number of first samples that found the metrics; they are not judged.
    entrants : sequence of Entrant
        The entrants, the default first.

    Examples
    --------
    >>> from colk.selection.contenders import CONTENDERS
    >>> X = np.linspace(-1.0, 1.0, 60)[:, None]
    >>> samples = RaceSamples(X, np.sin(3.0 * X), np.ones(60), are_labels=False)
    >>> entrants = [Entrant((one,), 0, "none", np.ones(1)) for one in CONTENDERS]
    >>> Judged(samples, 0, entrants).winner().entrant.contender.name
    'gaussian'
    """

    def __init__(self, samples: RaceSamples, n_seen: int, entrants: Sequence[Entrant]) -> None:
        self.samples, self.n_seen = samples, n_seen
        self._weight = samples.weight[n_seen:]
        judge = partial(_judged, samples, n_seen)
        self.trials = list(map_in_threads(judge, entrants))

    def winner(self) -> Trial:
        """Return the best; one with a metric must be ahead of a simpler one."""
        best: Trial | None = None
        for kind in _ORDER:
            group = [trial for trial in self.trials if trial.entrant.kind == kind]
            first = min(group, key=lambda trial: trial.loss, default=None)
            if first is not None and (best is None or self._leads(first, best, _AHEAD)):
                best = first
        assert best is not None  # the default has no metric
        return best

    def close_to(self, won: Trial) -> list[Entrant]:
        """Return the entrants that are not far behind the winner, without the default.

        Parameters
        ----------
        won : Trial
            The winner.
        """
        close = (trial for trial in self.trials[1:] if not self._leads(won, trial, _BEHIND))
        return [trial.entrant for trial in close]

    def result(self, default: Entrant, won: Trial | None = None, last: Entrant | None = None) -> Race:
        """Return the table, and the winner with the bandwidth and the metric that it has at last.

        Parameters
        ----------
        default : Entrant
            The default.
        won : Trial, optional
            The winner. Default: the default.
        last : Entrant, optional
            The winner after it has learned from all samples. Default: as it was judged.
        """
        X = self.samples.X
        entries = [self._entry(trial.entrant, trial) for trial in self.trials]
        if won is None:
            entries, winner = [self._entry(default, None)], default
            chosen = entries[0]
        else:
            winner = won.entrant if last is None else last
            place = self.trials.index(won)
            chosen = entries[place] = self._entry(winner, won)
        relevance = self._relevance(winner)
        rates = winner.rates if winner.kind != "none" else np.ones(X.shape[1])
        kernel = winner.kernel(winner.bandwidth(X) or default.bandwidth(X) or 1.0)
        return Race(tuple(entries), entries[0], chosen, kernel, rates, len(X), relevance)

    def _leads(self, trial: Trial, other: Trial, errors: float) -> bool:
        """Whether a trial is ahead of another by more than this many standard errors."""
        lead, error = self._lead(trial, other)
        return lead > errors * error

    def _lead(self, trial: Trial, other: Trial) -> tuple[float, float]:
        """Return by how much the mean loss is lower than another, and the standard error of this."""
        if trial.left_out is None or other.left_out is None:
            return (np.inf if other.left_out is None else -np.inf), 0.0
        losses = [self._losses(each) for each in (other, trial)]
        gains, total = losses[0] - losses[1], self._weight.sum()
        mean = float(self._weight @ gains / total)
        squares = (self._weight * (gains - mean)) ** 2
        return mean, float(np.sqrt(squares.sum()) / total)

    def _losses(self, trial: Trial) -> Array:
        assert trial.left_out is not None
        return self.samples.losses(trial.left_out.residuals)[self.n_seen :]

    def _entry(self, entrant: Entrant, trial: Trial | None) -> Entry:
        bandwidth = entrant.bandwidth(self.samples.X)
        who = entrant.contender.name, entrant.factor, bandwidth, entrant.kind
        if trial is None:
            return Entry(*who, np.nan, np.nan, np.nan)
        return Entry(*who, trial.loss, *self._lead(trial, self.trials[0]))

    def _relevance(self, winner: Entrant) -> Array | None:
        """Return the size of the metric along each feature: of the winner, or of the best."""
        learned = [trial for trial in self.trials if trial.entrant.kind != "none"]
        if winner.kind == "none":
            if not learned:
                return None
            winner = min(learned, key=lambda trial: trial.loss).entrant
        sizes = winner.rates * self.samples.spread
        return np.asarray(sizes / sizes.max()) if sizes.max() > 0.0 else None


def _judged(samples: RaceSamples, n_seen: int, entrant: Entrant) -> Trial:
    return entrant.trial(samples, n_seen, exact=False)
