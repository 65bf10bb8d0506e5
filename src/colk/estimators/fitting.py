"""How `fit` learns: passes over the samples, warnings, and the polish."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, check_random_state, check_X_y, column_or_1d

from colk._encoding.effects import effect_targets
from colk._engine.blas_threads import one_blas_thread
from colk._engine.thread_pool import use_threads
from colk._validation import Array
from colk.estimators.base import COLKEstimator
from colk.estimators.batches import Batches, RowSample
from colk.estimators.convergence import (
    constant_loss,
    warn_of_atoms,
    warn_of_clipping,
    warn_of_loss,
    warn_of_nothing,
)
from colk.estimators.passes import USED, Passes
from colk.estimators.sparse_input import WholeMatrix
from colk.recipe import Settings, grown
from colk.risks import GroupRisk, Mean
from colk.rkhs.polishing import (
    MANY_ROWS,
    SAMPLE_SIZE,
    Block,
    FinalPolish,
    OutlierRule,
    Polished,
    RowBlocks,
    final_polish,
    polish_all_rows,
    polish_groups,
    starts_from_mean,
    stratified_rows,
)
from colk.rkhs.polishing.blocks import BLOCK, weight_block

__all__ = ["LEAST_REGULARIZATION", "EpochEstimator", "Flags"]

# The polish needs λ > 0, because weights are not unique without it.
LEAST_REGULARIZATION = 1e-12

Flags = NDArray[np.bool_]

# Number of further fits, each without the outliers of the fit before it.
_REFITS = 2

# Early stopping ends the epochs if the held-out loss is not below this share of the loss before.
_WORTH_AN_EPOCH = 0.99


class EpochEstimator(COLKEstimator):
    """An estimator whose `fit` makes passes over the samples and polishes the result."""

    polished_: Polished

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model from scratch, in `epochs` passes over the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p), data frame, iterable of batches, or table reader
            Points. Without `y`: an iterable of batches (X, y) or (X, y, sample_weight) that can be
            read several times; memory does not grow with their number. With a
            `colk.tabular.reading.Source`, `y` is the name of the target column.
        y : array of shape (n,) or (n, q)
            Targets: numbers, or labels of shape (n,).
        sample_weight : array of shape (n,), optional
            Weights. The step of a sample is multiplied by its weight; samples of weight 0 are
            skipped.
        groups : array of shape (n,), optional
            The group of each sample; required by the risk `GroupRisk`, refused by other risks.
        """
        batches = Batches.of(X, y)
        if batches is not None:
            with self._unchanged_on_error(), one_blas_thread(), use_threads(self.n_jobs):
                self._fit_batches(batches)
            return self
        with self._unchanged_on_error():
            rows = self._prepare_fit(X, y, sample_weight)
            labels = self._checked_groups(groups, rows[0])
            with one_blas_thread(), use_threads(self.n_jobs):
                outliers = self._learn_all(*rows)
                if outliers is not None:
                    self._fit_without(outliers, X, y, rows[2])
                if labels is not None and self.n_atoms_ > 0 and (rows[2] > 0.0).any():
                    self._polish_groups(*rows, labels)
            self._leave_rows()
        return self

    def _fit_batches(self, batches: Batches) -> None:
        """Find kernel, atoms and λ on a sample of the rows, and the weights on all rows."""
        passes = Passes.of(self)
        if not passes.polish:
            raise ValueError("fit reads batches with polish=True; learn them with partial_fit")
        random = check_random_state(passes.random_state)
        sample = RowSample(random, is_classifier(self))
        for batch in batches:
            X, y = check_X_y(batch.X, batch.y, multi_output=True, dtype=np.float64)
            sample.add(X, y, self._weights(batch.weight, X))
        X, y, weight = sample.arrays()
        if sample.n_rows <= len(X):
            self.fit(X, y, weight)
            return
        final, rows = self._fit_sample(X, y, weight)
        if final is None:
            return
        has_rule = final.rule is not None
        rule = OutlierRule.of(final.polished.function, *rows) if has_rule else None
        blocks = RowBlocks(lambda: self._blocks_of(batches, rule))
        total, n_outliers = blocks.total(weight_block)
        part = float(rows[2].sum())
        found = polish_all_rows(
            final,
            RowBlocks(lambda: self._blocks_of(batches, rule, total)),
            RowBlocks.of(rows[0], rows[1], rows[2] / part),
            part / total,
        )
        self.polished_ = replace(found, n_outliers=int(n_outliers))
        self._learner.adopt(found.function)

    def _fit_sample(
        self, X: Array, y: NDArray[Any], weight: Array
    ) -> tuple[FinalPolish | None, tuple[Array, Array, Array]]:
        """Fit a sample, without its outliers; return the polish and the encoded sample."""
        rows = self._prepare_fit(X, y, weight)
        self._checked_groups(None, rows[0])
        final = self._epochs(*rows)
        left_out = None if final is None else final.outliers
        for _ in range(_REFITS):
            if left_out is None:
                break
            weight = np.where(left_out, 0.0, weight)
            rows = self._prepare_fit(X, y, weight)
            again = self._epochs(*rows)
            if final is None or again is None:
                break
            left_out, final = again.outliers, replace(again, rule=again.rule or final.rule)
        kept = rows[2] > 0.0
        return final, (rows[0][kept], rows[1][kept], rows[2][kept])

    def _blocks_of(
        self, batches: Batches, rule: OutlierRule | None, total: float = 1.0
    ) -> Iterator[Block]:
        """Yield the rows in blocks, as the learner sees them; outliers have weight 0."""
        for batch in batches:
            X, Y, weight = self._encoded(*batch)
            if rule is not None:
                weight = np.where(rule.outliers(X, Y), 0.0, weight)
            for start in range(0, len(X), BLOCK):
                some = slice(start, start + BLOCK)
                yield Block(X[some], Y[some], weight[some] / total)

    def _encoded(self, X: Any, y: Any, weight: Any) -> tuple[Array, Array, Array]:
        """Return more samples as the learner sees them, without updating any scale."""
        points = self._points(X)
        check_consistent_length(points, y)
        return points, self._encode(np.asarray(y)), self._weights(weight, points)

    def _prepare_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
        """Prepare all samples of a fit, with the effects of categories; make the learner."""
        given = WholeMatrix(X) if issparse(X) else X
        rows, Y, weight = self._prepare(given, y, sample_weight, first=True)
        n_classes = len(getattr(self, "classes_", ())) if self.loss_.kind == "multiclass" else 0
        wider = self._inputs.with_effects(rows, effect_targets(Y, n_classes), weight)
        if wider.shape[1] > rows.shape[1]:
            self._start(wider, self.loss_, self._n_outputs)
        return wider, Y, weight

    def _checked_groups(self, groups: ArrayLike | None, X: Array) -> NDArray[Any] | None:
        """Return the groups that the risk needs, or None if it needs none."""
        if not self.risk_.needs_groups:
            if groups is not None:
                raise ValueError('groups are for the risk "group" only, see colk.risks.GroupRisk')
            return None
        if groups is None or not self.polish:
            self.risk_.check_stream()
        labels = column_or_1d(groups)
        check_consistent_length(X, labels)
        return np.asarray(labels)

    def _polish_groups(self, X: Array, Y: Array, weight: Array, groups: NDArray[Any]) -> None:
        """Minimise the risk of the groups over the weights of the atoms."""
        risk = cast(GroupRisk, self.risk_)
        found = polish_groups(self.polished_, X, Y, self.loss_, risk, groups, sample_weight=weight)
        self.polished_ = found
        self._learner.adopt(found.function)

    def _fit_without(self, outliers: Flags, X: Any, y: Any, weight: Array) -> None:
        """Fit again without the outliers, because they also affected scale, kernel and atoms."""
        for _ in range(_REFITS):
            rows = self._prepare_fit(X, y, np.where(outliers, 0.0, weight))
            more = self._learn_all(*rows)
            if more is None:
                break
            outliers = outliers | more
        self.polished_ = replace(self.polished_, n_outliers=int(outliers.sum()))

    def _learn_all(self, X: Array, Y: Array, weight: Array) -> Flags | None:
        """Learn from all samples of a `fit`; return the outliers that the polish left out."""
        passes = Passes.of(self)
        if passes.polish and np.count_nonzero(weight) > MANY_ROWS:
            return self._learn_sample(passes, X, Y, weight)
        final = self._epochs(X, Y, weight)
        return None if final is None else final.outliers

    def _learn_sample(self, passes: Passes, X: Array, Y: Array, weight: Array) -> Flags | None:
        """Find kernel, atoms and λ on a sample, and the weights on all samples."""
        random = check_random_state(passes.random_state if passes.shuffle else 0)
        rows = stratified_rows(Y, weight, SAMPLE_SIZE, random)
        some = X[rows], Y[rows], weight[rows]
        final = self._epochs(*some)
        if final is None:
            return None
        if final.rule is not None:
            return final.rule.outliers(X, Y) & (weight > 0.0)
        part, total = float(some[2].sum()), float(weight.sum())
        sample = RowBlocks.of(some[0], some[1], some[2] / part)
        found = polish_all_rows(final, RowBlocks.of(X, Y, weight / total), sample, part / total)
        self.polished_ = found
        self._learner.adopt(found.function)
        self._report(passes, f"weights for all samples: objective {found.value:.4g}")
        return None

    def _epochs(self, X: Array, Y: Array, weight: Array) -> FinalPolish | None:
        """Choose the kernel, make the passes of the parameters, then warn and polish."""
        passes = Passes.of(self)
        random = check_random_state(passes.random_state)
        self._choose_kernel(X, Y, weight, random if passes.shuffle else None)
        by_mean = passes.polish and starts_from_mean(self.risk_)
        if by_mean:
            self._learner = self._recipe(X).for_mean().learner(self._n_outputs)
        learned, held_out = passes.split(len(X), random)
        best, lost = np.inf, 0.0
        for epoch in range(passes.n_epochs):
            order = random.permutation(learned) if passes.shuffle else learned
            spent, steps = self._learner.error_spent, self._learner.steps
            first_atoms = self.max_atoms_ if self._adds_atoms() else None
            self._learn_parts(X, Y, weight, passes.parts(order, weight, first_atoms))
            made = self._learner.steps - steps
            lost = (self._learner.error_spent - spent) / made if made else 0.0
            self._report(passes, f"epoch {epoch + 1}: loss {self.loss_curve_[-1]:.4g}")
            if len(held_out):
                values = self.loss_.value(self._learner.predict(X[held_out]), Y[held_out])
                found = float(np.average(values, weights=weight[held_out]))
                self._report(passes, f"epoch {epoch + 1}: loss of held-out samples {found:.4g}")
                if not found < _WORTH_AN_EPOCH * best:
                    break
                best = found
        counts = (weight > 0.0).any()
        final = self._conclude(passes, X, Y, weight, lost) if counts else None
        if by_mean:
            self._take_risk(X, Y, weight)
        return final

    def _learn_parts(self, X: Array, Y: Array, weight: Array, parts: list[Any]) -> None:
        """Learn parts of the samples until 0.95 of `max_atoms_` are in use."""
        loss = seen = 0.0
        for rows in parts:
            more = self._learn_part(X[rows], Y[rows], weight[rows])
            loss, seen = loss + more[0], seen + more[1]
            if self.n_atoms_ >= USED * (self.max_atoms_ or np.inf):
                break
        self._note_loss(loss, seen)

    def _conclude(
        self, passes: Passes, X: Array, Y: Array, weight: Array, lost: float
    ) -> FinalPolish | None:
        """Polish, or warn if the epochs did not learn."""
        constant = constant_loss(self.loss_, Y, weight, self._learner.n_outputs or 1)
        warn_of_clipping(self._learner, X, Y, weight)
        is_gradient = passes.solver == "gradient"
        if self.n_atoms_ == 0:
            longer = "raise step_size" if is_gradient else "lower prior"
            warn_of_nothing(constant, self.eps_, longer)
        elif passes.polish:
            return self._polish(passes, X, Y, weight)
        else:
            shorter = "lower step_size" if is_gradient else "raise prior"
            eps = self.eps if is_gradient else self.eps_
            warn_of_atoms(lost, eps, self._learner.step_length, self.max_atoms_, shorter)
            advice = f"{shorter} or eps, raise epochs, or set polish=True"
            warn_of_loss(self.loss_curve_[-1], constant, len(X), advice)
        return None

    def _report(self, passes: Passes, message: str) -> None:
        if passes.verbose:
            print(f"[{type(self).__name__}] {message}, {self.n_atoms_} atoms", flush=True)

    def _polish(self, passes: Passes, X: Array, Y: Array, weight: Array) -> FinalPolish:
        """Minimise the objective on all data over the weights; see `colk.rkhs.polishing`."""
        function, by_mean = self._learner.function, starts_from_mean(self.risk_)
        final = final_polish(
            function,
            X,
            Y,
            self.loss_,
            self.risk_,
            max(self.regularization_, LEAST_REGULARIZATION),
            path=passes.risk_path,
            sample_weight=weight,
        )
        self.polished_, self.risk_path_ = final.polished, final.path
        found = self.polished_
        self._learner.adopt(found.function)
        self._report(passes, f"polished: objective {found.value_before:.4g} to {found.value:.4g}")
        if found.n_outliers:
            self._report(passes, f"polished without {found.n_outliers} outliers")
            return final
        judged = Mean() if by_mean else self.risk_
        start = judged.value_at(self.loss_, np.zeros((len(Y), function.n_outputs)), Y, weight)
        left_out = min(risk for _, risk in found.candidates)
        advice = "the features say nothing about the targets"
        if self.race_ is None:
            advice += ' with this kernel: set kernel="auto", which finds the features that matter'
        warn_of_loss(left_out, start, len(X), advice)
        return self._grow(passes, final, X, Y, weight) if Settings.of(self).grows else final

    def _adds_atoms(self) -> bool:
        """Whether the polish may add atoms to those of the passes."""
        return Settings.of(self).grows and bool(self.risk_.can_grow)

    def _grow(
        self, passes: Passes, final: FinalPolish, X: Array, Y: Array, weight: Array
    ) -> FinalPolish:
        """Add atoms while they lower the left-out error; enlarge the learner to that size."""
        growth = grown(final, X, Y, weight, partial(self._report, passes))
        self.growth_ = growth.tried
        if growth.n_atoms > self.n_atoms_:
            self.max_atoms_, self.polished_ = growth.n_atoms, growth.final.polished
            small, recipe = self._learner, self._recipe(X)
            if small.risk != self.risk_:
                recipe = recipe.for_mean()
            self._learner = recipe.learner(self._n_outputs)
            self._learner.enlarge_from(small, self.polished_.function)
        return growth.final

    def adopt_polish(self, polished: Polished) -> None:
        """Replace the weights of the atoms.

        Parameters
        ----------
        polished : Polished
            The weights and their accuracy, for encoded targets; see `encode_targets`.
        """
        with self._unchanged_on_error():
            learner, self.polished_ = self.learner_, polished
            learner.adopt(polished.function)

    def _take_risk(self, X: Array, Y: Array, weight: Array) -> None:
        """Continue under the risk of the parameters, after the mean has found the atoms."""
        mean, self._learner = self._learner, self._recipe(X).learner(self._n_outputs)
        g, losses, counted = np.zeros(self.risk_.n_inner), np.zeros(0), weight > 0.0
        if counted.any():
            F = mean.evaluate(X[counted])
            g = self.risk_.estimate_at(self.loss_, F, Y[counted], weight[counted])
            losses = self.loss_.value(F, Y[counted])
        self._learner.continue_from(mean, g, losses)
