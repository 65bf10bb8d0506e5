"""Check, encode and scale X, which may be an array or a data frame."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    _check_y,
    validate_data,
)

from colk._encoding.encoder import TableEncoder
from colk._encoding.frames import is_table, read_table
from colk._validation import Array, check_weight_range, reject_lazy
from colk.estimators.inputs import Inputs, Table, are_scaled
from colk.estimators.sparse_input import SparseInput, WholeMatrix
from colk.kernels import Kernel
from colk.kernels.bandwidth import takes_bandwidth

__all__ = ["TableInput"]


class TableInput(SparseInput):
    """The part of an estimator that turns X into the rows that the learner takes."""

    n_features_in_: int
    kernel: Any
    bandwidth: Any
    standardize: Any
    _inputs: Inputs

    @property
    def encoder_(self) -> TableEncoder:
        """The encoder that turns columns into features, before they are scaled."""
        return self._inputs.encoder

    def encode_points(self, X: Any) -> Array:
        """Return X as the learner takes it: checked, encoded and scaled.

        If the atoms are stored as a sparse matrix, this makes them dense.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), or data frame
            Points.
        """
        self._make_dense()
        return self._points(X)

    def _is_valid(self, X: Any) -> bool:
        """Whether X is a finite array that needs no conversion.

        scikit-learn's own validation takes 200 µs, longer than learning a row. The model must be
        fitted, and without feature names.
        """
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and self._inputs.is_identity
            and bool(np.isfinite(X).all())
        )

    def _points(self, X: Any) -> Array:
        """Return checked points for a prediction."""
        if self._is_valid(X):
            valid: Array = X
            return valid
        points: Array = self._validated(X, reset=False)
        return points

    def _validated(
        self, X: Any, y: Any = "no_validation", reset: bool = False, **checks: Any
    ) -> Any:
        """Check data as scikit-learn's `validate_data` does; return X as the learner takes it.

        A Dask collection is not loaded. X may be a table with gaps, categories and dates, or a
        sparse matrix.
        """
        instead = f"colk.distributed.Dask{type(self).__name__}"
        reject_lazy(X, "X", instead)
        reject_lazy(y, "y", instead)
        is_learning = not (isinstance(y, str) and y == "no_validation")
        source: Array | Table
        is_whole = isinstance(X, WholeMatrix)
        X = X.matrix if is_whole else X
        is_sparse = issparse(X)
        if is_table(X):
            source = read_table(X)
            if len(X) == 0:
                raise ValueError("Found a table with 0 sample(s); at least one is needed")
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            if is_learning:
                y = _check_y(y, estimator=self, **checks)
                check_consistent_length(X, y)
        else:
            checks |= {"dtype": np.float64, "order": "C", "accept_sparse": "csr"}
            checks["ensure_all_finite"] = True if is_sparse else "allow-nan"
            found: Any = validate_data(self, X, y, reset=reset, **checks)
            source, y = found if is_learning else (found, y)
            if is_whole:
                self._wants_scale(source, True)
                return self._take_rows(source), y
            source = source.toarray() if is_sparse else source  # type: ignore[union-attr]
        if not is_learning:
            return self._inputs.encode(source)
        if reset:
            return self._first_rows(source, is_sparse), y
        self._inputs, rows = self._inputs.learned(source)
        return rows, y

    def _first_rows(self, source: Array | Table, is_sparse: bool) -> Array:
        """Find the kinds of the columns; scale numbers if `_wants_scale`."""
        names = getattr(self, "feature_names_in_", None)
        self._inputs, rows = Inputs.of(source, names, is_sparse=is_sparse)
        if self._wants_scale(rows, is_sparse):
            self._inputs, rows = self._inputs.scaled(rows)
        return rows

    def _wants_scale(self, rows: Any, is_sparse: bool) -> bool:
        """Whether to scale numbers; those of a sparse matrix are never scaled."""
        wants_scale: Any = self.standardize
        if isinstance(wants_scale, str) and wants_scale != "auto":
            raise ValueError(f"standardize must be True, False or 'auto', got {wants_scale!r}")
        if is_sparse:
            if wants_scale is True:
                raise ValueError(
                    "standardize=True subtracts the mean of each column, which would make a sparse "
                    "matrix dense: scale it with sklearn.preprocessing.MaxAbsScaler, and leave out "
                    "standardize"
                )
            return False
        if not isinstance(wants_scale, str):
            return bool(wants_scale)
        has_units = isinstance(self.kernel, Kernel) or not isinstance(self.bandwidth, str)
        uses_distance = self.kernel == "auto" or takes_bandwidth(self.kernel)
        needs_it = not self._inputs.is_plain or (uses_distance and not are_scaled(rows))
        return not has_units and needs_it

    def _weights(self, sample_weight: Any, X: Array) -> Array:
        if sample_weight is None:
            return np.ones(len(X))
        reject_lazy(sample_weight, "sample_weight")
        weight: Array = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        return check_weight_range(np.ascontiguousarray(weight), "sample_weight")
