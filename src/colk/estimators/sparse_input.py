"""Sparse matrices as X: estimators compare rows by sparse products, or in dense blocks."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length

from colk._encoding.encoder import TableEncoder
from colk._encoding.frames import names_of
from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.of_rows import OfRows, SparseRows, takes_sparse
from colk.learners.colk import KernelLearner
from colk.learners.growth import points_in, with_points
from colk.model import OnlineFit
from colk.model.inputs import Inputs
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Polished

__all__ = ["SparseInput", "is_large", "parts_of"]

# Largest number of entries in a block of dense rows: 32 MB.
_DENSE = 2**22

# Atoms of a sparse fit become dense, unless they would have more than _SMALL entries (16 MB) and
# the share of nonzero entries is below _SHARE.
_SMALL = 2**21
_SHARE = 0.25


def _is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix. Typed `Any`, because `issparse` narrows to a shapeless type."""
    return bool(sparse.issparse(X))


def _block_size(matrix: Any) -> int:
    """Return the largest number of rows in a dense block."""
    return int(max(1, _DENSE // max(1, matrix.shape[1])))


def is_large(matrix: Any) -> bool:
    """Whether a sparse matrix has more rows than a dense block may have."""
    return bool(matrix.shape[0] > _block_size(matrix))


def _blocks(matrix: Any) -> Iterator[slice]:
    """Yield slices of rows, each small enough to be made dense."""
    size = _block_size(matrix)
    for start in range(0, matrix.shape[0], size):
        yield slice(start, start + size)


def parts_of(X: Any) -> Iterator[Any]:
    """Yield X itself, or the blocks of rows of a sparse matrix."""
    if not _is_sparse(X):
        yield X
        return
    matrix = X.tocsr()
    for some in _blocks(matrix):
        yield matrix[some]


class SparseInput:
    """The part of an estimator that learns from sparse matrices and predicts at their rows.

    During `fit` a point is the index of a row, and the kernel is `OfRows`. At the end of `fit` the
    atoms become dense rows, as if X had been dense. If they would be large, they stay sparse: a
    point is then the index of a row in a matrix that has only the atoms.
    """

    polished_: Polished
    _inputs: Inputs
    _online: OnlineFit
    _rows: SparseRows
    _points: Callable[[Any], Array]
    _encode: Callable[[Any], Array]
    _fitted: Callable[[], KernelLearner]
    __sklearn_is_fitted__: Callable[[], bool]

    def _learn_blocks(
        self, learn: Callable[[Any, Any, Any], None], X: Any, y: Any, weight: Any
    ) -> None:
        """Learn a sparse matrix in dense blocks of rows, after all rows are checked."""
        matrix, targets = X.tocsr(), np.asarray(y)
        check_consistent_length(matrix, targets, weight)
        assert_all_finite(matrix, input_name="X")
        assert_all_finite(targets, input_name="y")
        if self.__sklearn_is_fitted__():
            self._encode(targets)  # raises an error for unknown labels
        for some in _blocks(matrix):
            part = None if weight is None else np.asarray(weight)[some]
            learn(matrix[some], targets[some], part)

    def _take_rows(self, matrix: Any) -> Array:
        """Begin a fit to the rows of a checked matrix; return the row indices."""
        self._rows = SparseRows(matrix)
        n_columns = self._rows.n_columns
        names = getattr(self, "feature_names_in_", None)
        known = names_of(n_columns) if names is None else names
        self._inputs = Inputs(TableEncoder.of_matrix(np.zeros((1, n_columns)), known))
        return self._rows.points

    def _leave_rows(self) -> None:
        """After a fit to a sparse matrix, turn atoms from row indices into rows."""
        rows: SparseRows | None = vars(self).pop("_rows", None)
        if rows is None:
            return
        online = self._online
        if online.fitted_race is not None:
            ones, plain = np.ones(rows.n_columns), _plain(online.fitted_race.kernel)
            online.fitted_race = replace(online.fitted_race, kernel=plain, scales=ones)
        used = np.zeros((0, 1))
        if online.learner.has_learned:
            used = points_in(online.learner)
        if "polished_" in vars(self):
            used = np.concatenate([used, self.polished_.function.atoms])
        numbers = np.unique(used[:, 0])
        if _stay_sparse(rows, numbers):
            few = SparseRows(rows.matrix[numbers.astype(np.intp)])
            self._change_points(
                few, lambda points: np.searchsorted(numbers, points).astype(np.float64)
            )
        else:
            self._change_points(None, rows.dense)

    @property
    def has_sparse_atoms_(self) -> bool:
        """Whether the atoms are stored as a sparse matrix, after `fit` to a sparse matrix."""
        return isinstance(self._fitted().kernel, OfRows)

    def _make_dense(self) -> None:
        """Store the atoms as dense rows."""
        online: OnlineFit | None = vars(self).get("_online")
        if online is not None and isinstance(online.learner.kernel, OfRows):
            self._change_points(None, online.learner.kernel.rows.dense)

    def _change_points(self, rows: SparseRows | None, points_of: Callable[[Array], Array]) -> None:
        """Convert all points to dense rows, or to row indices of a matrix."""

        def kernel_of(kernel: Kernel) -> Kernel:
            return _plain(kernel) if rows is None else OfRows(_plain(kernel), rows)

        if "polished_" in vars(self):
            f = self.polished_.function
            changed = KernelExpansion(kernel_of(f.kernel), points_of(f.atoms), f.weights)
            self.polished_ = replace(self.polished_, function=changed)
        learner = self._online.learner
        self._online.learner = with_points(learner, kernel_of(learner.kernel), points_of)

    def _function_values(self, function: KernelExpansion, X: Any) -> Array:
        """Validate X; return the values of a function of encoded rows."""
        is_sparse, kernel = _is_sparse(X), function.kernel
        if not is_sparse:
            points = self._points(X)
            if not isinstance(kernel, OfRows):
                return function(points)
            parts = (sparse.csr_matrix(points[some]) for some in _blocks(points))
            return np.concatenate([_at_rows(function, part) for part in parts])
        matrix: Any = X.tocsr()
        is_product = takes_sparse(_plain(kernel)) and function.n_atoms > 0
        if not (self._inputs.is_plain and is_product):
            return np.concatenate([function(self._points(some)) for some in parts_of(matrix)])
        self._points(matrix[:1])  # checks the number of features
        assert_all_finite(matrix, input_name="X")
        return _at_rows(function, matrix)


def _stay_sparse(rows: SparseRows, numbers: Array) -> bool:
    """Whether these rows would be a large dense array with mostly zeros."""
    size = len(numbers) * rows.n_columns
    if size <= _SMALL:
        return False
    places = numbers.astype(np.intp)
    n_entries = int((rows.starts[places + 1] - rows.starts[places]).sum())
    return n_entries < _SHARE * size


def _at_rows(function: KernelExpansion, matrix: Any) -> Array:
    """Return the values of a function at the rows of a sparse matrix."""
    kernel, numbers = function.kernel, function.atoms
    if isinstance(kernel, OfRows):
        known = kernel.rows.matrix
    else:
        known = sparse.csr_matrix(function.atoms)
        numbers = np.arange(function.n_atoms, dtype=np.float64)[:, None]
    rows = SparseRows(sparse.vstack([known, matrix], format="csr"))
    made = OfRows(_plain(kernel), rows)
    return KernelExpansion(made, numbers, function.weights)(rows.points[known.shape[0] :])


def _plain(kernel: Kernel) -> Kernel:
    """Return the kernel of dense rows."""
    return kernel.kernel if isinstance(kernel, OfRows) else kernel
