"""Automatic choice of kernel, bandwidth and feature scales."""

from colk.selection.contenders import CONTENDERS, Contender, contenders_for
from colk.selection.race import race
from colk.selection.recent import RecentSamples
from colk.selection.relevance import MOST_ROWS
from colk.selection.result import LARGEST, Entry, Race
from colk.selection.settings import choose, is_open, rows_to_race, until_chosen
from colk.selection.warm_up import WARM_UP, KeptSamples

__all__ = [
    "CONTENDERS",
    "LARGEST",
    "MOST_ROWS",
    "WARM_UP",
    "Contender",
    "Entry",
    "KeptSamples",
    "Race",
    "RecentSamples",
    "choose",
    "contenders_for",
    "is_open",
    "race",
    "rows_to_race",
    "until_chosen",
]
