"""The data choose: kernel, bandwidth and feature scales from the first samples."""

from colk.selection.contenders import CONTENDERS, Contender, contenders_for
from colk.selection.race import LARGEST, Entry, Race, race

__all__ = ["CONTENDERS", "LARGEST", "Contender", "Entry", "Race", "contenders_for", "race"]
