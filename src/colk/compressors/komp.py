"""KOMP: a step may move the function by so much, and no more."""

import math
from typing import ClassVar

from colk._validation import check_count, check_number
from colk.compressors import pursuit
from colk.compressors.base import Compressor
from colk.dictionary import Dictionary

__all__ = ["KOMP"]

# More atoms than any memory holds.
UNBOUNDED = 2**62


class KOMP(Compressor):
    """Kernel orthogonal matching pursuit: ‖f − f~‖_H ≤ eps at every step (Proposition 1).

    Atoms are dropped, cheapest first, the others re-fitted, as long as the function moves by at
    most eps in H-norm. Two things go before eps, and the error that a step reports includes them:
    `max_atoms`, and that atoms stay independent up to rounding. A new point whose squared distance
    to the span of the atoms is below 10⁻⁹ κ(x, x) is projected on it, at a price of up to 3·10⁻⁵ of
    its own norm, and an atom that the others span to 10⁻¹⁰ leaves: where eps is below about 10⁻⁴
    of the size of a step, what a step loses may exceed eps.

    Parameters
    ----------
    eps : float, optional
        The bound, an H-norm.
    parsimony : float, optional
        The paper's constant K, in place of eps: eps = K·step_size², step by step.
    max_atoms : int, optional
        Largest model order. It is a hard bound on memory: where it is reached, the cheapest atoms
        go even at a price above eps, and the error that a step reports says so.
    fraction : float, optional
        In place of eps: the bound in units of the steps that are made, a share of the root mean
        square of the H-norms of about the latest 1000. It does not depend on the scale of the loss.

    Examples
    --------
    >>> from colk.compressors import KOMP
    >>> KOMP(eps=2e-3)
    KOMP(eps=0.002, parsimony=None, max_atoms=None, fraction=None)
    >>> KOMP(parsimony=5.0).eps_at(step_size=0.02)
    0.002
    """

    _fields = ("eps", "parsimony", "max_atoms", "fraction")
    is_orthogonal: ClassVar[bool] = True
    eps: float | None
    parsimony: float | None
    max_atoms: int | None
    fraction: float | None
    bound: float
    gain: float
    part: float
    at_most: int

    def __init__(
        self,
        eps: float | None = None,
        parsimony: float | None = None,
        max_atoms: int | None = None,
        fraction: float | None = None,
    ) -> None:
        given = [bound for bound in (eps, parsimony, fraction) if bound is not None]
        if len(given) > 1:
            raise ValueError(
                "give eps, parsimony or fraction, not both: parsimony K means eps = K·step_size², "
                "fraction a share of the size of the steps"
            )
        if not given and max_atoms is None:
            raise ValueError("KOMP needs eps, parsimony, fraction or max_atoms")
        self.eps = None if eps is None else check_number(eps, "eps", at_least=0.0)
        self.parsimony = (
            None if parsimony is None else check_number(parsimony, "parsimony", at_least=0.0)
        )
        self.max_atoms = None if max_atoms is None else check_count(max_atoms, "max_atoms")
        self.fraction = (
            None if fraction is None else check_number(fraction, "fraction", at_least=0.0)
        )
        self.bound, self.gain, self.part = eps or 0.0, parsimony or 0.0, fraction or 0.0
        self.at_most = UNBOUNDED if max_atoms is None else max_atoms

    @property
    def is_relative(self) -> bool:  # type: ignore[override]
        """Whether the bound is in units of the steps."""
        return self.fraction is not None

    def eps_at(self, step_size: float) -> float:
        """Bound on the H-norm of what a step of this size may forget."""
        return self.bound + self.gain * step_size**2

    def settle(self, d: Dictionary, staged: int, step_size: float, t: int) -> float:
        """Return what f = KOMP(f~, ε) loses."""
        eps = self.bound + self.gain * step_size * step_size
        eps += self.part * math.sqrt(d.squared_move)
        return pursuit.absorb(d, staged, eps, 0, self.at_most)
