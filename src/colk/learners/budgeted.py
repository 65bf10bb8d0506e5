"""Methods that keep to a number of atoms: a gradient step, then a rule of maintenance."""

from typing import Any, ClassVar

import numpy as np

from colk._core import budget as core
from colk._core.dictionary import Dictionary
from colk._core.jit import Unit
from colk._core.merging import SEARCH_ROWS
from colk._core.reference import Pinned
from colk._core.roster import Roster
from colk._core.window import SQUARED_NORM
from colk._validation import check_count
from colk.kernels import Kernel
from colk.learners.functional import KernelLearner
from colk.schedules import PowerDecay, Rate

__all__ = ["BudgetedLearner", "pegasos"]

_RULES = {
    "truncation": core.TRUNCATION,
    "removal": core.REMOVAL,
    "projection": core.PROJECTION,
    "merging": core.MERGING,
}


def pegasos(step_size: Rate | str, regularization: float) -> Rate:
    """Return the steps 1/(λt), t = 1, 2, …, where "pegasos" asks for them."""
    if not isinstance(step_size, str):
        return step_size
    if step_size != "pegasos":
        raise ValueError(f"step_size must be a rate or 'pegasos', got {step_size!r}")
    if regularization == 0.0:
        raise ValueError("step_size='pegasos' means 1/(regularization·t): give a regularization")
    return PowerDecay(1.0 / regularization, power=1.0, scale=1.0)


class BudgetedLearner(KernelLearner):
    """A kernel learner that applies a rule where there are more atoms than its budget.

    The H-norm of f is not followed: it is NaN in a trace.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    budget : int or None
        Most atoms; None for no bound.
    maintenance : str
        One of the rules of the method.
    **common
        The arguments of `CompositionalLearner`.
    """

    _maintenances: ClassVar[tuple[str, ...]] = ("removal", "projection", "merging")

    def __init__(self, kernel: Kernel, budget: int | None, maintenance: str, **common: Any) -> None:
        self.budget = None if budget is None else check_count(budget, "budget")
        if maintenance not in self._maintenances:
            raise ValueError(
                f"maintenance must be one of {list(self._maintenances)}, got {maintenance!r}"
            )
        self.maintenance = maintenance
        super().__init__(kernel, **common)
        if maintenance == "merging" and not kernel.is_radial:
            raise TypeError(f"merging needs a radial kernel; {type(kernel).__name__} is not one")
        self._nu, self._tube = 0.0, np.zeros(1)
        unbounded = np.iinfo(np.int64).max
        self._allowed = np.array([self.budget or unbounded], dtype=np.int64)

    def _check_shrinking(self) -> None:
        # A first step of size 1/λ scales f = 0 by 0: that is how Pegasos begins.
        if self.step_size.initial * self.regularization > 1.0 + 1e-12:
            super()._check_shrinking()

    def _dictionary_type(self) -> type[Dictionary]:
        return Dictionary if self.maintenance == "projection" else Roster

    def _allocate(self, n_features: int, n_outputs: int, n_targets: int) -> None:
        super()._allocate(n_features, n_outputs, n_targets)
        self._core.levels[SQUARED_NORM] = np.nan

    def _coin(self) -> tuple[float, float, int]:
        """Growth, horizon and seed of the budget's coin; by default it never grows."""
        return np.inf, 1.0, 0

    @property
    def _step_unit(self) -> Unit:
        return core.budget_unit

    def _method(self, n_features: int) -> Pinned[core.Budget]:
        growth, horizon, seed = self._coin()
        capacity = self._dictionary.capacity if self.maintenance == "merging" else 1
        return Pinned(
            core.Budget(
                allowed=self._allowed,
                rule=_RULES[self.maintenance],
                growth=growth,
                horizon=horizon,
                seed=seed,
                nu=self._nu,
                tube=self._tube,
                origin=np.zeros(1),
                moments=np.empty((3, capacity)),
                search=np.empty((SEARCH_ROWS, capacity)),
            )
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in ("_allowed", "_tube"):  # unpickled arrays may share memory with others
            state[name] = state[name].copy()
        super().__setstate__(state)
