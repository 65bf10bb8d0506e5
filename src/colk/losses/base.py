"""The contract of a loss: value, slope, curvature, and the validation of targets."""

from typing import ClassVar, Literal

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Matrix, Vector
from colk._engine.contracts import LossContract
from colk._engine.terms import overridden
from colk._validation import Array, check_rows

Kind = Literal["regression", "binary", "multiclass"]

# Shortest distance |f − y| of a secant, relative to 1 + |y|.
NEAREST: float = 1e-6


class Loss(LossContract):
    """A loss ℓ(f, y) of a prediction f and a target y, and its slope ∂ℓ/∂f.

    To define a loss, write a class with the methods `loss_at` and `slope_at`, which take two
    numbers; values are summed over the outputs. `CustomLoss` makes a loss from two functions. At a
    kink the slope is the subgradient of least magnitude.

    Attributes
    ----------
    kind : {"regression", "binary", "multiclass"}
        Type of the targets: a real number for each output; −1 or +1; or the index of a class.
    couples_outputs : bool
        Whether the slope of an output depends on the others; `evaluate` then has the formula.
    is_likelihood : bool
        Whether the loss is a negative log-likelihood, so that it has a `probability`.

    Examples
    --------
    >>> from colk.losses import Loss
    >>> class Cubed(Loss):
    ...     def loss_at(self, f, y):
    ...         return abs(f - y) ** 3
    ...     def slope_at(self, f, y):
    ...         return 3.0 * (f - y) * abs(f - y)
    >>> Cubed().value([3.0], [1.0]), Cubed().slope([3.0], [1.0])
    (array([8.]), array([12.]))
    """

    _hooks = ("loss_at", "slope_at")
    _sealed: ClassVar[tuple[str, ...]] = ("evaluate", "curvature_at", "curvature")

    kind: ClassVar[Kind] = "regression"
    couples_outputs: ClassVar[bool] = False
    is_likelihood: ClassVar[bool] = False
    is_convex = property(lambda self: True, doc="Whether the loss is convex in the prediction.")
    kinks = property(lambda self: (), doc="Residuals (binary: margins) where the slope jumps.")

    def loss_at(self, f: float, y: float) -> float:  # cdef
        """ℓ(f, y) of one output."""
        with cython.gil:
            return float(overridden(self, "loss_at")(f, y))

    def slope_at(self, f: float, y: float) -> float:  # cdef
        """∂ℓ/∂f of one output."""
        with cython.gil:
            return float(overridden(self, "slope_at")(f, y))

    def evaluate(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix) -> float:  # cdef
        """Return ℓ of one row of predictions and targets; write ∂ℓ/∂f into the row of `slopes`."""
        total = 0.0
        for c in range(F.shape[1]):
            total += self.loss_at(F[row, c], Y[row, c])
            slopes[row, c] = self.slope_at(F[row, c], Y[row, c])
        return total

    def curvature_at(self, f: float, y: float, width: float) -> float:  # cdef
        """Return the secant curvature (ℓ'(f) − ℓ'(y))/(f − y) of one output, at least 0.

        A parabola with its minimum at y and this curvature has the slope of the loss at f. To
        smooth kinks, f is moved away from y to a distance of `width` if it is nearer.
        """
        apart: float = max(abs(f - y), width, NEAREST * (1.0 + abs(y)))
        side: float = apart if f >= y else -apart
        return max((self.slope_at(y + side, y) - self.slope_at(y, y)) / side, 0.0)

    # cdef
    def curvature(self, F: Matrix, Y: Matrix, row: int, slopes: Matrix, width: float) -> float:
        """Return the largest curvature of the outputs of one row, whose slopes are known."""
        largest = 0.0
        for c in range(F.shape[1]):
            largest = max(largest, self.curvature_at(F[row, c], Y[row, c], width))
        return largest

    def evaluate_rows(self, F: Matrix, Y: Matrix, values: Vector, slopes: Matrix) -> int:  # cpdef
        """Write losses (n,) and slopes (n, q) of the rows of F (n, q) and Y (n, r)."""
        for row in range(F.shape[0]):
            values[row] = self.evaluate(F, Y, row, slopes)
        return 0

    def value(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Return the losses (n,) of predictions (n,) or (n, q) and targets (n,) or (n, r)."""
        return self._evaluate(f, y)[0]

    def slope(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Return the slopes ∂ℓ/∂f, in the shape of `f`."""
        return self._evaluate(f, y)[1].reshape(np.shape(f))

    def _evaluate(self, f: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return losses (n,) and slopes (n, q)."""
        F = as_rows(f, "f")
        values, slopes = np.empty(len(F)), np.empty_like(F)
        self.evaluate_rows(F, self.check_targets(y, F.shape[1], len(F)), values, slopes)
        return values, slopes

    def probability(self, f: ArrayLike) -> Array:
        """Return class probabilities at predictions `f`, for a loss that is a likelihood."""
        raise TypeError(
            f"{type(self).__name__} is not a likelihood; only Logistic and Softmax have "
            "probabilities"
        )

    def check_targets(self, y: ArrayLike, n_outputs: int, n_rows: int | None = None) -> Array:
        """Validate targets of predictions with `n_outputs` numbers; return an (n, r) array."""
        Y = as_rows(y, "y", n_rows)
        if Y.shape[1] != n_outputs:
            raise ValueError(f"y has {Y.shape[1]} outputs, the predictions have {n_outputs}")
        if self.kind == "binary" and not (np.abs(Y) == 1.0).all():
            raise ValueError(
                f"targets of {type(self).__name__} must be -1 or +1, "
                f"got {Y[np.abs(Y) != 1.0][0]:g}; "
                "encode two classes as np.where(y == positive_class, 1, -1)"
            )
        return Y


def as_rows(values: ArrayLike, name: str, n_rows: int | None = None) -> Array:
    """Return values as an (n, q) array that compiled code can read and write."""
    if np.ndim(values) == 0:
        raise ValueError(f"{name} must have shape (n,) or (n, n_outputs), got a single number")
    rows = check_rows(values, np.shape(values)[0] if n_rows is None else n_rows, name)
    return np.require(rows if rows.ndim == 2 else rows[:, None], np.float64, ["C", "A", "W"])
