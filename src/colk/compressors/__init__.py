"""Compressors: rules that limit the number of atoms of a function.

`COMPRESSORS` lists by name the rules with a fixed number of atoms.
"""

from colk.compressors.base import Compressor
from colk.compressors.budget import Budget, Growing, Projection, Removal, Truncation, enrol, remove
from colk.compressors.merging import Merging
from colk.compressors.pursuit import KOMP

__all__ = [
    "COMPRESSORS",
    "KOMP",
    "Budget",
    "Compressor",
    "Growing",
    "Merging",
    "Projection",
    "Removal",
    "Truncation",
    "enrol",
    "remove",
]

COMPRESSORS: dict[str, type[Budget]] = {
    "merging": Merging,
    "projection": Projection,
    "removal": Removal,
    "truncation": Truncation,
}
