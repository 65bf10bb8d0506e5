"""Merge models that learned from different samples: functions add, and so does information."""

from colk.merging.merged import Merged, merge

__all__ = ["Merged", "merge"]
