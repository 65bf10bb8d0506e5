"""The paper's general form: a risk of predictions and targets rather than of a loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colk._core import objective as core
from colk._core.custom import address_of_composition
from colk._core.risks import COMPOSITION
from colk._naming import ShowsNames
from colk._validation import Array, check_count, check_rows
from colk.losses import Loss
from colk.risks.base import Risk, average, shares

__all__ = ["Composition"]

Plain = Callable[..., Any]


@dataclass(frozen=True, repr=False)
class Composition(ShowsNames, Risk):
    """E_θ[outer(f_θ, y_θ, g)] with g = E_ξ[inner(f_ξ, y_ξ)] ∈ R^m; the loss is not used.

    Every function reads 1-D arrays, a prediction f (q,), a target y (r,) and, of the outer ones, g
    (m,). `outer` returns a number; the others write their result into their last argument, an
    array of the shape given below. All are compiled at the first use, once a process, and pickle by
    their names. Certify a composition with `colk.testing.check_risk`.

    Parameters
    ----------
    inner : callable (f, y, out)
        Writes inner(f, y) into `out` (m,).
    inner_slope : callable (f, y, out)
        Writes ∂inner_i/∂f_c into `out` (m, q).
    outer : callable (f, y, g)
        Returns outer(f, y, g).
    outer_slope_prediction : callable (f, y, g, out)
        Writes ∂outer/∂f into `out` (q,).
    outer_slope_inner : callable (f, y, g, out)
        Writes ∂outer/∂g into `out` (m,).
    n_inner, n_outputs, n_targets : int
        The sizes m, q and r.
    is_convex, is_monotone : bool
        What is claimed of the risk as a function of the predictions; `is_monotone` adds nothing.

    Examples
    --------
    The squared error plus the squared bias, (E[f − y])²:

    >>> def bias(f, y, out):
    ...     out[0] = f[0] - y[0]
    >>> def bias_slope(f, y, out):
    ...     out[0, 0] = 1.0
    >>> def outer(f, y, g):
    ...     return (f[0] - y[0]) ** 2 + g[0] ** 2
    >>> def outer_slope_prediction(f, y, g, out):
    ...     out[0] = 2.0 * (f[0] - y[0])
    >>> def outer_slope_inner(f, y, g, out):
    ...     out[0] = 2.0 * g[0]
    >>> risk = Composition(bias, bias_slope, outer, outer_slope_prediction, outer_slope_inner)
    >>> from colk.losses import Squared
    >>> risk.value_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    9.0
    >>> risk.gradient_at(Squared(), [1.0, 3.0], [0.0, 0.0])
    array([3., 5.])
    """

    inner: Plain
    inner_slope: Plain
    outer: Plain
    outer_slope_prediction: Plain
    outer_slope_inner: Plain
    n_inner: int = 1
    n_outputs: int = 1
    n_targets: int = 1
    is_convex: bool = False
    is_monotone: bool = False

    def __post_init__(self) -> None:
        for name in self._shapes():
            if not callable(getattr(self, name)):
                raise TypeError(f"{name} must be a function")
        for name in ("n_inner", "n_outputs", "n_targets"):
            check_count(getattr(self, name), name)

    def _shapes(self) -> dict[str, tuple[bool, tuple[int, ...]]]:
        """Return, in the order of the program, whether a function takes g, and what it writes."""
        m, q = self.n_inner, self.n_outputs
        return {
            "inner": (False, (m,)),
            "inner_slope": (False, (m, q)),
            "outer": (True, ()),
            "outer_slope_prediction": (True, (q,)),
            "outer_slope_inner": (True, (m,)),
        }

    def _constants(self) -> tuple[float, ...]:
        sizes = (self.n_outputs, self.n_targets, self.n_inner)
        addresses = [
            address_of_composition(getattr(self, name), f"Composition.{name}", sizes, *shape)
            for name, shape in self._shapes().items()
        ]
        return (COMPOSITION, self.n_inner, *addresses)

    def estimate_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Exact g of shape (m,) at predictions `f` of targets `y`."""
        F, Y = self._rows(f, y)
        inner = self.tabulate("inner", F, Y, np.zeros(self.n_inner))
        return average(inner, shares(len(F), sample_weight))

    def value_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Exact empirical risk of predictions `f` of targets `y`."""
        F, Y = self._rows(f, y)
        g = self.estimate_at(loss, F, Y, sample_weight)
        outer = self.tabulate("outer", F, Y, g)[:, 0]
        return float(average(outer, shares(len(F), sample_weight)))

    def gradient_at(
        self, loss: Loss, f: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Gradient of `value_at` in the predictions, in the shape of `f`."""
        F, Y = self._rows(f, y)
        weights = shares(len(F), sample_weight)
        g = self.estimate_at(loss, F, Y, weights)
        by_inner = average(self.tabulate("outer_slope_inner", F, Y, g), weights)
        jacobians = self.tabulate("inner_slope", F, Y, g).reshape(len(F), self.n_inner, -1)
        slopes = self.tabulate("outer_slope_prediction", F, Y, g) + by_inner @ jacobians
        return (weights[:, None] * slopes).reshape(np.shape(f))

    def tabulate(self, name: str, f: ArrayLike, y: ArrayLike, g: ArrayLike) -> Array:
        """One of the five functions over rows: shape (n, m), (n, m·q), (n, 1), (n, q) or (n, m)."""
        F, Y = self._rows(f, y)
        shapes = self._shapes()
        position = list(shapes).index(name)
        out = np.zeros((len(F), int(np.prod(shapes[name][1]))))
        inner = np.array(g, dtype=np.float64)
        core.composition_rows(self.program(), core.INNER + position, F, Y, inner, out)
        return out

    def _rows(self, f: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        F = _as_rows(f, len(np.atleast_1d(f)), self.n_outputs, "f")
        return F, _as_rows(y, len(F), self.n_targets, "y")


def _as_rows(values: ArrayLike, n_rows: int, width: int, name: str) -> Array:
    rows = check_rows(values, n_rows, name)
    found = 1 if rows.ndim == 1 else rows.shape[1]
    if found != width:
        raise ValueError(f"{name} has {found} columns, the composition was made for {width}")
    return np.require(rows.reshape(n_rows, width), np.float64, ["C", "A", "W"])
