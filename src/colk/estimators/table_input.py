"""Check, encode and scale X, which may be an array or a data frame."""

from collections.abc import Sequence
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

from colk._encoding.columns import Column
from colk._encoding.encoder import TableEncoder
from colk._encoding.frames import is_table, names_of, read_table
from colk._validation import Array, check_weight_range, reject_lazy
from colk.estimators.sparse_input import SparseInput
from colk.model.inputs import Inputs
from colk.model.settings import Settings
from colk.model.stream_inputs import StreamInputs

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

    def _takes_as_is(self, X: Any) -> bool:
        """Whether X is an array that the learner takes as it is, and nothing is learned of it."""
        return self._inputs.is_settled and self._is_valid(X)

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
        """Check data as scikit-learn's `validate_data` does; return X as the learner takes it."""
        source, y = self._checked_source(X, y, reset, **checks)
        if isinstance(y, str) and y == "no_validation":
            return self._inputs.encode(source)
        if reset:
            self._inputs = self._begun_inputs(source, issparse(X))
        self._inputs, rows = self._inputs.learned(source)
        return rows, y

    def _begun_inputs(self, source: Any, is_sparse: bool) -> Inputs:
        """Return the inputs of a stream before its first row."""
        if isinstance(source, tuple):
            return self._begun(source[0])
        names = getattr(self, "feature_names_in_", None)
        known = names_of(source.shape[1]) if names is None else names
        columns = [Column(name, "number") for name in known]
        if is_sparse:
            return Inputs(TableEncoder(columns))
        return self._begun(columns)

    def _begun(self, columns: Sequence[Column]) -> Inputs:
        begun = StreamInputs.begun(columns, is_scaled=self._scales_a_stream)
        return begun.follow_for(Settings.of(self))

    @property
    def _scales_a_stream(self) -> bool:
        """Whether numbers of a stream are scaled."""
        if isinstance(self.standardize, str):
            if self.standardize != "auto":
                raise ValueError(
                    f"standardize must be True, False or 'auto', got {self.standardize!r}"
                )
            return not Settings.of(self).has_units
        return bool(self.standardize)

    def _checked_source(
        self,
        X: Any,
        y: Any = "no_validation",
        reset: bool = False,
        keep_sparse: bool = False,
        **checks: Any,
    ) -> tuple[Any, Any]:
        """Check data; return X as it was read, an array or a table, and y.

        A Dask collection is not loaded. X may be a table with gaps, categories and dates, or a
        sparse matrix.
        """
        if isinstance(X, tuple):  # a batch of a file
            self._check_names([name for name, _ in X[0]], reset)
            return X, y
        instead = f"colk.distributed.Dask{type(self).__name__}"
        reject_lazy(X, "X", instead)
        reject_lazy(y, "y", instead)
        is_learning = not (isinstance(y, str) and y == "no_validation")
        source: Any
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
            if is_sparse:
                if is_learning:
                    self._refuse_scale()
                source = source if keep_sparse else source.toarray()
        return source, y

    def _check_names(self, names: list[str], reset: bool) -> None:
        """Set the names of the columns of a file, or check that they are the same as before."""
        if reset:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
        elif names != list(self.feature_names_in_):
            raise ValueError(f"a batch has the columns {names}, not {list(self.feature_names_in_)}")

    def _refuse_scale(self) -> None:
        """Raise if numbers of a sparse matrix are to be scaled."""
        if self.standardize is True:
            raise ValueError(
                "standardize=True subtracts the mean of each column, which would make a sparse "
                "matrix dense: scale it with sklearn.preprocessing.MaxAbsScaler, and leave out "
                "standardize"
            )

    def _weights(self, sample_weight: Any, size: int) -> Array:
        """Return the checked weights of so many samples; None gives weight 1 to each."""
        if sample_weight is None:
            return np.ones(size)
        reject_lazy(sample_weight, "sample_weight")
        weight: Array = _check_sample_weight(
            sample_weight, np.empty((size, 1)), dtype=np.float64, ensure_non_negative=True
        )
        return check_weight_range(np.ascontiguousarray(weight), "sample_weight")
