"""How a learner keeps its function small: the bound on what a step may forget."""

from dataclasses import dataclass

from colk._validation import check_count, check_number

__all__ = ["KOMP"]


@dataclass(frozen=True)
class KOMP:
    """Kernel orthogonal matching pursuit: ‖f − f~‖_H ≤ eps at every step (Proposition 1).

    Atoms are dropped, cheapest first, the others re-fitted, as long as the function moves by at
    most eps in H-norm.

    Parameters
    ----------
    eps : float, optional
        The bound, an H-norm.
    parsimony : float, optional
        The paper's constant K, in place of eps: eps = K·step_size², step by step.
    max_atoms : int, optional
        Largest model order. It is a hard bound on memory: where it is reached, the cheapest atoms
        go even at a price above eps, and the error that a step reports says so.

    Examples
    --------
    >>> from colk.compressors import KOMP
    >>> KOMP(eps=2e-3)
    KOMP(eps=0.002, parsimony=None, max_atoms=None)
    >>> KOMP(parsimony=5.0).eps_at(step_size=0.02)
    0.002
    """

    eps: float | None = None
    parsimony: float | None = None
    max_atoms: int | None = None

    def __post_init__(self) -> None:
        if self.eps is not None and self.parsimony is not None:
            raise ValueError(
                "give eps or parsimony, not both: parsimony K means eps = K·step_size²"
            )
        if self.eps is None and self.parsimony is None and self.max_atoms is None:
            raise ValueError("KOMP needs eps, parsimony or max_atoms")
        if self.eps is not None:
            check_number(self.eps, "eps", at_least=0.0)
        if self.parsimony is not None:
            check_number(self.parsimony, "parsimony", at_least=0.0)
        if self.max_atoms is not None:
            check_count(self.max_atoms, "max_atoms")

    def eps_at(self, step_size: float) -> float:
        """Bound on the H-norm of what a step of this size may forget."""
        return (self.eps or 0.0) + (self.parsimony or 0.0) * step_size**2
