"""What the budgeted methods share: Pegasos' steps, and rules of maintenance by name."""

from typing import Any

from colk.compressors import COMPRESSORS, Budget
from colk.kernels import Kernel
from colk.learners.functional import KernelLearner
from colk.schedules import PowerDecay, Rate

__all__ = ["BudgetedLearner", "as_rule", "pegasos"]


def pegasos(step_size: Rate | str, regularization: float) -> Rate:
    """Return the steps 1/(λt), t = 1, 2, …, where "pegasos" asks for them.

    Examples
    --------
    >>> pegasos("pegasos", regularization=0.5)
    PowerDecay(initial=2.0, power=1.0, scale=1.0)
    """
    if not isinstance(step_size, str):
        return step_size
    if step_size != "pegasos":
        raise ValueError(f"step_size must be a rate or 'pegasos', got {step_size!r}")
    if regularization == 0.0:
        raise ValueError("step_size='pegasos' means 1/(regularization·t): give a regularization")
    return PowerDecay(1.0 / regularization, power=1.0, scale=1.0)


def as_rule(maintenance: str, max_atoms: int | None, without: tuple[str, ...]) -> Budget:
    """Return the rule of `COMPRESSORS` that is named, for so many atoms, but for some.

    Examples
    --------
    >>> as_rule("removal", 50, without=("truncation",))
    Removal(max_atoms=50)
    """
    known = [name for name in COMPRESSORS if name not in without]
    if maintenance not in known:
        raise ValueError(f"maintenance must be one of {known}, got {maintenance!r}")
    return COMPRESSORS[maintenance](max_atoms)


class BudgetedLearner(KernelLearner):
    """A kernel learner that keeps to a number of atoms. Arguments as in `KernelLearner`."""

    def __init__(self, kernel: Kernel, rule: Any, **common: Any) -> None:
        super().__init__(kernel, rule, **common)

    @property
    def max_atoms(self) -> int | None:
        """Most atoms; None for no bound."""
        bound: int | None = getattr(self.compressor, "max_atoms", None)
        return bound

    def _check_shrinking(self) -> None:
        # A first step of size 1/λ scales f = 0 by 0: that is how Pegasos begins.
        if self.step_size.initial * self.regularization > 1.0 + 1e-12:
            super()._check_shrinking()
