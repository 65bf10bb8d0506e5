"""How `fit` passes over the samples."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array, check_count

__all__ = ["USED", "Passes"]

Places = NDArray[np.intp]

# Epochs of the gradient solver without a polish.
_EPOCHS = 5

# The polish finds all weights, so that a pass only has to find the atoms. If more atoms may follow
# and this share is used, a pass ends after _SAMPLES_PER_ATOM samples for each atom. With at most
# _FEW_PER_ATOM samples for each atom it takes all of them.
USED = 0.95
_SAMPLES_PER_ATOM, _FEW_PER_ATOM = 5.0, 12.5

# With fewer samples, early stopping holds none out.
_FEW = 50


@dataclass(frozen=True)
class Passes:
    """How `fit` passes over the samples; `COLKRegressor` documents the parameters.

    Examples
    --------
    >>> Passes().n_epochs, Passes(polish=False).n_epochs
    (1, 5)
    """

    solver: str = "gradient"
    epochs: int | None = None
    shuffle: bool = True
    polish: bool = True
    risk_path: bool = True
    early_stopping: bool = False
    verbose: bool = False
    random_state: Any = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the parameters that a model has, and defaults for the others."""
        names = (field.name for field in fields(cls))
        return cls(**{name: getattr(model, name) for name in names if hasattr(model, name)})

    @property
    def n_epochs(self) -> int:
        """Passes to make: one is enough to find atoms, weights need several."""
        if self.epochs is None:
            return 1 if self.polish or self.solver == "newton" else _EPOCHS
        return check_count(self.epochs, "epochs")

    def parts(self, order: Places, weight: Array, first_atoms: int | None) -> list[Places]:
        """Return the samples of a pass, and apart those that it needs only if atoms are left.

        Parameters
        ----------
        order : array of int
            The samples in their order.
        weight : array of shape (n,)
            Weights of all samples.
        first_atoms : int or None
            Number of atoms that the pass is to find; None if no more follow.
        """
        # `epochs=1` asks for all samples; None leaves their number to `fit`.
        is_default = self.epochs is None and self.shuffle and not self.early_stopping
        only_finds_atoms = is_default and self.polish and self.solver == "gradient"
        if not only_finds_atoms or first_atoms is None:
            return [order]
        counted = np.flatnonzero(weight[order])
        if len(counted) <= _FEW_PER_ATOM * first_atoms:
            return [order]
        enough = int(_SAMPLES_PER_ATOM * first_atoms)
        return np.split(order, counted[enough : enough + 1])

    def split(self, size: int, random: Any) -> tuple[Any, Any]:
        """Return the samples to learn from and those to hold out: a tenth, or none."""
        if not self.early_stopping or size < _FEW:
            return np.arange(size), np.arange(0)
        order = random.permutation(size)
        return np.sort(order[size // 10 :]), np.sort(order[: size // 10])
