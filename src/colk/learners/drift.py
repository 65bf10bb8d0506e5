"""A detector of rising losses, with hardly any cost per sample."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colk import _stored as stored
from colk._validation import Array, check_number
from colk.errors import FileFormatError
from colk.learners.feature_drift import FeatureMeans

__all__ = ["DriftDetector", "DriftEvent"]

# Samples are summed in blocks. The latest WINDOWS blocks are compared with those before, of which
# there are at most MOST, and at least FEWEST.
BLOCK, FEWEST, MOST = 10, 30, 2000
WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200)

# The ranks are those among REFERENCE losses. The latest ones are taken again at twice, four times …
# as many samples, up to LAST, because a model that learns makes its losses smaller. The ranks of
# the KEPT latest losses are then computed again.
REFERENCE, LAST, KEPT = 500, 8000, 2000

# −log of the share of larger losses, by rank in steps of one half: about exponential with mean 1.
_SCORES = [-math.log1p(-k / (2.0 * REFERENCE + 1.0)) for k in range(2 * REFERENCE + 1)]


@dataclass(frozen=True)
class DriftEvent:
    """A change of a stream.

    Parameters
    ----------
    time : int
        Number of samples up to the alarm.
    severity : float
        Mean loss of the latest samples divided by that before, minus 1.
    features : dict
        The features whose means changed, with the change in standard deviations, the largest first.

    Examples
    --------
    >>> DriftEvent(time=1200, severity=0.8)
    DriftEvent(time=1200, severity=0.8, features={})
    """

    time: int
    severity: float
    features: dict[Hashable, float] = field(default_factory=dict)

    @property
    def state(self) -> list[Any]:
        """The event as numbers and names."""
        return [self.time, self.severity, list(self.features), list(self.features.values())]

    @classmethod
    def of(cls, state: Any) -> "DriftEvent":
        """Return the event of a state.

        Parameters
        ----------
        state : list
            What `state` returns.
        """
        try:
            time, severity, names, changes = state
            found = zip(names, map(float, changes), strict=True)
            return cls(int(time), float(severity), dict(found))
        except (TypeError, ValueError) as error:
            raise FileFormatError("an event of a drift has a time, a severity and names") from error


@stored.stores(
    threshold=stored.Number(above=0.0),
    events=stored.ListOf(stored.Anything(), size="n_events"),
    seen=stored.Count(),
    since=stored.Count(),
    recent=stored.Array(stored.Size("n_recent", at_most=LAST), finite=False),
    reference=stored.Array(stored.Size("n_reference", at_most=REFERENCE), finite=False),
    due=stored.Count(REFERENCE),
    block=stored.Array(4, finite=False),
    filled=stored.Count(at_most=BLOCK - 1),
    scores=stored.Array(stored.Size("n_sums", at_least=1, at_most=MOST + WINDOWS[-1] + 2)),
    losses=stored.Array("n_sums", finite=False),
    powers=stored.Array(2, at_least=0.0),
    features=stored.Object(FeatureMeans),
)
class DriftDetector:
    """Detects that the losses of a stream rise.

    A loss counts by its rank among 500 earlier ones, so heavy tails do no harm: its score is −log
    of the share of larger losses. The mean score of the latest 10, 20, … 2000 samples is compared
    with that of up to 20,000 samples before, in fifteen windows. Falling losses are no drift: the
    model learns. After an alarm the detector begins anew.

    Parameters
    ----------
    threshold : float
        Standard errors of an alarm. The scores are about exponentially distributed, so Bernstein's
        inequality bounds the probability that a window of a still stream exceeds t of them by
        exp(−t²/2), which is 2.7e-7 for 5.5.

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

    def __init__(self, threshold: float = 5.5) -> None:
        self.threshold = check_number(threshold, "threshold", above=0.0)
        self.events: list[DriftEvent] = []
        self.drift_detected = False
        self.n_seen = 0
        self._begin()

    def _begin(self) -> None:
        """Forget everything but the events."""
        self._since = 0  # samples since the last alarm
        self._recent: list[float] = []  # losses, until the last reference
        self._ordered: list[float] = []  # the reference
        self._due = REFERENCE
        self._features = FeatureMeans()
        self._clear_blocks()

    def _clear_blocks(self) -> None:
        self._block = [0.0, 0.0, 0.0, 0.0]  # sums of scores, their squares and cubes, and losses
        self._filled = 0
        self._scores, self._losses = [0.0], [0.0]  # sums over all blocks up to each
        self._squares = self._cubes = 0.0  # of the scores in the blocks

    def _renew(self) -> None:
        """Take the latest losses as the reference, and rank the kept ones among them."""
        self._ordered = sorted(self._recent[-REFERENCE:])
        del self._recent[:-KEPT]
        self._clear_blocks()
        for loss in self._recent:
            self._add(loss)
        self._due *= 2

    def update(self, loss: float, features: Mapping[Any, float] | None = None) -> None:
        """Take the loss of one sample, computed before the sample was learned.

        Parameters
        ----------
        loss : float
            The loss.
        features : dict, optional
            Numbers by name; NaN is a gap. An alarm then names the features whose means changed.
        """
        self.drift_detected = False
        self.n_seen += 1
        self._since += 1
        if features is not None:
            self._features.add(features)
        if self._due <= LAST:
            self._recent.append(loss)
        if self._ordered:
            self._add(loss)
        if self._since % BLOCK == 0:
            self._features.close_block()
        if self._filled == 0 and len(self._scores) > 1:
            self._compare()
        if self._since == self._due and self._due <= LAST:
            self._renew()

    def update_many(
        self, losses: Array, features: Mapping[Any, Array] | None = None
    ) -> list[DriftEvent]:
        """Take the losses of several samples in their order; return the alarms.

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
        starts = list(range(-self._since % BLOCK, len(values), BLOCK))
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
        return self.events[n_before:]

    def _add(self, loss: float) -> None:
        """Add a loss and its score to the sums."""
        low = bisect_left(self._ordered, loss)
        score = _SCORES[low + bisect_right(self._ordered, loss, low)]
        block = self._block
        block[0] += score
        block[1] += score * score
        block[2] += score * score * score
        block[3] += loss
        self._filled += 1
        if self._filled == BLOCK:
            self._scores.append(self._scores[-1] + block[0])
            self._squares += block[1]
            self._cubes += block[2]
            self._losses.append(self._losses[-1] + block[3])
            self._block, self._filled = [0.0, 0.0, 0.0, 0.0], 0

    def _compare(self) -> None:
        """Compare the latest blocks with those before."""
        sums = self._scores
        size = len(sums) - 1
        if size > MOST + WINDOWS[-1]:
            self._trim()
            sums = self._scores
            size = len(sums) - 1
        total = sums[-1]
        mean = total / (BLOCK * size)
        square, cube = self._squares / (BLOCK * size), self._cubes / (BLOCK * size)
        variance = max(square - mean * mean, 1e-6)
        third = cube - 3.0 * mean * square + 2.0 * mean**3  # central moment
        skew = max(1.0, third / (3.0 * variance))
        doubt = 0.5 * self.threshold * self.threshold  # −log of the probability
        for window in WINDOWS:
            before = size - window
            if before < FEWEST:
                break
            gap = ((total - sums[before]) / window - sums[before] / before) / BLOCK
            # Bernstein's inequality: the first term counts for short windows, and for rare losses.
            tail = doubt / (BLOCK * window)
            if gap > skew * tail + math.sqrt(2.0 * variance * tail * (1.0 + window / before)):
                self._alarm(window)
                return

    def _trim(self) -> None:
        """Drop the oldest half of the blocks."""
        size = len(self._scores) - 1
        half = size // 2
        self._squares *= (size - half) / size
        self._cubes *= (size - half) / size
        self._scores = [each - self._scores[half] for each in self._scores[half:]]
        self._losses = [each - self._losses[half] for each in self._losses[half:]]
        self._features.keep(size - half)

    def _alarm(self, window: int) -> None:
        sums, before = self._losses, len(self._losses) - 1 - window
        old, new = sums[before] / before, (sums[-1] - sums[before]) / window
        severity = new / old - 1.0 if old > 0.0 else math.inf
        self.events.append(DriftEvent(self.n_seen, severity, self._features.changed(window)))
        self._begin()
        self.drift_detected = True

    def _to_file(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "events": [event.state for event in self.events],
            "seen": self.n_seen,
            "since": self._since,
            "recent": np.array(self._recent),
            "reference": np.array(self._ordered),
            "due": self._due,
            "block": np.array(self._block),
            "filled": self._filled,
            "scores": np.array(self._scores),
            "losses": np.array(self._losses),
            "powers": np.array([self._squares, self._cubes]),
            "features": self._features,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "DriftDetector":
        detector = cls(values["threshold"])
        detector.events = [DriftEvent.of(state) for state in values["events"]]
        detector.n_seen, detector._since = values["seen"], values["since"]
        detector._recent.extend(values["recent"].tolist())
        detector._ordered, detector._due = values["reference"].tolist(), values["due"]
        if len(detector._ordered) not in (0, REFERENCE):
            raise FileFormatError(f"a detector of drifts ranks losses among {REFERENCE} others")
        detector._block, detector._filled = values["block"].tolist(), values["filled"]
        detector._scores, detector._losses = values["scores"].tolist(), values["losses"].tolist()
        detector._squares, detector._cubes = values["powers"].tolist()
        detector._features = values["features"]
        return detector
