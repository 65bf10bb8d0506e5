"""Base class of learners that can look for drift in their losses."""

from copy import copy
from typing import Any, Self

from colk._engine.quasigradient import QuasiGradientStream
from colk.learners.drift import DriftDetector
from colk.learners.drift_event import DriftEvent
from colk.learners.stream_learner import StreamLearner

__all__ = ["WatchedLearner"]


class WatchedLearner(StreamLearner):
    """A learner whose losses a `DriftDetector` may watch."""

    _stream: QuasiGradientStream | None = None
    _detector: DriftDetector | None = None
    _acts_on_drift = False  # whether steps depend on the detector, so that there must be one

    def get_state(self) -> dict[str, Any]:
        """Return the state of `StreamLearner`, and a copy of the detector."""
        with self._held():
            return {**super().get_state(), "detector": copy(self._detector)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that `get_state` of a learner with the same settings returned."""
        self._detector = copy(state.get("detector"))
        super().set_state(state)

    def __getstate__(self) -> dict[str, Any]:
        """Return settings and state; a copy shares nothing, not even the detector."""
        with self._held():
            return {**super().__getstate__(), "_detector": copy(self._detector)}

    def watch_drift(self, detector: DriftDetector | None = None) -> Self:
        """Look for drift from now on; return the learner.

        The detector takes the loss of each sample before its step, and the features.

        Parameters
        ----------
        detector : DriftDetector, optional
            The detector, which is not copied. Default: a new one with the default threshold.

        Examples
        --------
        >>> import numpy as np
        >>> from colk.kernels import Gaussian
        >>> from colk.learners import COLK
        >>> X = np.random.default_rng(0).normal(size=(4000, 2))
        >>> X[3000:, 1] += 2.0
        >>> learner = COLK(Gaussian(2.0)).watch_drift().learn(X, X[:, 0] + X[:, 1] ** 2)
        >>> [(3000 < drift.time < 3100, list(drift.features)) for drift in learner.drifts]
        [(True, [1])]
        """
        with self._held():
            self._detector = DriftDetector() if detector is None else detector
            self._watch()
        return self

    def take_detector(self, other: "WatchedLearner") -> None:
        """Swap detectors with a learner that this one replaces."""
        self._detector, other._detector = other._detector, self._detector
        other._watch()
        self._watch()

    def _watch(self) -> None:
        """Let the stream show its losses to the detector."""
        if self._stream is not None:
            if self._detector is None and self._acts_on_drift:
                self._detector = DriftDetector()
            self._stream.watcher = self._detector  # type: ignore[assignment]

    @property
    def is_watched(self) -> bool:
        """Whether a drift detector takes the losses."""
        return self._detector is not None

    @property
    def drift_detected(self) -> bool:
        """Whether a sample of the latest call caused an alarm."""
        return self._watching().drift_detected

    @property
    def drifts(self) -> list[DriftEvent]:
        """All alarms so far: time, severity, and the columns whose means changed."""
        return list(self._watching().events)

    def _watching(self) -> DriftDetector:
        if self._detector is None:
            raise ValueError("this learner has no drift detector: call watch_drift first")
        return self._detector

    def end_call(self, n_drifts: int) -> None:
        """Set `drift_detected` after samples were learned; there were `n_drifts` alarms before."""
        detector = self._watching()
        detector.drift_detected = len(detector.events) > n_drifts
