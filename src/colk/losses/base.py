"""What every loss can do: value, slope, and the check of its targets."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from colk._core.losses import loss_rows
from colk._validation import Array, check_rows

__all__ = ["Kind", "Loss"]

Kind = Literal["regression", "binary", "multiclass"]


@dataclass(frozen=True)
class Loss(ABC):
    """A loss ℓ(f, y) of a prediction f and a target y.

    Attributes
    ----------
    kind : {"regression", "binary", "multiclass"}
        What the targets are: real numbers, one for each output; −1 or +1; the index of a class.
    is_likelihood : bool
        Whether the loss is a negative log-likelihood, so that `probability` is known.
    """

    kind: ClassVar[Kind] = "regression"
    is_likelihood: ClassVar[bool] = False

    @abstractmethod
    def _constants(self) -> tuple[float, ...]:
        """Return the code of the formula in the core, and its constants."""

    def program(self) -> Array:
        """Return what the compiled core reads: a code and its constants."""
        return np.array(self._constants(), dtype=np.float64)

    @property
    def is_convex(self) -> bool:
        """Whether the loss is convex in the prediction."""
        return True

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the slope jumps: residuals f − y, or margins y·f of a binary loss.

        At a kink the slope of least magnitude wins.
        """
        return ()

    def value(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Losses of n predictions.

        Parameters
        ----------
        f : array of shape (n,) or (n, q)
            Predictions.
        y : array of shape (n,) or (n, r)
            Targets.

        Returns
        -------
        array of shape (n,)
            Summed over the outputs.
        """
        values, _ = self._evaluate(f, y)
        return values

    def slope(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Slopes ∂ℓ/∂f of n predictions, in the shape of `f`.

        Parameters
        ----------
        f : array of shape (n,) or (n, q)
            Predictions.
        y : array of shape (n,) or (n, r)
            Targets.
        """
        _, slopes = self._evaluate(f, y)
        return slopes.reshape(np.shape(f))

    def probability(self, f: ArrayLike) -> Array:
        """Class probabilities at predictions `f`, for a loss that is a likelihood."""
        raise TypeError(
            f"{type(self).__name__} is not a likelihood and gives no probabilities; "
            "Logistic and Softmax do"
        )

    def check_targets(self, y: ArrayLike, n_outputs: int, n_rows: int | None = None) -> Array:
        """Targets as an (n, r) array that suits predictions of `n_outputs` numbers.

        Parameters
        ----------
        y : array of shape (n,) or (n, r)
            Targets.
        n_outputs : int
            Numbers in one prediction.
        n_rows : int, optional
            How many targets are expected.
        """
        Y = _as_rows(y, _length(y) if n_rows is None else n_rows, "y")
        if Y.shape[1] != n_outputs:
            raise ValueError(f"y has {Y.shape[1]} outputs, the predictions have {n_outputs}")
        if self.kind == "binary" and not (np.abs(Y) == 1.0).all():
            raise ValueError(
                f"targets of {type(self).__name__} must be -1 or +1, "
                f"got {Y[np.abs(Y) != 1.0][0]:g}; "
                "encode two classes as np.where(y == positive_class, 1, -1)"
            )
        return Y

    def _evaluate(self, f: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Losses (n,) and slopes (n, q)."""
        F = _as_rows(f, _length(f), "f")
        values, slopes = np.empty(len(F)), np.empty_like(F)
        loss_rows(self.program(), F, self.check_targets(y, F.shape[1], len(F)), values, slopes)
        return values, slopes


def _length(values: ArrayLike) -> int:
    return np.shape(values)[0] if np.ndim(values) else 0


def _as_rows(values: ArrayLike, n_rows: int, name: str) -> Array:
    """Values as a writeable (n, q) array: a read-only one would be compiled for anew."""
    if np.ndim(values) == 0:
        raise ValueError(f"{name} must have shape (n,) or (n, n_outputs), got a single number")
    rows = check_rows(values, n_rows, name)
    width = 1 if rows.ndim == 1 else rows.shape[1]
    return np.require(rows.reshape(n_rows, width), np.float64, ["C", "A", "W"])
