"""Merge models that learned from different samples, by adding functions or information."""

from colk.merging.merged import Merged, merge

__all__ = ["Merged", "merge"]
