"""Drift as events: when a stream changed, by how much, and in which features."""

from colk.drift.detector import DriftDetector, DriftEvent

__all__ = ["DriftDetector", "DriftEvent"]
