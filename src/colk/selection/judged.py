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
# diagonal; for labels by more, because margins say less about mistakes. An entrant that is _BEHIND
# standard errors behind the best leaves the race, and the best must be as far ahead of f = 0.
_AHEAD, _AHEAD_FOR_LABELS, _BEHIND = 0.25, 1.0, 2.0

_KINDS: tuple[Kind, ...] = ("none", "diagonal", "matrix")


class Judged:
    """The left-out losses of entrants on the same samples.

    Parameters
    ----------
    samples : RaceSamples
        The samples of the heat.
    trials : sequence of Trial
        The trials, that of the default first.
    zero : Trial
        The trial of f = 0.
    weight : array of shape (m,)
        Weights of the judged samples.

    Examples
    --------
    >>> from colk.selection.contenders import CONTENDERS
    >>> X = np.linspace(-1.0, 1.0, 60)[:, None]
    >>> samples = RaceSamples(X, np.sin(3.0 * X), np.ones(60), are_labels=False)
    >>> entrants = [Entrant((one,), 0, "none", np.ones(1)) for one in CONTENDERS]
    >>> Judged.of(samples, entrants).winner().entrant.contender.name
    'gaussian'
    """

    def __init__(
        self, samples: RaceSamples, trials: Sequence[Trial], zero: Trial, weight: Array
    ) -> None:
        self.samples, self.trials, self.zero, self._weight = samples, list(trials), zero, weight

    @classmethod
    def of(cls, samples: RaceSamples, entrants: Sequence[Entrant], n_seen: int = 0) -> "Judged":
        """Judge entrants that were found on the first `n_seen` samples on the others.

        Parameters
        ----------
        samples : RaceSamples
            Samples.
        entrants : sequence of Entrant
            The entrants, the default first.
        n_seen : int
            Number of first samples that are not judged. Default: 0.
        """
        trials = map_in_threads(partial(_judged, samples, n_seen), entrants)
        losses, weight = samples.losses(samples.Y)[n_seen:], samples.weight[n_seen:]
        loss = float(np.average(losses, weights=weight)) if len(losses) else 0.0
        zero = Trial(loss, entrants[0], losses, None)
        return cls(samples, [*trials], zero, weight)

    def and_also(self, other: "Judged") -> "Judged":
        """Return the losses of this heat and of another, in which other samples were judged.

        Parameters
        ----------
        other : Judged
            The same entrants, which learned from the samples that were judged here.
        """
        pairs = zip(self.trials, other.trials, strict=True)
        weight = np.concatenate([self._weight, other._weight])
        trials = [_joined(*pair, weight) for pair in pairs]
        return Judged(self.samples, trials, _joined(self.zero, other.zero, weight), weight)

    def winner(self) -> Trial:
        """Return the best; one with a metric must be ahead of a simpler one.

        If it is not clearly ahead of f = 0, the default wins.
        """
        best, ahead = self.trials[0], _AHEAD_FOR_LABELS if self.samples.are_labels else _AHEAD
        for kind in _KINDS:
            group = [trial for trial in self.trials if trial.entrant.kind == kind]
            first = min(group, key=lambda trial: trial.loss, default=best)
            if self._leads(first, best, ahead if kind != "none" else 0.0):
                best = first
        return best if self._leads(best, self.zero, _BEHIND) else self.trials[0]

    def shares(self) -> dict[tuple[str, bool], float]:
        """Return the losses by metric and distance, divided by the loss of the default."""
        whole = max(self.trials[0].loss, 1e-300)
        entrants = [(trial.entrant, trial.loss) for trial in self.trials[1:]]
        return {(one.kind, one.contender.is_l1): loss / whole for one, loss in entrants}

    def close_to(self, won: Trial) -> list[Entrant]:
        """Return the entrants that are not far behind the winner, without the default.

        Parameters
        ----------
        won : Trial
            The winner.
        """
        close = (trial for trial in self.trials[1:] if not self._leads(won, trial, _BEHIND))
        return [trial.entrant for trial in close]

    def result(
        self, default: Entrant, won: Trial | None = None, last: Entrant | None = None
    ) -> Race:
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
        rates = winner.rates if winner.kind != "none" else np.ones(X.shape[1])
        kernel = winner.kernel(winner.bandwidth(X))
        return Race(tuple(entries), entries[0], chosen, kernel, rates, len(X))

    def _leads(self, trial: Trial, other: Trial, errors: float) -> bool:
        """Whether a trial is ahead of another by more than this many standard errors."""
        lead, error = self._lead(trial, other)
        return lead > errors * error

    def _lead(self, trial: Trial, other: Trial) -> tuple[float, float]:
        """Return by how much the mean loss is lower than another, and its standard error."""
        if trial.losses is None or other.losses is None:
            return (-np.inf if trial.losses is None else np.inf), 0.0
        gains, total = other.losses - trial.losses, self._weight.sum()
        mean = float(self._weight @ gains / total)
        squares = (self._weight * (gains - mean)) ** 2
        return mean, float(np.sqrt(squares.sum()) / total)

    def _entry(self, entrant: Entrant, trial: Trial | None) -> Entry:
        bandwidth, usual = entrant.bandwidth(self.samples.X), entrant.usual(self.samples.X)
        factor = bandwidth / usual if usual > 0.0 else 1.0
        who = entrant.contender.name, factor, bandwidth, entrant.kind
        if trial is None:
            return Entry(*who, np.nan, np.nan, np.nan)
        return Entry(*who, trial.loss, *self._lead(trial, self.trials[0]))


def _judged(samples: RaceSamples, n_seen: int, entrant: Entrant) -> Trial:
    return entrant.trial(samples, n_seen)


def _joined(trial: Trial, other: Trial, weight: Array) -> Trial:
    """Return a trial of the samples of both."""
    if trial.losses is None or other.losses is None:
        return Trial(np.inf, trial.entrant, None, None)
    losses = np.concatenate([trial.losses, other.losses])
    return Trial(float(np.average(losses, weights=weight)), trial.entrant, losses, None)
