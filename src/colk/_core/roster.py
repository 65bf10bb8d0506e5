"""Dictionaries of methods that never project: no triangular factor, memory O(M)."""

from colk._core.dictionary import Dictionary

__all__ = ["Parameters", "Roster"]


class Roster(Dictionary):
    """Atoms and weights."""

    has_factor = False


class Parameters(Roster):
    """Weights of features, which are not kernel functions of atoms."""

    has_kernel = False
