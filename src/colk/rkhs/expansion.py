"""A function f = Σ_j w_j κ(d_j, ·): values, geometry, arithmetic."""

import math
import numbers
import os
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from colk import _stored as stored
from colk._engine.buffers import aligned, padded
from colk._engine.many_points import evaluate_many
from colk._engine.terms import check_term
from colk._notebook import facts_table
from colk._validation import Array, check_count, check_number, check_points, check_rows
from colk.errors import FileFormatError
from colk.kernels import Kernel

if TYPE_CHECKING:
    from colk.rkhs.compression import Compression

__all__ = ["KernelExpansion"]

# Kernel slopes that `gradient` holds in memory at once.
_SLOPES = 2**15
# Points that are multiplied by a metric at a time.
_MAPPED = 2**15


def _stored(vectors: Array) -> Array:
    """Copy vectors (n, M) into aligned, read-only memory, as the compiled loops need them."""
    n, length = vectors.shape
    rows = aligned(n, padded(length))
    rows[:, :length] = vectors
    memory = rows if rows.base is None else rows.base
    rows.flags.writeable = memory.flags.writeable = False
    return rows


@stored.stores(
    kernel=stored.Object(Kernel),
    atoms=stored.Array("n_atoms", stored.Size("n_features", at_least=1)),
    weights=stored.Either(stored.Array("n_atoms"), stored.Array("n_atoms", "n_outputs")),
)
class KernelExpansion:
    """A function f = Σ_j w_j κ(d_j, ·): atoms, weights and a kernel.

    f is a vector of the Hilbert space H of its kernel. You can evaluate, add and scale it, and
    measure norms and distances. It is immutable: the constructor copies the arrays, and every
    operation returns a new function.

    Parameters
    ----------
    kernel : Kernel
        The kernel κ.
    atoms : array of shape (n_atoms, n_features)
        The points d_j. Without atoms, f is the zero function. With a kernel of metric A, of shape
        (n_features, r), these are the rows d_j A, of r numbers, which `kernel.points` returns.
    weights : array of shape (n_atoms,) or (n_atoms, n_outputs)
        The weights w_j, one number per atom, or one row per atom if f has several outputs.

    Examples
    --------
    >>> from colk.rkhs.expansion import KernelExpansion
    >>> from colk.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(1.0), atoms=[[0.0], [1.0]], weights=[1.0, -1.0])
    >>> f([[0.0], [0.5], [1.0]]).round(4)
    array([ 0.3935,  0.    , -0.3935])
    >>> round(f.norm(), 4)
    0.8871
    >>> (2 * f - f).distance(f)
    0.0
    """

    __slots__ = ("__weakref__", "_atoms", "_bound", "_columns", "_kernel", "_rows", "_weights")

    # Makes `numpy_scalar * f` call `f.__rmul__`.
    __array_ufunc__: ClassVar[None] = None

    _kernel: Kernel
    _bound: Kernel  # the kernel of points as atoms are kept, bound to their number of features
    _atoms: Array  # (M, p), read-only; with a metric (M, r)
    _weights: Array  # (M,) or (M, q), read-only
    _columns: Array  # (p, M or more): the memory of the atoms
    _rows: Array  # (q, M or more): the memory of the weights

    def __init__(self, kernel: Kernel, atoms: ArrayLike, weights: ArrayLike) -> None:
        check_term(kernel, Kernel, "kernel")
        width = None if kernel.metric is None else kernel.metric.shape[1]
        points = check_points(atoms, width, name="atoms")
        values = check_rows(weights, len(points), name="weights")
        n = len(points)
        columns, rows = _stored(points.T), _stored(np.atleast_2d(values.T))
        set_once = object.__setattr__
        set_once(self, "_kernel", kernel)
        set_once(self, "_bound", kernel.of_atoms.bind(points.shape[1]))
        set_once(self, "_columns", columns)
        set_once(self, "_rows", rows)
        set_once(self, "_atoms", columns[:, :n].T)
        set_once(self, "_weights", rows[0, :n] if values.ndim == 1 else rows[:, :n].T)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"KernelExpansion is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"KernelExpansion is immutable: cannot delete {name}")

    @classmethod
    def zero(
        cls, kernel: Kernel, n_features: int, n_outputs: int | None = None
    ) -> "KernelExpansion":
        """Return the zero function, which has no atoms.

        Examples
        --------
        >>> from colk.kernels import Linear
        >>> KernelExpansion.zero(Linear(), n_features=2)([[1.0, 2.0]])
        array([0.])
        """
        points = np.empty((0, check_count(n_features, "n_features")))
        atoms = kernel.points(points)
        if n_outputs is None:
            return cls(kernel, atoms, np.empty(0))
        return cls(kernel, atoms, np.empty((0, check_count(n_outputs, "n_outputs"))))

    @property
    def kernel(self) -> Kernel:
        """The kernel κ."""
        return self._kernel

    @property
    def atoms(self) -> Array:
        """The points d_j, read-only, of shape (n_atoms, n_features); d_j A with a metric A."""
        return self._atoms

    @property
    def weights(self) -> Array:
        """The weights w_j, read-only, of shape (n_atoms,) or (n_atoms, n_outputs)."""
        return self._weights

    @property
    def n_atoms(self) -> int:
        """The model order M."""
        return len(self._atoms)

    @property
    def n_features(self) -> int:
        """The number p of features of a point."""
        metric = self._kernel.metric
        return int(self._columns.shape[0] if metric is None else len(metric))

    @property
    def n_outputs(self) -> int:
        """The number q of outputs; 1 if the weights are a vector."""
        return int(self._rows.shape[0])

    def __call__(self, X: ArrayLike) -> Array:
        """Return f(X), of shape (n,) or (n, n_outputs), like the weights.

        It needs O(n_atoms) memory beyond the result, and uses several threads for many points.
        """
        points = check_points(X, self.n_features)
        out = np.empty((len(points), self.n_outputs))
        if self._kernel.metric is None:
            self._evaluate(points, out)
        else:
            for start in range(0, len(points), _MAPPED):
                rows = slice(start, start + _MAPPED)
                self._evaluate(self._kernel.points(points[rows]), out[rows])
        return out[:, 0] if self._weights.ndim == 1 else out

    def _evaluate(self, points: Array, out: Array) -> None:
        """Write the values at points as atoms are kept."""
        evaluate_many(self._bound, self._columns, self.n_atoms, self._rows, 0, points, out)

    def gradient(self, X: ArrayLike) -> Array:
        """Return the derivative of f with respect to its input at the points X.

        At a kink of the kernel (`Laplacian`, `Matern(nu=0.5)`) the slope is taken as 0.

        Returns
        -------
        array of shape (n, n_features) or (n, n_outputs, n_features)

        Examples
        --------
        >>> from colk.kernels import Polynomial
        >>> KernelExpansion(Polynomial(2), [[1.0]], [1.0]).gradient([[3.0]])
        array([[8.]])
        """
        if not self._kernel.has_gradient:
            raise TypeError(f"{self._kernel!r} has no gradient; pass `gradient` to CustomKernel")
        points, kernel = check_points(X, self.n_features), self._kernel
        out = np.empty((len(points), self.n_outputs, self.n_features))
        block = max(1, _SLOPES // max(1, self._atoms.size))
        weights = self._rows[:, : self.n_atoms]
        for start in range(0, len(points), block):
            rows = slice(start, start + block)
            slopes = kernel.of_atoms.slopes(self._atoms, kernel.points(points[rows]))
            steps = [(weights @ slopes[:, :, k]).T for k in range(slopes.shape[2])]
            found = np.stack(steps, axis=2)
            out[rows] = found if kernel.metric is None else found @ kernel.metric.T
        return out[:, 0] if self._weights.ndim == 1 else out

    def inner(self, other: "KernelExpansion") -> float:
        """Return ⟨f, g⟩ in H; with several outputs, the sum over outputs.

        Examples
        --------
        >>> from colk.kernels import Linear
        >>> f = KernelExpansion(Linear(), [[1.0, 2.0]], [1.0])
        >>> g = KernelExpansion(Linear(), [[3.0, 4.0]], [2.0])
        >>> f.inner(g)
        22.0
        """
        self._check_same_space(other)
        values = np.empty((self.n_atoms, other.n_outputs))
        other._evaluate(self._atoms, values)
        return float(np.sum(self._weights * values.reshape(self._weights.shape)))

    def norm(self) -> float:
        """Return the norm ‖f‖ = √⟨f, f⟩ in H."""
        return math.sqrt(max(self.inner(self), 0.0))

    def distance(self, other: "KernelExpansion") -> float:
        """Return ‖f − g‖ in H; exactly 0 if f and g are equal.

        The weights of shared atoms are subtracted first, so the common part of f and g adds no
        rounding error.
        """
        self._check_same_space(other)
        points = np.concatenate([self._atoms, other._atoms])
        atoms, index = np.unique(points, axis=0, return_inverse=True)
        mine, theirs = np.zeros((2, len(atoms), self.n_outputs))
        np.add.at(mine, index[: self.n_atoms], self._rows[:, : self.n_atoms].T)
        np.add.at(theirs, index[self.n_atoms :], other._rows[:, : other.n_atoms].T)
        difference = mine - theirs
        kept = difference.any(axis=1)
        return KernelExpansion(self._kernel, atoms[kept], difference[kept]).norm()

    def compress(self, *, eps: float | None = None, max_atoms: int | None = None) -> "Compression":
        """Return a smaller function and its distance from f; same as `colk.compress(f, ...)`."""
        from colk.rkhs.compression import compress

        return compress(self, eps=eps, max_atoms=max_atoms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function to a file atomically; same as `colk.save(f, path)`."""
        from colk.persistence import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "KernelExpansion":
        """Read a saved function; like `colk.load(path)`, but raise for other models.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from colk.kernels import Gaussian
        >>> f = KernelExpansion(Gaussian(1.0), [[0.0]], [1.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     f.save(pathlib.Path(folder) / "f.colk")
        ...     KernelExpansion.load(pathlib.Path(folder) / "f.colk") == f
        True
        """
        from colk.persistence import load

        model = load(path)
        if not isinstance(model, cls):
            raise FileFormatError(
                f"{os.fspath(path)} holds a {type(model).__name__}; read it with colk.load"
            )
        return model

    def _check_same_space(self, other: Any) -> None:
        if not isinstance(other, KernelExpansion):
            raise TypeError(f"expected a KernelExpansion, got {type(other).__name__}")
        if self._kernel != other._kernel:
            raise ValueError(
                f"the functions live in different spaces: their kernels are {self._kernel!r} "
                f"and {other._kernel!r}"
            )
        if self.n_features != other.n_features:
            raise ValueError(
                f"the functions have {self.n_features} and {other.n_features} features"
            )
        if self._weights.shape[1:] != other._weights.shape[1:]:
            raise ValueError(
                "the functions have outputs of different shapes: their weights are "
                f"{self._weights.shape} and {other._weights.shape}"
            )

    def _with_weights(self, weights: Array) -> "KernelExpansion":
        return KernelExpansion(self._kernel, self._atoms, weights)

    def __add__(self, other: Any) -> "KernelExpansion":
        if not isinstance(other, KernelExpansion):
            return NotImplemented
        self._check_same_space(other)
        return KernelExpansion(
            self._kernel,
            np.concatenate([self._atoms, other._atoms]),
            np.concatenate([self._weights, other._weights]),
        )

    def __neg__(self) -> "KernelExpansion":
        return self._with_weights(-self._weights)

    def __sub__(self, other: Any) -> "KernelExpansion":
        return self + -other if isinstance(other, KernelExpansion) else NotImplemented

    def __mul__(self, factor: Any) -> "KernelExpansion":
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        return self._with_weights(check_number(factor, "the factor of a function") * self._weights)

    def __rmul__(self, factor: Any) -> "KernelExpansion":
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "KernelExpansion":
        if not isinstance(divisor, numbers.Real):
            return NotImplemented
        number = check_number(divisor, "the divisor of a function")
        if number == 0.0:
            raise ZeroDivisionError("a function cannot be divided by zero")
        return self._with_weights(self._weights / number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelExpansion):
            return NotImplemented
        return (
            self._kernel == other._kernel
            and np.array_equal(self._atoms, other._atoms)
            and np.array_equal(self._weights, other._weights)
        )

    def __hash__(self) -> int:
        # Adding 0.0 turns −0.0 into 0.0, so that equal functions have equal hashes.
        return hash((self._kernel, (self._atoms + 0.0).tobytes(), (self._weights + 0.0).tobytes()))

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "KernelExpansion":
        for name in ("atoms", "weights"):
            budget(3.0 * values[name].nbytes, "a function")
        return cls(**values)

    def __reduce__(self) -> tuple[type["KernelExpansion"], tuple[Kernel, Array, Array]]:
        return KernelExpansion, (self._kernel, self._atoms, self._weights)

    def plot(self, ax: Any = None, output: int = 0, resolution: int = 200) -> Any:
        """Draw the function over the range of its atoms.

        One feature is a curve, two are a map. For more features, each curve changes one feature
        while the others stay at the mean atom.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        output : int
            Index of the output to draw. Default: 0.
        resolution : int
            Number of grid points per feature. Default: 200.

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> from colk import KernelExpansion
        >>> from colk.kernels import Gaussian
        >>> f = KernelExpansion(Gaussian(1.0), [[0.0], [2.0]], [1.0, -1.0])
        >>> f.plot().get_ylabel()
        'f(x)'
        """
        from colk.rkhs.drawing import plot_function

        return plot_function(self, output, check_count(resolution, "resolution"), ax)

    def _repr_html_(self) -> str:
        facts = {
            "kernel": repr(self._kernel),
            "atoms": self.n_atoms,
            "features": self.n_features,
            "outputs": self.n_outputs,
            "H-norm": f"{float(np.linalg.norm(self.norm())):.4g}",
        }
        return facts_table("f = Σ w_j κ(d_j, ·)", facts)

    def __repr__(self) -> str:
        return (
            f"KernelExpansion(kernel={self._kernel!r}, n_atoms={self.n_atoms}, "
            f"n_features={self.n_features}, n_outputs={self.n_outputs})"
        )
