"""Which samples of a window play θ and ξ."""

from typing import Literal, NamedTuple

__all__ = ["PAIRINGS", "Pairing", "Roles", "roles"]

Pairing = Literal["independent", "overlap", "same"]
PAIRINGS = ("independent", "overlap", "same")


class Roles(NamedTuple):
    """The b-th θ stands at place stride·b of the window, its ξ at stride·b + shift.

    Of overlapping pairs (stride 1, shift 1) ξ is the new sample: the tracker compares f_t with
    f_{t−1} there, and a sample that the step between them has fitted would bias it.
    """

    batch: int
    stride: int
    shift: int

    @property
    def window(self) -> int:
        """Samples in a window."""
        return self.stride * (self.batch - 1) + self.shift + 1


def roles(pairing: Pairing, n_inner: int, batch: int) -> Roles:
    """Return the roles in a batch of pairs; where nothing is tracked a sample stands alone.

    Examples
    --------
    >>> roles("independent", n_inner=1, batch=3).window
    6
    >>> roles("overlap", n_inner=1, batch=3).window
    4
    """
    if n_inner == 0 or pairing == "same":
        return Roles(batch, 1, 0)
    return Roles(batch, 2, 1) if pairing == "independent" else Roles(batch, 1, 1)
