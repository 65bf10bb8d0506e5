"""Kernels of the rows of a sparse matrix; a point is the index of a row."""

from typing import Any, ClassVar

import numpy as np

from colk import _stored as stored
from colk._engine.c_types import CInt, ConstIndices, ConstMatrix, ConstVector, Matrix, Readonly
from colk._engine.simd import sparse_rows
from colk._validation import Array
from colk.errors import FileFormatError
from colk.kernels.base import Kernel
from colk.kernels.inner_product import Linear, Polynomial
from colk.kernels.stationary import Gaussian, Laplacian

__all__ = ["OfRows", "SparseRows", "takes_sparse"]

# The profile of a kernel: a function of the inner product (0), of the squared distance (1), or of
# the L1 distance (2).
_PROFILES: dict[type[Kernel], int] = {Linear: 0, Polynomial: 0, Gaussian: 1, Laplacian: 2}

# Number of pairs of rows whose distances determine the bandwidth of the Laplacian; and the mean L1
# distance of standard normal rows, in units of the standard bandwidth p/2.
_PAIRS = 5000
_LAPLACIAN_DISTANCE = 4.0 / np.sqrt(np.pi)


def takes_sparse(kernel: Any) -> bool:
    """Return whether a kernel supports sparse rows: four kinds do, with one bandwidth.

    Examples
    --------
    >>> takes_sparse(Gaussian(1.0)), takes_sparse(Gaussian((1.0, 2.0)))
    (True, False)
    """
    return type(kernel) in _PROFILES and not isinstance(getattr(kernel, "bandwidth", 1.0), tuple)


@stored.stores(
    n_columns=stored.Count(1, 2**31),
    starts=stored.Array(stored.Size("n_starts", at_least=2), dtype=np.int64, at_least=0),
    places=stored.Array("n_entries", dtype=np.int64, at_least=0),
    values=stored.Array("n_entries"),
)
class SparseRows:
    """A sparse matrix whose rows `OfRows` compares.

    Parameters
    ----------
    matrix : csr_matrix or csr_array
        Finite numbers. It is not copied if it has no duplicate entries.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> rows = SparseRows(csr_matrix([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    >>> rows.points.ravel(), rows.dense(rows.points[1:])
    (array([0., 1., 2.]), array([[0., 0.],
           [1., 0.]]))
    """

    def __init__(self, matrix: Any) -> None:
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.matrix, self.n_columns = matrix, int(matrix.shape[1])
        self.starts = matrix.indptr.astype(np.intp, copy=False)
        # The loop takes the address of the first entry, so there is at least one.
        none = matrix.nnz == 0
        self.places = np.zeros(1, np.intp) if none else matrix.indices.astype(np.intp, copy=False)
        self.values = np.zeros(1) if none else np.asarray(matrix.data, dtype=np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseRows):
            return NotImplemented
        return self.matrix.shape == other.matrix.shape and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("starts", "places", "values")
        )

    def __hash__(self) -> int:
        return hash((self.matrix.shape, self.matrix.nnz))

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseRows, (self.matrix,)

    def _to_file(self) -> dict[str, Any]:
        """Return the entries of the matrix, row by row."""
        matrix = self.matrix
        return {
            "n_columns": self.n_columns,
            "starts": matrix.indptr.astype(np.int64),
            "places": matrix.indices.astype(np.int64),
            "values": np.asarray(matrix.data, dtype=np.float64),
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "SparseRows":
        """Return the rows; raise if column indices are out of range or not sorted."""
        starts, n_columns = values["starts"], values["n_columns"]
        budget(8.0 * n_columns, "the columns of sparse rows")
        parts, shape = (values["values"], values["places"], starts), (len(starts) - 1, n_columns)
        matrix = stored.sparse_matrix("csr_matrix", shape, *parts)
        if not matrix.has_canonical_format:
            raise FileFormatError("the columns of a sparse row must be in order")
        return cls(matrix)

    @property
    def points(self) -> Array:
        """The indices of all rows, of shape (n, 1), which are the points of `OfRows`."""
        return np.arange(self.matrix.shape[0], dtype=np.float64)[:, None]

    def dense(self, points: Array) -> Array:
        """Return some rows as an array.

        Parameters
        ----------
        points : array of shape (n, 1)
            Indices of the rows.
        """
        return np.asarray(self.matrix[points[:, 0].astype(np.intp)].toarray())

    def norms(self, profile: int) -> Array:
        """Return the squared norms of the rows for the profile 1, the L1 norms for 2.

        Parameters
        ----------
        profile : int
            The profile of the kernel, 1 or 2.
        """
        sizes = np.abs(self.matrix) if profile == 2 else self.matrix.multiply(self.matrix)
        return np.asarray(sizes.sum(axis=1), dtype=np.float64).ravel()

    def bandwidth(self, rule: Any, is_l1: bool) -> Any:
        """Apply the rule "scale" or "median" for a bandwidth; return a number unchanged.

        "scale" is √(p·variance/2) for the Gaussian. For the Laplacian it is the mean L1 distance of
        two rows, divided by 4/√π, which is p/2 for standard normal features. "median" is the median
        distance of two rows.

        Parameters
        ----------
        rule : "scale", "median" or float
            The setting.
        is_l1 : bool
            Whether the kernel is the Laplacian, not the Gaussian.
        """
        if not isinstance(rule, str):
            return rule
        if rule not in ("scale", "median"):
            raise ValueError(
                f"bandwidth must be a positive number, 'scale' or 'median', got {rule!r}"
            )
        if rule == "scale" and not is_l1:
            mean = float(self.matrix.mean())
            total = float(self.values @ self.values) / self.matrix.shape[0]
            chosen = np.sqrt(max(total - self.n_columns * mean * mean, 0.0) / 2.0)
        else:
            distances = self._distances(is_l1)
            chosen = np.median(distances) if rule == "median" else distances.mean()
            chosen = chosen / _LAPLACIAN_DISTANCE if rule == "scale" else chosen
        return float(chosen) if np.isfinite(chosen) and chosen > 0.0 else 1.0

    def _distances(self, is_l1: bool) -> Array:
        """Return the distances of pairs of different rows, drawn at random."""
        n = self.matrix.shape[0]
        if n < 2:
            return np.zeros(1)
        random = np.random.default_rng(0)
        left = random.integers(n, size=_PAIRS)
        right = (left + random.integers(1, n, size=_PAIRS)) % n
        apart = self.matrix[left] - self.matrix[right]
        sums = (np.abs(apart) if is_l1 else apart.multiply(apart)).sum(axis=1)
        sizes = np.asarray(sums, dtype=np.float64).ravel()
        return sizes if is_l1 else np.sqrt(sizes)


class OfRows(Kernel):
    """The kernel κ(i, j) = k(x_i, x_j), where i and j are rows of a sparse matrix.

    Computing a value takes time only for the columns in which both rows have nonzero entries. `fit`
    uses this kernel if X is sparse; the fitted model uses it if its atoms stay sparse.

    Parameters
    ----------
    kernel : Linear, Polynomial, Gaussian or Laplacian
        k, with one bandwidth.
    rows : SparseRows
        The matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> rows = SparseRows(csr_matrix([[0.0, 2.0], [1.0, 0.0]]))
    >>> OfRows(Laplacian(3.0), rows)(rows.points).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    _fields: ClassVar[tuple[str, ...]] = ("kernel", "rows")

    kernel: Readonly[Kernel]
    rows: Readonly[SparseRows]
    starts: ConstIndices
    places: ConstIndices
    values: ConstVector
    norms: ConstVector
    tails: ConstVector
    n_columns: int
    profile: CInt
    scale: float
    constant: float
    degree: int

    def __init__(self, kernel: Kernel, rows: SparseRows) -> None:
        if not takes_sparse(kernel):
            raise TypeError(
                "a sparse matrix needs the kernel Linear, Polynomial, Gaussian or Laplacian, with "
                f"one bandwidth, got {kernel!r}: choose one of these, or pass X.toarray()"
            )
        self.kernel, self.rows = kernel, rows
        self.starts, self.places, self.values = rows.starts, rows.places, rows.values
        self.n_columns, self.profile = rows.n_columns, _PROFILES[type(kernel)]
        norms = rows.norms(self.profile)
        self.constant, self.degree = getattr(kernel, "offset", 0.0), getattr(kernel, "degree", 1)
        length = getattr(kernel, "bandwidth", 1.0)
        self.scale = 0.5 / (length * length) if self.profile == 1 else 1.0 / length
        self.norms, self.tails = norms, np.exp(-self.scale * norms) if self.profile else norms

    @property
    def bandwidth(self) -> float | None:
        """The bandwidth of k; None if it has none."""
        return getattr(self.kernel, "bandwidth", None)

    @property
    def is_shift_invariant(self) -> bool:
        return self.kernel.is_shift_invariant

    def columns(
        self, atoms: ConstMatrix, n: int, points: ConstMatrix, size: int, out: Matrix, first: int
    ) -> int:  # cdef
        return sparse_rows.columns(
            self.starts,
            self.places,
            self.values,
            self.norms,
            self.tails,
            self.n_columns,
            self.profile,
            self.scale,
            self.constant,
            self.degree,
            atoms,
            n,
            points,
            size,
            out,
            first,
        )

    def rounding(self, n_features: int) -> float:
        return self.kernel.rounding(self.n_columns)
