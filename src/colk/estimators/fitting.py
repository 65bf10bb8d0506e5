"""`fit`: check the rows and hand them to the fit of `colk.model`."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d

from colk._engine.blas_threads import one_blas_thread
from colk._engine.thread_pool import use_threads
from colk._validation import Array
from colk.estimators.base import COLKEstimator
from colk.estimators.batches import Batches
from colk.model import OnlineFit, Settings, as_risk
from colk.model.fit import Fit
from colk.model.passes import Passes
from colk.model.rows import LocalRows, Rows
from colk.model.targets import Targets
from colk.rkhs.polishing import Polished

__all__ = ["FittedEstimator"]


class FittedEstimator(COLKEstimator):
    """An estimator with `fit`; subclasses define the targets."""

    fit_type: ClassVar[type[Fit]] = Fit
    # Arguments of scikit-learn's check of the targets.
    _target_checks: ClassVar[dict[str, Any]] = {}

    polished_: Polished

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), data frame, iterable of batches, or table reader
            Points. Without `y`: an iterable of batches (X, y) or (X, y, sample_weight) that can be
            read several times; memory does not grow with their number. With a
            `colk.tabular.reading.Source`, `y` is the name of the target column, or a list of
            names, and all other columns are features.
        y : array of shape (n,) or (n, q), or str
            Targets: numbers, or labels of shape (n,); or the name of their column in the data frame
            `X`.
        sample_weight : array of shape (n,), optional
            Weights. The step of a sample is multiplied by its weight; samples of weight 0 are
            skipped.
        groups : array of shape (n,), optional
            The group of each sample; required by the risk `GroupRisk`, refused by other risks.
        """
        with self._unchanged_on_error():
            batches = Batches.of(X, y)
            if batches is None:
                X, y = _target_taken(X, y)
                rows, labels = self._rows_in_memory(X, y, sample_weight, groups)
            else:
                for name, given in (("sample_weight", sample_weight), ("groups", groups)):
                    if given is not None:
                        raise ValueError(
                            f"{name} cannot stand beside batches: give each batch its weights, as "
                            "(X, y, sample_weight); groups need arrays"
                        )
                self._check_groups(None)
                rows, labels = LocalRows(lambda: self._read(batches)), None
                self._has_rows = False
            with one_blas_thread(), use_threads(self.n_jobs):
                fit = self.new_fit().run(rows)
                if labels is not None:
                    fit.weigh_groups(rows, labels)
            self.adopt_fit(fit)
            self._leave_rows()
        return self

    def fit_rows(
        self,
        rows: Rows,
        n_features: int,
        names: Sequence[str] | None = None,
        sample_size: int | None = None,
    ) -> Self:
        """Fit the model from scratch to checked rows, wherever they are.

        Parameters
        ----------
        rows : Rows
            The rows, such as partitions on a cluster.
        n_features : int
            Number of columns.
        names : sequence of str, optional
            Their names.
        sample_size : int, optional
            As `size` of `colk.model.sample.RowSample`.
        """
        with self._unchanged_on_error():
            self._check_groups(None)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = n_features
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            with one_blas_thread(), use_threads(self.n_jobs):
                self.adopt_fit(self.new_fit(sample_size).run(rows))
        return self

    # -- rows --------------------------------------------------------------------------------

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return the targets of the task, which `Fit` fits."""

    @abstractmethod
    def _checked_targets(self, y: Any) -> Any:
        """Return checked targets as an array of numbers or labels."""

    def _rows_in_memory(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> tuple[LocalRows, NDArray[Any] | None]:
        """Check arrays, a table or a sparse matrix; return their rows and their groups."""
        source, y = self._checked_source(X, y, True, keep_sparse=True, **self._target_checks)
        y = self._checked_targets(y)
        weight = self._weights(sample_weight, len(y))
        self.__dict__.pop("_rows", None)
        if issparse(source):
            source = self._take_rows(source)
        labels = self._check_groups(groups)
        if labels is not None:
            check_consistent_length(y, labels)
            labels = labels[weight > 0.0]
        return LocalRows(lambda: [(source, y, weight)], is_whole=True), labels

    def _read(self, batches: Batches) -> Iterator[tuple[Any, Any, Array]]:
        """Read and check all batches; the first batch ever sets the names of the columns."""
        for batch in batches:
            source, y = self._checked_source(
                batch.X, batch.y, not self._has_rows, **self._target_checks
            )
            self._has_rows = True
            y = self._checked_targets(y)
            yield source, y, self._weights(batch.weight, len(y))

    def _check_groups(self, groups: ArrayLike | None) -> NDArray[Any] | None:
        """Return the groups that the risk needs, or None if it needs none."""
        risk = as_risk(self.risk)
        if not risk.needs_groups:
            if groups is not None:
                raise ValueError('groups are for the risk "group" only, see colk.risks.GroupRisk')
            return None
        if groups is None or not self.polish:
            risk.check_stream()
        return np.asarray(column_or_1d(groups))

    # -- the fit -----------------------------------------------------------------------------

    def new_fit(self, sample_size: int | None = None) -> Fit:
        """Return a fit with the parameters of this estimator, which has seen no rows.

        Parameters
        ----------
        sample_size : int, optional
            As `size` of `colk.model.sample.RowSample`.
        """
        sparse = vars(self).get("_rows")
        targets = self._new_targets()
        return self.fit_type(
            replace(Settings.of(self), loss=targets.loss, rows=sparse),
            Passes.of(self),
            targets,
            standardize=self.standardize,
            names=getattr(self, "feature_names_in_", None),
            inputs=None if sparse is None else self._inputs,
            sample_size=sample_size,
            report=self._report if getattr(self, "verbose", False) else None,
        )

    def adopt_fit(self, fit: Fit) -> None:
        """Become the model of a fit.

        Parameters
        ----------
        fit : Fit
            The fit, which has seen all rows.
        """
        self._inputs = fit.inputs
        settings = replace(self._stream_settings(fit.targets.loss), max_atoms=fit.max_atoms)
        fit.inputs.follow_for(settings)
        self._online = OnlineFit(fit.learner, settings, fit.race, fit.relevance)
        self.growth_, self.risk_path_ = fit.tried, fit.path
        if fit.path is not None and getattr(self, "verbose", False):
            self._report(fit.path.told, fit.learner.n_atoms)
        self.loss_curve_ = fit.loss_curve
        for name, found in (("polished_", fit.polished), ("deviations_", fit.deviations)):
            self.__dict__.pop(name, None)
            if found is not None:
                setattr(self, name, found)
        self._adopt_targets(fit)

    @abstractmethod
    def _adopt_targets(self, fit: Any) -> None:
        """Take over the targets of a fit."""

    def _report(self, message: str, n_atoms: int) -> None:
        print(f"[{type(self).__name__}] {message}, {n_atoms} atoms", flush=True)

    def _walk(self, X: Any, y: Any, n_points: int) -> tuple[Array, Array]:
        """Learn the stream in parts; return samples seen and model order after each part."""
        rows, _ = self._rows_in_memory(X, y, None, None)
        fit = self.new_fit()
        walked = fit.walk(rows, n_points)
        self.adopt_fit(fit)
        return walked


def _target_taken(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a data frame without its target column, and the column; else X and y themselves."""
    if not isinstance(y, str):
        return X, y
    names = list(getattr(X, "columns", ()))
    if y not in names or not hasattr(X, "__getitem__"):
        raise ValueError(
            f"y={y!r} names a column, but X has no such column: pass a data frame that has it, or "
            "the targets themselves"
        )
    return X[[name for name in names if name != y]], X[y]
