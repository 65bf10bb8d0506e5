"""A detector of rising losses, with hardly any cost per sample."""

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colk._validation import Array, check_number

__all__ = ["DriftDetector", "DriftEvent"]

# Samples are summed in blocks. The latest WINDOWS blocks are compared with those before, of which
# there are at most MOST, and at least FEWEST.
BLOCK, WINDOWS, FEWEST, MOST = 10, (3, 6, 12, 25, 50, 100, 200), 30, 2000

# The ranks are those among REFERENCE losses. The latest ones are taken again at twice, four times …
# as many samples, up to LAST, because a model that learns makes its losses smaller. The ranks of
# the KEPT latest losses are then computed again.
REFERENCE, LAST, KEPT = 500, 8000, 2000

# A feature has changed if its mean differs by this many standard errors.
CLEAR = 5.0


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


class DriftDetector:
    """Detects that the losses of a stream rise.

    A loss counts by its rank among 500 earlier ones, so heavy tails do no harm. The mean rank of
    the latest 30, 60, … 2000 samples is compared with that of up to 20,000 samples before; an alarm
    needs a difference of `threshold` standard errors in one of these seven windows. Falling losses
    are no drift: the model learns. After an alarm the detector begins anew.

    Parameters
    ----------
    threshold : float
        Standard errors of an alarm. Bernstein's inequality bounds the probability that a window of
        a still stream exceeds t of them by exp(−t²/2), which is 1.5e-8 for 6.0.

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
    >>> [2000 < event.time < 2200 for event in detector.events]
    [True]
    """

    def __init__(self, threshold: float = 6.0) -> None:
        self.threshold = check_number(threshold, "threshold", above=0.0)
        self.events: list[DriftEvent] = []
        self.drift_detected = False
        self.n_seen = 0
        self._begin()

    def _begin(self) -> None:
        """Forget everything but the events."""
        self._since = 0  # samples since the last alarm
        self._recent: deque[float] = deque(maxlen=KEPT)  # losses, until the last reference
        self._ordered: list[float] = []  # the reference
        self._due = REFERENCE
        self._names: list[Hashable] = []
        self._feature_sum: Array | None = None
        self._features: list[Array] = []  # sums over blocks
        self._clear_blocks()

    def _clear_blocks(self) -> None:
        self._rank_sum = self._square_sum = self._loss_sum = 0.0
        self._filled = 0
        self._ranks: list[float] = []  # sums over blocks
        self._losses: list[float] = []
        self._total = self._squares = 0.0  # of the ranks in the blocks

    def _renew(self) -> None:
        """Take the latest losses as the reference, and rank the kept ones among them."""
        self._ordered = sorted(list(self._recent)[-REFERENCE:])
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
            Numbers by name. An alarm then names the features whose means changed.
        """
        self.drift_detected = False
        self.n_seen += 1
        self._since += 1
        if features is not None:
            self._add_features(features)
        if self._due <= LAST:
            self._recent.append(loss)
        if self._ordered:
            self._add(loss)
        if self._since % BLOCK == 0:
            self._keep_features()
        if self._filled == 0 and self._ranks:
            self._compare()
        if self._since == self._due and self._due <= LAST:
            self._renew()

    def _add(self, loss: float) -> None:
        """Add a loss and its rank to the sums."""
        low = bisect_left(self._ordered, loss)
        rank = (low + bisect_right(self._ordered, loss, low)) / (2.0 * REFERENCE)
        self._rank_sum += rank
        self._square_sum += rank * rank
        self._loss_sum += loss
        self._filled += 1
        if self._filled == BLOCK:
            self._close_block()

    def _add_features(self, features: Mapping[Any, float]) -> None:
        """Add numbers to the sums of a block; the first sample names the features."""
        if self._feature_sum is None:
            self._names = list(features)
            self._feature_sum = np.zeros(len(self._names))
        self._feature_sum += [float(features.get(name, 0.0)) for name in self._names]

    def _keep_features(self) -> None:
        """Keep the sums of a block."""
        if self._feature_sum is not None:
            self._features.append(self._feature_sum)
            self._feature_sum = np.zeros(len(self._names))

    def _close_block(self) -> None:
        """Keep the sums of a block."""
        self._ranks.append(self._rank_sum)
        self._losses.append(self._loss_sum)
        self._total += self._rank_sum
        self._squares += self._square_sum
        self._rank_sum = self._square_sum = self._loss_sum = 0.0
        self._filled = 0

    def _compare(self) -> None:
        """Compare the latest blocks with those before."""
        size = len(self._ranks)
        if size > MOST + WINDOWS[-1]:
            self._trim()
            size = len(self._ranks)
        mean = self._total / (BLOCK * size)
        variance = max(self._squares / (BLOCK * size) - mean * mean, 1e-6)
        recent, taken = 0.0, 0
        for window in WINDOWS:
            if size - window < FEWEST:
                break
            recent += sum(self._ranks[size - window : size - taken])
            taken, before = window, size - window
            gap = (recent / window - (self._total - recent) / before) / BLOCK
            if gap <= 0.0:
                continue
            # Bernstein's inequality: the second term counts for short windows and skewed ranks.
            spread = variance + (1.0 - mean) * gap / 3.0
            if gap > self.threshold * math.sqrt(spread * (1.0 / window + 1.0 / before) / BLOCK):
                self._alarm(window)
                return

    def _trim(self) -> None:
        """Drop the oldest half of the blocks."""
        half = len(self._ranks) // 2
        kept = sum(self._ranks[half:])
        self._squares *= (len(self._ranks) - half) / len(self._ranks)
        self._total = kept
        for blocks in (self._ranks, self._losses):
            del blocks[:half]
        del self._features[: len(self._features) - len(self._ranks)]

    def _alarm(self, window: int) -> None:
        new, old = self._losses[-window:], self._losses[:-window]
        before = sum(old) / len(old)
        severity = sum(new) / len(new) / before - 1.0 if before > 0.0 else math.inf
        self.events.append(DriftEvent(self.n_seen, severity, self._changed(window)))
        self._begin()
        self.drift_detected = True

    def _changed(self, window: int) -> dict[Hashable, float]:
        """The features whose means changed, and by how many standard deviations of a sample."""
        if len(self._features) <= window + FEWEST:
            return {}
        new, old = np.array(self._features[-window:]), np.array(self._features[:-window])
        spread = old.std(axis=0) / math.sqrt(BLOCK) + 1e-12  # of one sample
        gaps = (new.mean(axis=0) - old.mean(axis=0)) / BLOCK / spread
        clear = np.abs(gaps) > CLEAR / math.sqrt(BLOCK * window)
        order = np.argsort(-np.abs(gaps))
        return {self._names[k]: float(gaps[k]) for k in order if clear[k]}
