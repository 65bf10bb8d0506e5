"""A detector of rising losses that costs little time per sample."""

import math
from collections.abc import Mapping
from copy import copy
from typing import Any

import cython
import numpy as np

from colk import _stored as stored
from colk._engine.c_types import Indices, Public, Readonly, Vector
from colk._engine.loss_watcher import LossWatcher
from colk._validation import Array, check_number
from colk.errors import FileFormatError
from colk.learners.drift_event import DriftEvent
from colk.learners.feature_drift import FeatureMeans

__all__ = ["DriftDetector"]

# Samples are summed in blocks. The latest WINDOWS blocks are compared with those before, of which
# there are at most MOST, and at least FEWEST.
BLOCK, FEWEST, MOST = 10, 30, 2000  # cdef Py_ssize_t
WINDOWS: Indices = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200], dtype=np.intp)
CAPACITY: int = MOST + 200 + 2

# A loss is ranked among REFERENCE earlier losses. The latest losses replace this reference after
# twice, four times … as many samples, up to LAST, because losses fall while a model learns. The
# KEPT latest losses are then ranked again.
REFERENCE, LAST, KEPT = 500, 8000, 2000  # cdef Py_ssize_t

# −log of the share of larger losses, by rank in steps of one half: about exponential with mean 1.
SCORES: Vector = -np.log1p(-np.arange(2.0 * REFERENCE + 1.0) / (2.0 * REFERENCE + 1.0))


def _unlearned(losses: Array, reference: Array, threshold: float) -> int:
    """Return how many of the first losses come from a model that had not learned yet.

    The older half of the losses is counted as long as its mean score exceeds that of the newer half
    by `threshold` standard errors. If these large losses were kept, losses that rise later would
    look normal.
    """
    sides = [np.searchsorted(reference, losses, side=side) for side in ("left", "right")]
    scores, first = np.asarray(SCORES)[sides[0] + sides[1]], 0
    while len(scores) - first >= 2 * REFERENCE:
        old, new = np.array_split(scores[first:], 2)
        error = math.sqrt((old.var() + new.var()) / len(new))
        if old.mean() - new.mean() <= threshold * error:
            break
        first += len(old)
    return first


class DriftDetector(LossWatcher):  # final
    """Detects that the losses of a stream rise.

    The score of a loss is −log of the share of larger losses among 500 earlier ones. It depends
    only on the rank of the loss, so heavy tails do no harm. The mean score of the latest 10, 20, …
    2000 samples is compared with that of up to 20,000 samples before, in fifteen windows. Falling
    losses raise no alarm, because losses fall while a model learns. Losses from before the model
    has learned are left out. After an alarm the detector starts again.

    Parameters
    ----------
    threshold : float
        Number of standard errors that raises an alarm. Default: 5.5. Raise it for fewer false
        alarms. The scores are about exponentially distributed, so Bernstein's inequality bounds the
        probability that a window of a stationary stream exceeds t standard errors by exp(−t²/2),
        which is 2.7e-7 for 5.5.
    state : dict, optional
        The state of another detector, to continue from.

    Attributes
    ----------
    events : list of DriftEvent
        All alarms so far.
    drift_detected : bool
        Whether the latest sample caused an alarm.

    Examples
    --------
    >>> import numpy as np
    >>> from colk.learners import DriftDetector
    >>> rng = np.random.default_rng(0)
    >>> detector = DriftDetector()
    >>> for t in range(4000):
    ...     detector.update(float(abs(rng.normal())) * (1.0 if t < 2000 else 2.0))
    >>> [2000 < event.time < 2100 for event in detector.events]
    [True]
    """

    events: Public[list[DriftEvent]]
    _since: int  # samples since the last alarm
    _recent: Vector  # the first `_n_recent` are losses, until the last reference
    _ordered: Vector  # the reference, if `_is_ranked`
    _due: int  # samples up to the next reference
    _features: FeatureMeans
    _score: float  # sums over the block that is being filled: scores, their squares and cubes
    _square: float
    _cube: float
    _loss: float
    _filled: int  # samples in it
    _scores: Vector  # sums over all blocks up to each of the `_size` blocks
    _losses: Vector
    _squares: float  # sums over the blocks
    _cubes: float
    threshold: Readonly[float]
    drift_detected: Public[bool]
    n_seen: Readonly[int]
    _n_recent: int
    _size: int
    _is_ranked: bool

    def __init__(self, threshold: float = 5.5, state: dict[str, Any] | None = None) -> None:
        self.threshold = check_number(threshold, "threshold", above=0.0)
        self.events, self.drift_detected, self.n_seen = [], False, 0
        self._ordered, self.has_alarm = np.zeros(REFERENCE), False
        self._scores, self._losses = np.zeros(CAPACITY), np.zeros(CAPACITY)
        self._begin()
        if state is not None:
            self._set(state)

    def _begin(self) -> int:  # cdef gil
        """Forget everything but the events."""
        self._since, self._due, self._is_ranked = 0, REFERENCE, False
        self._recent, self._n_recent = np.zeros(REFERENCE), 0
        self._features = FeatureMeans()
        self._clear_blocks()
        return 0

    def _clear_blocks(self) -> int:  # cdef
        self._clear_block()
        self._size, self._scores[0], self._losses[0] = 0, 0.0, 0.0
        self._squares = self._cubes = 0.0
        return 0

    def _clear_block(self) -> None:  # cdef
        self._score = self._square = self._cube = self._loss = 0.0
        self._filled = 0

    def _renew(self) -> int:  # cdef gil
        """Take the latest losses as the reference, and rank the kept ones among them."""
        losses = np.array(self._recent)[: self._n_recent]
        reference = np.sort(losses[-REFERENCE:])
        kept = losses[-KEPT:]
        kept = kept[_unlearned(kept, reference, self.threshold) :]
        self._ordered, self._is_ranked = reference, True
        self._clear_blocks()
        for k in range(len(kept)):
            self._add(kept[k])
        self._due *= 2
        if self._due > LAST:  # this was the last reference
            kept = kept[:0]
        self._n_recent = len(kept)
        self._recent = np.append(kept, np.zeros(self._due // 2))
        return 0

    def take(self, loss: float, points: Array, row: int) -> int:
        """Take the loss of a sample before its step, and its features, a row of `points`."""
        self._features.add_row(points, row)
        return self._take(loss)

    def update(self, loss: float, features: Mapping[Any, float] | None = None) -> None:
        """Take the loss of one sample, computed before the sample was learned.

        Parameters
        ----------
        loss : float
            The loss.
        features : dict, optional
            Numbers by name; NaN is a gap. An alarm then names the features whose means changed.
        """
        if features is not None:
            self._features.add(features)
        self._take(loss)

    def update_many(
        self, losses: Array, features: Mapping[Any, Array] | None = None
    ) -> list[DriftEvent]:
        """Take the losses of several samples in their order; return the alarms.

        Afterwards `drift_detected` is True if there were any.

        Parameters
        ----------
        losses : array of shape (n,)
            The losses.
        features : mapping of str to array of shape (n,), optional
            Numbers by name, with NaN for gaps.

        Examples
        --------
        >>> losses = np.abs(np.random.default_rng(0).normal(size=4000))
        >>> losses[2000:] *= 2.0
        >>> [2000 < event.time < 2100 for event in DriftDetector().update_many(losses)]
        [True]
        """
        n_before, values, names = len(self.events), losses.tolist(), list(features or ())
        starts = list(range((BLOCK - self._since % BLOCK) % BLOCK, len(values), BLOCK))
        if not starts or starts[0] > 0:
            starts.insert(0, 0)
        if names and values:
            table = np.column_stack([(features or {})[name] for name in names])
            known = np.isfinite(table)
            both = np.stack([np.where(known, table, 0.0), known], axis=1)
            sums = np.add.reduceat(both, starts, axis=0)
        for k, start in enumerate(starts):
            if names and values:
                self._features.add_sums(names, sums[k])
            for loss in values[start : (*starts, len(values))[k + 1]]:
                self.update(loss)
        self.drift_detected = len(self.events) > n_before
        return self.events[n_before:]

    def _take(self, loss: float) -> int:  # cdef
        self.drift_detected = False
        self.n_seen += 1
        self._since += 1
        if self._due <= LAST:
            self._recent[self._n_recent] = loss
            self._n_recent += 1
        if self._is_ranked:
            self._add(loss)
        if self._since % BLOCK == 0:
            self._features.close_block()
        if self._filled == 0 and self._size > 0:
            self._compare()
        if self._since == self._due and self._due <= LAST:
            with cython.gil:
                self._renew()
        return 0

    def _rank(self, loss: float) -> int:  # cdef noexcept
        """Return twice the rank of a loss in the reference; equal losses share their ranks."""
        low, left = 0, REFERENCE  # type: int, int
        while left > 0:  # without branches: `low` losses are smaller
            half: int = (left + 1) // 2
            low += half * (self._ordered[low + half - 1] < loss)
            left -= half
        if low == REFERENCE or self._ordered[low] > loss:
            return 2 * low
        above, high = low, REFERENCE  # type: int, int
        while above < high:  # `above` losses are not larger
            middle: int = (above + high) // 2
            if self._ordered[middle] > loss:
                high = middle
            else:
                above = middle + 1
        return low + above

    def _add(self, loss: float) -> int:  # cdef
        """Add a loss and its score to the sums."""
        score: float = SCORES[self._rank(loss)]
        self._score += score
        self._square += score * score
        self._cube += score * score * score
        self._loss += loss
        self._filled += 1
        if self._filled == BLOCK:
            self._scores[self._size + 1] = self._scores[self._size] + self._score
            self._losses[self._size + 1] = self._losses[self._size] + self._loss
            self._squares += self._square
            self._cubes += self._cube
            self._size += 1
            self._clear_block()
        return 0

    def _compare(self) -> int:  # cdef
        """Compare the latest blocks with those before."""
        if self._size > MOST + WINDOWS[WINDOWS.shape[0] - 1]:
            self._trim()
        total, n_samples = self._scores[self._size], 1.0 * BLOCK * self._size
        mean, square = total / n_samples, self._squares / n_samples
        variance = max(square - mean * mean, 1e-6)
        # The third central moment.
        third = self._cubes / n_samples - 3.0 * mean * square + 2.0 * mean * mean * mean
        skew = max(1.0, third / (3.0 * variance))
        doubt = 0.5 * self.threshold * self.threshold  # −log of the probability
        for k in range(WINDOWS.shape[0]):
            window: int = WINDOWS[k]
            before: int = self._size - window
            if before < FEWEST:
                break
            old = self._scores[before]
            gap = ((total - old) / window - old / before) / BLOCK
            if gap <= 0.0:
                continue
            # Bernstein's inequality: the first term counts for short windows, and for rare losses.
            tail = doubt / (1.0 * BLOCK * window)
            share = 1.0 + (1.0 * window) / before
            if gap > skew * tail + math.sqrt(2.0 * variance * tail * share):
                with cython.gil:
                    self._alarm(window)
                break
        return 0

    def _trim(self) -> None:  # cdef
        """Drop the oldest half of the blocks."""
        half: int = self._size // 2
        kept: int = self._size - half
        share = (1.0 * kept) / self._size
        self._squares *= share
        self._cubes *= share
        score, loss = self._scores[half], self._losses[half]
        for k in range(kept + 1):
            self._scores[k] = self._scores[half + k] - score
            self._losses[k] = self._losses[half + k] - loss
        self._size = kept

    def _alarm(self, window: int) -> int:  # cdef gil
        before = self._size - window
        old = self._losses[before] / before
        new = (self._losses[self._size] - self._losses[before]) / window
        severity = new / old - 1.0 if old > 0.0 else math.inf
        self.events.append(DriftEvent(self.n_seen, severity, self._features.changed(window)))
        self._begin()
        self.drift_detected = self.has_alarm = True
        return 0

    # -- files and pickles -------------------------------------------------------------------

    def _to_file(self) -> dict[str, Any]:
        block = [self._score, self._square, self._cube, self._loss]
        size = self._size + 1
        return {
            "threshold": self.threshold,
            "events": [event.state for event in self.events],
            "has_alarm": self.has_alarm,
            "seen": self.n_seen,
            "since": self._since,
            "recent": np.array(self._recent)[: self._n_recent],
            "reference": np.array(self._ordered)[: REFERENCE * self._is_ranked],
            "due": self._due,
            "block": np.array(block),
            "filled": self._filled,
            "scores": np.array(self._scores)[:size],
            "losses": np.array(self._losses)[:size],
            "powers": np.array([self._squares, self._cubes]),
            "features": self._features,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "DriftDetector":
        return cls(values["threshold"], values)

    def _set(self, values: dict[str, Any]) -> None:
        """Restore a state; raise if it cannot be that of a detector."""
        reference, recent, size = values["reference"], values["recent"], len(values["scores"])
        self._since, self._due = values["since"], values["due"]
        self._is_ranked = len(reference) > 0
        missing = self._due - self._since if self._due <= LAST else 0
        if len(reference) not in (0, REFERENCE) or not 0 <= missing <= LAST:
            raise FileFormatError(f"a stored drift detector needs {REFERENCE} losses to rank by")
        if self._is_ranked:
            self._ordered = np.array(reference)
        self._recent, self._n_recent = np.append(recent, np.zeros(missing)), len(recent)
        self.events = [DriftEvent.of(state) for state in values["events"]]
        self.n_seen, self._filled = values["seen"], values["filled"]
        self.has_alarm = values["has_alarm"]
        self._score, self._square, self._cube, self._loss = values["block"].tolist()
        self._squares, self._cubes = values["powers"].tolist()
        for k in range(size):
            self._scores[k], self._losses[k] = values["scores"][k], values["losses"][k]
        self._size, self._features = size - 1, copy(values["features"])

    def __reduce__(self) -> tuple[Any, ...]:
        return DriftDetector, (self.threshold, self._to_file())


# Compiled classes take no decorators.
stored.stores(
    threshold=stored.Number(above=0.0),
    events=stored.ListOf(stored.Anything(), size="n_events"),
    has_alarm=stored.Flag(),
    seen=stored.Count(),
    since=stored.Count(),
    recent=stored.Array(stored.Size("n_recent", at_most=LAST), finite=False),
    reference=stored.Array(stored.Size("n_reference", at_most=REFERENCE), finite=False),
    due=stored.Count(REFERENCE),
    block=stored.Array(4, finite=False),
    filled=stored.Count(at_most=BLOCK - 1),
    scores=stored.Array(stored.Size("n_sums", at_least=1, at_most=CAPACITY)),
    losses=stored.Array("n_sums", finite=False),
    powers=stored.Array(2, at_least=0.0),
    features=stored.Object(FeatureMeans),
)(DriftDetector)
