"""The base classes of kernels, and Gram matrices, which are computed from columns."""

import numbers
from typing import Any, ClassVar

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.buffers import aligned, locked, padded, plain
from colk._engine.c_types import ConstMatrix, ConstVector, Matrix, Vector, Word
from colk._engine.contracts import KernelContract
from colk._engine.simd import loops
from colk._engine.terms import overridden
from colk._validation import Array, check_points, check_vector
from colk.kernels.formulas import Expression, without_columns

__all__ = ["FormulaKernel", "Kernel", "tabulate"]

# Columns are computed for this many points at a time, so that they stay in the L1 cache.
_TURN: int = 16

# The spacing of float64 numbers at 1.
UNIT = float(np.finfo(np.float64).eps)


class Kernel(KernelContract):
    """A positive semidefinite function κ(u, v) of two points.

    Call it on one or two sets of points for a Gram matrix. Combine kernels by `k1 + k2`, `k1 * k2`
    and `2.5 * k`. To define a kernel, write a class with the property `formula` (see
    `colk.kernels.formulas`) or the method `columns`. A formula can be exported, `columns` cannot.
    To use a Python function of two points, wrap it in a `CustomKernel`.

    Attributes
    ----------
    is_squared_exponential : bool
        Whether log κ(u, v) is a negative definite quadratic form of u − v, so that two atoms can be
        merged into one between them.

    Examples
    --------
    >>> from colk.kernels import Gaussian, Linear
    >>> kernel = 2.0 * Gaussian(1.0) + Linear()
    >>> kernel([[0.0], [1.0]]).round(4)
    array([[2.    , 1.2131],
           [1.2131, 3.    ]])
    >>> kernel.column([[0.0], [1.0]], [0.0]).round(4), kernel.diagonal([[1.0]])
    (array([2.    , 1.2131]), array([3.]))

    >>> from colk.kernels.formulas import squared_distance
    >>> class Cauchy(Kernel):
    ...     @property
    ...     def formula(self):
    ...         return (1.0 + squared_distance(2.0)) ** -1.0
    >>> Cauchy()([[0.0], [2.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])

    >>> class Smallest(Kernel):
    ...     def columns(self, atoms, n, points, size, out, first):
    ...         near = np.minimum(atoms[:, None, :n], points.T[:, :size, None])
    ...         out[first : first + size, :n] = near.sum(axis=0)
    >>> Smallest()([[1.0], [3.0]])
    array([[1., 1.],
           [1., 3.]])
    """

    # NumPy scalars leave `2.5 * kernel` to the kernel.
    __array_ufunc__: ClassVar[None] = None

    _hooks: ClassVar[tuple[str, ...]] = ("columns", "add_frequency")

    is_squared_exponential: ClassVar[bool] = False

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        """Write out[first + b, j] = κ(d_j, x_b) for n atoms and `size` points.

        `atoms` is (p or more, capacity), feature by feature; `points` is (size or more, p). Rows of
        `out` are whole vectors, 0 behind the atoms up to a multiple of eight; a kernel of several
        parts uses `depth` more blocks of `size` rows behind its result.
        """
        with cython.gil:
            values, given = np.asarray(out), locked(points)
            known = locked(atoms)[: points.shape[1]]
            # In compiled classes, `columns` is an attribute only if it is written in Python.
            if type(self).formula is Kernel.formula or (
                cython.compiled and hasattr(self, "columns")
            ):
                overridden(self, "columns")(known, n, given, size, values, first)
            else:
                values[first : first + size, :n] = self.formula.values(given[:size], known[:, :n].T)
            values[first : first + size, n : (n + 7) & -8] = 0.0
        return 0

    def add_frequency(self, seed: Word, out: Vector) -> int:  # cdef
        """Add a draw ω of the spectral measure to `out`: κ(u, v) = κ(0)·E cos(ωᵀ(u − v))."""
        with cython.gil:
            overridden(self, "add_frequency")(seed, np.asarray(out))
        return 0

    @property
    def formula(self) -> Expression:
        """κ(u, v) as an expression, which NumPy evaluates and exports write."""
        raise TypeError(
            f"{self!r} has no formula, so it cannot be exported: define the property formula of "
            f"{type(self).__name__}"
        )

    @property
    def depth(self) -> int:
        """Number of blocks of rows that `columns` uses behind its result."""
        return 0

    @property
    def peak(self) -> float:
        """The value of κ(u, u), which is the same for all u if the kernel is shift-invariant."""
        return 1.0

    @property
    def is_radial(self) -> bool:
        """Whether κ(u, v) depends on the Euclidean distance ‖u − v‖ only."""
        return False

    @property
    def is_shift_invariant(self) -> bool:
        """Whether κ(u, v) depends on the difference u − v only."""
        return False

    @property
    def has_gradient(self) -> bool:
        """Whether the derivative of κ is known."""
        return type(self).slopes is not Kernel.slopes

    @property
    def metric(self) -> Array | None:
        """The matrix A, of shape (p, r), if atoms are kept as dA; None if they are kept as d."""
        return None

    @property
    def of_atoms(self) -> "Kernel":
        """The kernel of points as atoms are kept: κ(u, v) = of_atoms(points(u), points(v))."""
        return self

    def points(self, X: ArrayLike) -> Array:
        """Return points as atoms are kept: X, or XA with a metric A."""
        return np.asarray(X, dtype=np.float64)

    def preimages(self, kept: Array) -> Array:
        """Return the shortest points that are kept as these, such as atoms for a figure."""
        return kept

    def bind(self, n_features: int) -> "Kernel":
        """Return an equal kernel whose `columns` may be called for points of `n_features`."""
        return self

    def slopes(self, U: Array, V: Array) -> Array:
        """Return ∂κ(u_i, v_j)/∂v_j for points (n, p) and (m, p), of shape (n, m, p).

        The slope at a kink is 0.
        """
        raise TypeError(f"{self!r} has no gradient")

    def rounding(self, n_features: int) -> float:
        """Return c such that computed values of κ(u, v) err by at most c·√(κ(u, u) κ(v, v)).

        A kernel needs a few operations for each feature, and exponentials do not amplify the
        errors of their arguments, because s·exp(−s) ≤ 1.
        """
        return UNIT * (n_features + 12.0)

    def gram(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        """Return the matrix with entries κ(u_i, v_j), of shape (n, m); V defaults to U."""
        left = plain(check_points(U, name="U"))
        right = left if V is None else check_points(V, left.shape[1], name="V")
        n, p = right.shape
        atoms = aligned(p, padded(n))
        atoms[:, :n] = right.T
        out = np.empty((len(left), n))
        tabulate(self.bind(p), atoms, n, left, out)
        return out

    def __call__(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        """Return `gram(U, V)`."""
        return self.gram(U, V)

    def column(self, U: ArrayLike, x: ArrayLike) -> Array:
        """Return the vector of κ(u_i, x) for one point x."""
        points = check_points(U, name="U")
        return self.gram(points, check_vector(x, points.shape[1], "x")[None, :])[:, 0]

    def diagonal(self, U: ArrayLike) -> Array:
        """Return the vector of κ(u_i, u_i)."""
        points = check_points(U, name="U")
        out = np.full(len(points), self.peak)
        if not self.is_shift_invariant:
            for start in range(0, len(points), _TURN):
                near = slice(start, start + _TURN)
                out[near] = self.gram(points[near]).diagonal()
        return out

    def __add__(self, other: Any) -> "Kernel":
        from colk.kernels.algebra import Sum, joined

        return joined(Sum, self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from colk.kernels.algebra import Product, Scaled, joined

        if isinstance(other, Kernel):
            return joined(Product, self, other)
        return Scaled(self, float(other)) if isinstance(other, numbers.Real) else NotImplemented

    def __rmul__(self, factor: Any) -> "Kernel":
        return self.__mul__(factor)


class FormulaKernel(Kernel):
    """A kernel with a formula, whose columns a compiled loop computes if there is one.

    Parameters
    ----------
    loop : str
        Name of the loop in `loops.h`. Default: no loop. Without a loop, and in an uncompiled
        package, NumPy evaluates the formula.
    constant : float
        Number that the loop takes in addition to a scale for each feature.
    """

    _sealed: ClassVar[tuple[str, ...]] = ("check_bound", "columns_by_formula")

    loop: loops.Loop | None
    constant: float
    n_bound: int  # the number of features that the kernel is bound to
    scales: ConstVector  # (n_bound,)
    bound_formula: Expression  # the formula that NumPy evaluates; None if there is a loop

    def __init__(self, loop: str = "", constant: float = 0.0) -> None:
        self.loop = loops.kernel_loop(loop)
        self.constant = constant
        if cython.compiled and loop and not self.loop:
            raise LookupError(f"loops.h has no loop {loop!r}")

    def _scales_of(self, n_features: int) -> Array:
        return np.ones(n_features)

    def _take(self, scales: Array, ignored: tuple[int, ...] = ()) -> None:
        """Set the scales. A formula ignores the `ignored` columns, a loop columns of scale 0."""
        self.n_bound, self.scales = len(scales), scales
        formula = None if self.loop else self.formula
        if formula is not None and ignored:
            formula = without_columns(formula, ignored)
        self.bound_formula = formula  # type: ignore[assignment]

    def bind(self, n_features: int) -> Kernel:
        bound = self.replace()
        bound._take(self._scales_of(n_features))
        return bound

    def check_bound(self, n_features: int) -> int:  # cdef inline
        """Raise a ValueError unless the kernel is bound to this number of features."""
        if self.n_bound != n_features:
            with cython.gil:
                raise ValueError(f"{self!r} is not bound to {n_features} features")
        return 0

    def columns(
        self, atoms: Array, n: int, points: Array, size: int, out: Array, first: int
    ) -> int:
        self.check_bound(points.shape[1])
        if not self.loop:
            return self.columns_by_formula(atoms, n, points, size, out, first)
        loops.columns(self.loop, atoms, n, points, size, self.scales, self.constant, out, first)
        return 0

    def columns_by_formula(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        """Body of `columns` without a loop; its local variables make every call take the GIL."""
        with cython.gil:
            values, given = np.asarray(out)[first : first + size], np.asarray(points)[:size]
            known = np.asarray(atoms)[: points.shape[1], :n]
            values[:, :n] = self.bound_formula.values(given, known.T)
            values[:, n : (n + 7) & -8] = 0.0
        return 0


def tabulate(
    kernel: Kernel, atoms: ConstMatrix, n: int, X: ConstMatrix, out: Matrix
) -> int:  # cpdef
    """Write out[i, j] = κ(atom_j, X_i) for n atoms, without holding the GIL."""
    start, panel = 0, np.empty((_TURN * (1 + kernel.depth), n // 8 * 8 + 8))  # type: int, Matrix
    with cython.nogil:
        while start < X.shape[0]:
            size: int = min(_TURN, X.shape[0] - start)
            kernel.columns(atoms, n, X[start:], size, panel, 0)
            for b in range(size):
                for j in range(n):
                    out[start + b, j] = panel[b, j]
            start += size
    return 0
