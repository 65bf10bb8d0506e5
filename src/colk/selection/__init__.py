"""Automatic choice of kernel, bandwidth and metric."""

from colk.selection.choice import choose, ridge_targets, rows_to_race
from colk.selection.contenders import CONTENDERS, Contender, contenders_for
from colk.selection.race import race
from colk.selection.recent import RecentSamples
from colk.selection.relevance import Relevance
from colk.selection.result import LARGEST, Entry, Race
from colk.selection.warm_up import WARM_UP, KeptSamples

__all__ = [
    "CONTENDERS",
    "LARGEST",
    "WARM_UP",
    "Contender",
    "Entry",
    "KeptSamples",
    "Race",
    "RecentSamples",
    "Relevance",
    "choose",
    "contenders_for",
    "race",
    "ridge_targets",
    "rows_to_race",
]
