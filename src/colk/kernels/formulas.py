"""Formulas of kernels: a kernel states its formula once, and values and exports follow from it.

A formula is an expression of four quantities of two points u and v: their squared distance, their
city-block distance, their inner product and the number of categories in which they differ. It is
written with ordinary operators and `exp`, `sqrt` and `minimum`, and does not depend on arrays.
`Expression.write` passes it to a *language*, which defines sums, products and exponentials.
`Arrays` is the language of NumPy; `colk.export` has those of Python sources and of ONNX graphs.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from colk._validation import Array

__all__ = [
    "Arrays",
    "Expression",
    "Language",
    "city_block_distance",
    "constant",
    "exp",
    "function_of_points",
    "in_metric",
    "inner_product",
    "minimum",
    "mismatch",
    "scales_of",
    "sqrt",
    "squared_distance",
    "without_columns",
]

Bandwidth = float | tuple[float, ...]
Columns = tuple[int, ...]
T = TypeVar("T")

_SHOWN = {
    "squared_distance": "‖(u − v)/{}‖²",
    "city_block_distance": "‖(u − v)/{}‖₁",
    "inner_product": "uᵀv",
    "mismatch": "differing columns {} weighted by {}",
    "number": "{}",
    "add": "({} + {})",
    "multiply": "{}·{}",
    "power": "({})^{}",
    "minimum": "min({}, {})",
    "in_metric": "({1.__self__} at uA and vA)",
}


class Language(Protocol[T]):
    """A target of formulas; T is a value of the language, such as an array or a text.

    A language may omit methods; formulas that need them cannot be written in it.
    """

    def squared_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> T:
        """Σ_k ((u_k − v_k)/c_k)², without the columns that are ignored."""

    def city_block_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> T:
        """Σ_k |u_k − v_k|/c_k, without the columns that are ignored."""

    def inner_product(self, ignored: Columns = ()) -> T:
        """Σ_k u_k v_k."""

    def mismatch(self, columns: Columns, weights: tuple[float, ...]) -> T:
        """Σ_k w_k [u_k ≠ v_k] over these columns."""

    def number(self, value: float) -> T:
        """Return a constant."""

    def add(self, a: T, b: T) -> T:
        """Return a + b."""

    def multiply(self, a: T, b: T) -> T:
        """Return a·b."""

    def power(self, a: T, exponent: float) -> T:
        """Return a to a fixed exponent."""

    def exp(self, a: T) -> T:
        """Return e^a."""

    def sqrt(self, a: T) -> T:
        """Return √a."""

    def minimum(self, a: T, bound: float) -> T:
        """Return the smaller of a and a fixed bound."""

    def keep(self, a: T) -> T:
        """Store a value that is used more than once, so that it is computed once; return it."""


class Expression:
    """An operation of a `Language` with its operands, which are expressions or numbers.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> Gaussian(2.0).formula
    exp(-0.5·‖(u − v)/2.0‖²)
    >>> (3.0 * Gaussian(1.0) + Linear()).formula.values([[0.0], [1.0]], [[1.0]]).round(4)
    array([[1.8196],
           [4.    ]])
    """

    def __init__(self, operation: str, *operands: Any) -> None:
        self.operation, self.operands = operation, operands

    def __repr__(self) -> str:
        shown = _SHOWN.get(self.operation, f"{self.operation}({{}})")
        return shown.format(*self.operands)

    def __add__(self, other: "Expression | float") -> "Expression":
        return Expression("add", self, _expression(other))

    def __radd__(self, other: float) -> "Expression":
        return Expression("add", _expression(other), self)

    def __mul__(self, other: "Expression | float") -> "Expression":
        return Expression("multiply", self, _expression(other))

    def __rmul__(self, other: float) -> "Expression":
        return Expression("multiply", _expression(other), self)

    def __neg__(self) -> "Expression":
        return -1.0 * self

    def __pow__(self, exponent: float) -> "Expression":
        return Expression("power", self, exponent)

    def write(self, language: Language[T]) -> T:
        """Return the value of the expression in a language; a shared part is written once."""
        uses: dict[int, int] = {}
        self._count(uses)
        return self._write(language, uses, {})

    def _count(self, uses: dict[int, int]) -> None:
        uses[id(self)] = uses.get(id(self), 0) + 1
        if uses[id(self)] == 1:
            for operand in self.operands:
                if isinstance(operand, Expression):
                    operand._count(uses)

    def _write(self, language: Language[T], uses: dict[int, int], written: dict[int, T]) -> T:
        if id(self) not in written:
            operands = [
                operand._write(language, uses, written)
                if isinstance(operand, Expression)
                else operand
                for operand in self.operands
            ]
            operation = getattr(language, self.operation, None)
            if operation is None:
                raise TypeError(
                    f"{self!r} cannot be exported: {type(language).__name__} has no "
                    f"{self.operation}"
                )
            value: T = operation(*operands)
            written[id(self)] = language.keep(value) if uses[id(self)] > 1 else value
        return written[id(self)]

    def values(self, U: Any, V: Any) -> Array:
        """Return the matrix of values at all pairs of points (n, p) and (m, p), by NumPy."""
        left, right = np.asarray(U, dtype=np.float64), np.asarray(V, dtype=np.float64)
        out = np.zeros((len(left), len(right)))
        with np.errstate(over="ignore"):
            out += self.write(Arrays(left, right))
        return out


def _expression(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else constant(value)


def squared_distance(bandwidth: Bandwidth) -> Expression:
    """Return ‖(u − v)/c‖², for one bandwidth c or one for each feature."""
    return Expression("squared_distance", bandwidth)


def city_block_distance(bandwidth: Bandwidth) -> Expression:
    """Return ‖(u − v)/c‖₁, for one bandwidth c or one for each feature."""
    return Expression("city_block_distance", bandwidth)


def inner_product(ignored: Columns = ()) -> Expression:
    """Return uᵀv, without the columns that are ignored."""
    return Expression("inner_product", ignored) if ignored else Expression("inner_product")


def mismatch(columns: Columns, weights: tuple[float, ...]) -> Expression:
    """Return Σ_k w_k [u_k ≠ v_k], summed over columns of categories."""
    return Expression("mismatch", columns, weights)


def without_columns(formula: Expression, columns: Columns) -> Expression:
    """Return the formula with distances that ignore these columns.

    Examples
    --------
    >>> without_columns(squared_distance(2.0), (1,)).values([[0.0, 7.0]], [[4.0, 9.0]])
    array([[4.]])
    """
    return _without(formula, columns, {})


def _without(formula: Expression, columns: Columns, made: dict[int, Expression]) -> Expression:
    if id(formula) not in made:
        operands = [
            _without(operand, columns, made) if isinstance(operand, Expression) else operand
            for operand in formula.operands
        ]
        if formula.operation in ("squared_distance", "city_block_distance"):
            operands = [formula.operands[0], columns]
        made[id(formula)] = Expression(formula.operation, *operands)
    return made[id(formula)]


def scales_of(bandwidth: Bandwidth, n_features: int, ignored: Sequence[int] = ()) -> Array:
    """Return 1/c for each feature, and 0 for columns that are ignored.

    Parameters
    ----------
    bandwidth : float or tuple of float
        One bandwidth, or one for each feature that is not ignored.
    n_features : int
        The number of features.
    ignored : sequence of int
        Columns that do not count. Default: none.

    Examples
    --------
    >>> scales_of((2.0, 4.0), 3, ignored=(1,))
    array([0.5 , 0.  , 0.25])
    """
    scales = np.zeros(n_features)
    counted = np.ones(n_features, dtype=bool)
    counted[list(ignored)] = False
    scales[counted] = 1.0 / np.asarray(bandwidth)
    return scales


def constant(value: float) -> Expression:
    """Return a number as an expression."""
    return Expression("number", float(value))


def function_of_points(function: Callable[[Array, Array], float]) -> Expression:
    """Return a Python function of two points, which only `Arrays` can call."""
    return Expression("function_of_points", function)


def in_metric(formula: Expression, metric: Array) -> Expression:
    """Return the formula at the points uA and vA.

    Examples
    --------
    >>> formula = in_metric(squared_distance(1.0), np.array([[3.0], [4.0]]))
    >>> formula.values([[1.0, 1.0]], [[0.0, 0.0]])
    array([[49.]])
    """
    return Expression("in_metric", metric, formula.write)


def exp(a: Expression) -> Expression:
    """Return e^a."""
    return Expression("exp", a)


def sqrt(a: Expression) -> Expression:
    """Return √a."""
    return Expression("sqrt", a)


def minimum(a: Expression, bound: float) -> Expression:
    """Return the smaller of an expression and a number."""
    return Expression("minimum", a, bound)


class Arrays:
    """The language of NumPy: values at all pairs of points (n, p) and (m, p).

    Distances are sums of squared differences, because the expanded form cancels far from the
    origin.
    """

    def __init__(self, U: Array, V: Array) -> None:
        self.U, self.V = U, V

    def _differences(self, bandwidth: Bandwidth, ignored: Columns) -> Array:
        differences = np.delete(self.U, ignored, axis=1)[:, None, :]
        differences = differences - np.delete(self.V, ignored, axis=1)[None, :, :]
        return np.asarray(differences / np.array(bandwidth))

    def squared_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> Array:
        """Σ_k ((u_k − v_k)/c_k)²."""
        return np.asarray((self._differences(bandwidth, ignored) ** 2).sum(axis=2))

    def city_block_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> Array:
        """Σ_k |u_k − v_k|/c_k."""
        return np.asarray(np.abs(self._differences(bandwidth, ignored)).sum(axis=2))

    def mismatch(self, columns: Columns, weights: tuple[float, ...]) -> Array:
        """Σ_k w_k [u_k ≠ v_k] over these columns."""
        u, v = self.U[:, None, list(columns)], self.V[None, :, list(columns)]
        return np.asarray((u != v) @ np.array(weights))

    def inner_product(self, ignored: Columns = ()) -> Array:
        """Σ_k u_k v_k."""
        if not ignored:
            return np.asarray(self.U @ self.V.T)
        return np.asarray(np.delete(self.U, ignored, axis=1) @ np.delete(self.V, ignored, axis=1).T)

    def function_of_points(self, function: Callable[[Array, Array], float]) -> Array:
        """Call a function of two points on every pair."""
        values = [float(function(u, v)) for u in self.U for v in self.V]
        return np.array(values).reshape(len(self.U), len(self.V))

    def in_metric(self, metric: Array, write: "Callable[[Arrays], Array]") -> Array:
        """Evaluate a formula at points times the metric."""
        return write(Arrays(self.U @ metric, self.V @ metric))

    def number(self, value: float) -> Array:
        """Return a constant."""
        return np.asarray(value)

    def add(self, a: Array, b: Array) -> Array:
        """Return a + b."""
        return np.asarray(a + b)

    def multiply(self, a: Array, b: Array) -> Array:
        """Return a·b."""
        return np.asarray(a * b)

    def power(self, a: Array, exponent: float) -> Array:
        """Return a to a fixed exponent."""
        return np.asarray(a**exponent)

    def exp(self, a: Array) -> Array:
        """Return e^a."""
        return np.asarray(np.exp(a))

    def sqrt(self, a: Array) -> Array:
        """Return √a."""
        return np.asarray(np.sqrt(a))

    def minimum(self, a: Array, bound: float) -> Array:
        """Return the smaller of a and a fixed bound."""
        return np.minimum(a, bound)

    def keep(self, a: Array) -> Array:
        """Return the same array."""
        return a
