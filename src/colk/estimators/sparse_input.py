"""How estimators take sparse matrices: rows are compared by sparse products, or block by block."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length

from colk._validation import Array
from colk.estimators.inputs import Inputs
from colk.kernels import Kernel
from colk.kernels.of_rows import OfRows, SparseRows, takes_sparse
from colk.learners.colk import KernelLearner
from colk.learners.growth import with_points
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Polished
from colk.selection import Race
from colk.tabular.encoder import TableEncoder
from colk.tabular.frames import names_of

__all__ = ["SparseInput", "WholeMatrix", "is_large", "parts_of"]

# Numbers of a block of dense rows, 32 MB.
_DENSE = 2**22


class WholeMatrix(NamedTuple):
    """A sparse matrix that `fit` takes whole."""

    matrix: Any


def _is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix; the type of `issparse` would make it one without a shape."""
    return bool(sparse.issparse(X))


def _block_size(matrix: Any) -> int:
    """Return the number of rows that may be dense in memory."""
    return int(max(1, _DENSE // max(1, matrix.shape[1])))


def is_large(matrix: Any) -> bool:
    """Whether a sparse matrix has more rows than may be dense in memory."""
    return bool(matrix.shape[0] > _block_size(matrix))


def _blocks(matrix: Any) -> Iterator[slice]:
    """Yield slices of rows that may be dense in memory."""
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

    During `fit` the points are the numbers of the rows, and the kernel is `OfRows`. At its end the
    atoms become dense rows, so that the model is that of a dense matrix.
    """

    kernel_: Kernel
    polished_: Polished
    race_: Race | None
    _inputs: Inputs
    _learner: KernelLearner
    _rows: SparseRows
    _points: Callable[[Any], Array]
    _encode: Callable[[Any], Array]
    __sklearn_is_fitted__: Callable[[], bool]

    def _learn_blocks(
        self, learn: Callable[[Any, Any, Any], None], X: Any, y: Any, weight: Any
    ) -> None:
        """Learn a sparse matrix in blocks of rows, each of them dense; all are checked first."""
        matrix, targets = X.tocsr(), np.asarray(y)
        check_consistent_length(matrix, targets, weight)
        assert_all_finite(matrix, input_name="X")
        assert_all_finite(targets, input_name="y")
        if self.__sklearn_is_fitted__():
            self._encode(targets)  # raises for labels that are unknown
        for some in _blocks(matrix):
            part = None if weight is None else np.asarray(weight)[some]
            learn(matrix[some], targets[some], part)

    def _take_rows(self, matrix: Any) -> Array:
        """Begin a fit to the rows of a checked matrix; return their numbers."""
        self._rows = SparseRows(matrix)
        n_columns = self._rows.n_columns
        names = getattr(self, "feature_names_in_", None)
        known = names_of(n_columns) if names is None else names
        self._inputs = Inputs(TableEncoder.of_matrix(np.zeros((1, n_columns)), known))
        return self._rows.points

    def _leave_rows(self) -> None:
        """Turn atoms from numbers of rows into rows, if the fit was to a sparse matrix."""
        rows: SparseRows | None = vars(self).pop("_rows", None)
        if rows is None:
            return
        self._learner = with_points(self._learner, _plain(self._learner.kernel), rows.dense)
        self.kernel_ = self._learner.kernel
        if "polished_" in vars(self):
            f = self.polished_.function
            dense = KernelExpansion(_plain(f.kernel), rows.dense(f.atoms), f.weights)
            self.polished_ = replace(self.polished_, function=dense)
        if self.race_ is not None:
            ones = np.ones(rows.n_columns)
            self.race_ = replace(self.race_, kernel=_plain(self.race_.kernel), scales=ones)

    def _function_values(self, function: KernelExpansion, X: Any) -> Array:
        """Values of a function of encoded rows at points to be checked."""
        if not _is_sparse(X):
            return function(self._points(X))
        matrix: Any = X.tocsr()
        if not (self._inputs.is_plain and takes_sparse(function.kernel) and function.n_atoms):
            return np.concatenate([function(self._points(some)) for some in parts_of(matrix)])
        self._points(matrix[:1])  # checks the number of features
        assert_all_finite(matrix, input_name="X")
        rows = SparseRows(sparse.vstack([sparse.csr_matrix(function.atoms), matrix], format="csr"))
        n, numbers = function.n_atoms, rows.points
        kernel = OfRows(function.kernel, rows)
        return KernelExpansion(kernel, numbers[:n], function.weights)(numbers[n:])


def _plain(kernel: Kernel) -> Kernel:
    """Return the kernel of dense rows."""
    return kernel.kernel if isinstance(kernel, OfRows) else kernel
