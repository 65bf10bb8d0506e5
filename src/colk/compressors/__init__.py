"""How a learner keeps its function small: what becomes of the new points of a step.

`COMPRESSORS` names the rules that take a number of atoms.
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
