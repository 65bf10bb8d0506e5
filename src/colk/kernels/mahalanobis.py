"""A kernel of points times a matrix: a metric other than that of the coordinates."""

from typing import Any, ClassVar
from zlib import crc32

import cython
import numpy as np
from numpy.typing import ArrayLike

from colk._engine.c_types import Readonly
from colk._engine.linear_map import transformed, whole_rows
from colk._engine.terms import show
from colk._validation import Array, check_points
from colk.kernels.base import Kernel
from colk.kernels.formulas import Expression, in_metric
from colk.kernels.of_rows import OfRows

__all__ = ["Mahalanobis"]

# The repr shows the entries of a metric up to this number.
_MOST_SHOWN = 16


class Mahalanobis(Kernel):
    """The kernel κ(u, v) = k(uA, vA), where k is any kernel of r features, and A is p × r.

    With a radial k it is a function of the Mahalanobis distance √((u − v)AAᵀ(u − v)ᵀ). With r < p,
    directions that do not matter are left out, and predictions take less time.

    A learner multiplies a point by A once, and keeps its atoms in the metric: `function.atoms` has
    the rows dA, of r numbers, where other kernels have d.

    A multiple has the same metric, and so have the sum and the product of two kernels with the same
    metric. Other sums and products raise an error.

    Parameters
    ----------
    kernel : Kernel
        k. If it is `Mixed`, the columns of A for its categories must copy a column each.
    metric : array of shape (p, r)
        A, without NaN or infinity.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> kernel = Mahalanobis(Gaussian(1.0), [[1.0], [-1.0]])
    >>> kernel([[0.0, 0.0], [3.0, 3.0], [1.0, 0.0]]).round(4)
    array([[1.    , 1.    , 0.6065],
           [1.    , 1.    , 0.6065],
           [0.6065, 0.6065, 1.    ]])
    >>> kernel.points([[3.0, 3.0], [1.0, 0.0]])
    array([[0.],
           [1.]])
    >>> 2.0 * kernel
    Mahalanobis(kernel=Scaled(kernel=Gaussian(bandwidth=1.0), factor=2.0), metric=[[1.0], [-1.0]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("kernel", "metric")

    kernel: Readonly[Kernel]
    matrix: Readonly[Array]
    rows: Readonly[Array]  # the metric in rows of whole vectors

    def __init__(self, kernel: Kernel, metric: ArrayLike) -> None:
        if not isinstance(kernel, Kernel) or isinstance(kernel, OfRows):
            raise TypeError(
                f"kernel must be a kernel of rows of numbers, got {type(kernel).__name__}"
            )
        matrix = check_points(metric, name="metric")
        if len(matrix) == 0:
            raise ValueError(f"metric must have a row for each feature, got shape {matrix.shape}")
        kernel.bind(matrix.shape[1])  # raises if it is a kernel of another number of features
        if kernel.metric is not None:
            kernel, matrix = kernel.of_atoms, matrix @ np.asarray(kernel.metric)
        matrix = np.array(matrix, order="C")
        matrix.flags.writeable = False
        self.kernel, self.matrix, self.rows = kernel, matrix, whole_rows(matrix)

    @property
    def metric(self) -> Array:
        """A, read-only, of shape (p, r)."""
        return self.matrix

    @property
    def of_atoms(self) -> Kernel:
        """k, the kernel of points in the metric."""
        return self.kernel

    @property
    def formula(self) -> Expression:
        return in_metric(self.kernel.formula, self.metric)

    @property
    def is_squared_exponential(self) -> bool:  # type: ignore[override]
        return self.kernel.is_squared_exponential

    @property
    def is_shift_invariant(self) -> bool:
        return self.kernel.is_shift_invariant

    @property
    def has_gradient(self) -> bool:
        return self.kernel.has_gradient

    @property
    def peak(self) -> float:
        return self.kernel.peak

    def points(self, X: ArrayLike) -> Array:
        """Return XA, of shape (n, r)."""
        p, r = self.metric.shape
        is_plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2
        points = np.asarray(X) if is_plain and np.shape(X)[1] == p else check_points(X, p)
        found = transformed(points, self.rows, r)
        with np.errstate(over="ignore", invalid="ignore"):
            total = found.sum()
        if not np.isfinite(total):  # the sum alone may overflow
            check_points(points)
            if not np.isfinite(found).all():
                raise ValueError(
                    "points times the metric are too large: multiply the features or the metric by "
                    "a number so that they are near 1"
                )
        return found

    def preimages(self, kept: Array) -> Array:
        """Return zA⁺ for each row z, where A⁺ is the pseudo-inverse of A."""
        return np.asarray(kept @ np.linalg.pinv(self.metric))

    def bind(self, n_features: int) -> Kernel:
        if n_features != len(self.metric):
            raise ValueError(
                f"the metric has {len(self.metric)} rows, one for each feature, but the points "
                f"have {n_features} features"
            )
        return self.replace(kernel=self.kernel.bind(self.metric.shape[1]))

    def gram(self, U: ArrayLike, V: ArrayLike | None = None) -> Array:
        return self.kernel.gram(self.points(U), None if V is None else self.points(V))

    def add_frequency(self, seed: int, out: Array) -> int:
        """Add Aω, where ω is a frequency of k."""
        with cython.gil:
            frequency = np.zeros(self.metric.shape[1])
            self.kernel.add_frequency(seed, frequency)
            np.asarray(out)[:] += self.metric @ frequency
        return 0

    def slopes(self, U: Array, V: Array) -> Array:
        return np.asarray(self.kernel.slopes(self.points(U), self.points(V)) @ self.metric.T)

    def rounding(self, n_features: int) -> float:
        """Return the bound for points in the metric."""
        return self.kernel.rounding(self.metric.shape[1])

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return super().__mul__(other)
        scaled = self.kernel * other
        return scaled if scaled is NotImplemented else self.replace(kernel=scaled)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.kernel == other.kernel and np.array_equal(self.metric, other.metric)

    def __hash__(self) -> int:
        # Adding 0.0 turns −0.0 into 0.0, so that equal metrics have equal hashes.
        return hash((type(self).__name__, self.kernel, (self.metric + 0.0).tobytes()))

    def __repr__(self) -> str:
        metric = self.metric
        entries = f"<{metric.shape[0]} × {metric.shape[1]}, {crc32(metric.tobytes()):08x}>"
        if metric.size <= _MOST_SHOWN:
            entries = repr(metric.tolist())
        return f"{type(self).__name__}(kernel={show(self.kernel)}, metric={entries})"
