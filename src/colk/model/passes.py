"""The settings of the passes that `fit` makes over the samples."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colk._validation import Array, check_count

__all__ = ["USED", "Passes"]

Places = NDArray[np.intp]

# Default number of epochs of the gradient solver without a polish.
_EPOCHS = 5

# The polish finds all weights, so a pass only has to find the atoms. If the polish may add atoms, a
# pass ends after _SAMPLES_PER_ATOM samples for each atom if the share USED of the atoms is found.
# With at most _FEW_PER_ATOM samples for each atom, it uses all samples.
USED = 0.95
_SAMPLES_PER_ATOM, _FEW_PER_ATOM = 5.0, 12.5

# With fewer samples, early stopping does not hold out any.
_FEW = 50


@dataclass(frozen=True)
class Passes:
    """Settings of the passes of `fit`; `COLKRegressor` documents the parameters.

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
    random_state: Any = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the parameters that a model has, and defaults for the others."""
        names = (field.name for field in fields(cls))
        return cls(**{name: getattr(model, name) for name in names if hasattr(model, name)})

    @property
    def n_epochs(self) -> int:
        """Number of passes: one is enough to find the atoms; the weights need several."""
        if self.epochs is None:
            return 1 if self.polish or self.solver == "newton" else _EPOCHS
        return check_count(self.epochs, "epochs")

    def sample_seed(self) -> int:
        """Return the seed of the sample of all rows."""
        random = check_random_state(self.random_state if self.shuffle else 0)
        return int(random.randint(2**31 - 1))

    def parts(self, order: Places, weight: Array, first_atoms: int | None) -> list[Places]:
        """Return the samples of a pass, in one part or two.

        The pass needs the second part only if the first part finds too few atoms.

        Parameters
        ----------
        order : array of int
            The samples in their order.
        weight : array of shape (n,)
            Weights of all samples.
        first_atoms : int or None
            Number of atoms that the pass should find; None if the polish adds no atoms.
        """
        # `epochs=1` uses all samples; with None, `fit` may use fewer.
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
        """Return the samples to learn from and those to hold out, a tenth or none."""
        if not self.early_stopping or size < _FEW:
            return np.arange(size), np.arange(0)
        order = random.permutation(size)
        return np.sort(order[size // 10 :]), np.sort(order[: size // 10])
