"""The fit of several quantiles: shared atoms, one function and one constant for each level."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from sklearn.utils import check_random_state

from colk._engine.thread_pool import map_in_threads
from colk._validation import Array
from colk.learners.quantiles import QuantileCOLK
from colk.losses import Pinball
from colk.model.coverage import conformal_quantile, warn_of_levels, weighted_quantile
from colk.model.fit import Fit
from colk.model.quantile_levels import CrossValidation, LeaveOneOut
from colk.model.quantile_sums import (
    conformal_of_blocks,
    quantile_of_blocks,
    residual_block,
    shifted_block,
)
from colk.model.rows import Rows
from colk.model.sample import RowSample
from colk.model.sample_fit import LEAST_REGULARIZATION
from colk.model.settings import Settings
from colk.model.targets import QuantileTargets
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import Block, FinalPolish, solve_by_sums
from colk.rkhs.polishing.span import Span

__all__ = ["QuantileFit"]

# Up to this many samples, all may become atoms, and cross-validation chooses λ and the constants.
_FEW = 500
_FOLDS = 5
# Of more samples, this share may become atoms. Atoms are unusual samples, so the other samples
# measure the coverage.
_ATOM_SHARE = 0.6

_TOLERANCE = 1e-3


class QuantileFit(Fit):
    """A `Fit` of quantiles; the parameters are those of `Fit`.

    Attributes
    ----------
    regularizations : array of shape (Q,)
        The λ of each level.

    Examples
    --------
    >>> from colk.losses import Quantiles
    >>> from colk.model.passes import Passes
    >>> from colk.model.rows import LocalRows
    >>> X, loss = np.linspace(-1.0, 1.0, 300)[:, None], Quantiles((0.1, 0.9))
    >>> rows = LocalRows(lambda: [(X, np.sin(3.0 * X[:, 0]), np.ones(300))], is_whole=True)
    >>> fit = QuantileFit(Settings(loss=loss), Passes(random_state=0), QuantileTargets(loss))
    >>> fit.run(rows).learner.offsets.shape
    (2,)
    """

    regularizations: Array

    @property
    def settings(self) -> Settings:
        """The settings of the passes, which make gradient steps and forget nothing."""
        return replace(super().settings, forgetting=Settings.forgetting)

    def choose(self, sample: RowSample) -> tuple[FinalPolish | None, Block]:
        """Find the atoms in passes over some of the samples, then the weights of each level."""
        drawn = sample.drawn()
        X, Y, weight = self._begin(sample, drawn, self._find_inputs(drawn), drawn.weight)
        few = Block(X[drawn.chosen], Y[drawn.chosen], weight[drawn.chosen])
        n = len(few.points)
        if n < 2:
            raise ValueError(f"quantiles need at least 2 samples, got n_samples = {n}")
        order = check_random_state(self.passes.random_state).permutation(n)
        size = n if n <= _FEW else int(_ATOM_SHARE * n)
        fitting = np.sort(order[:size])
        self._find_atoms(*(rows[fitting] for rows in few))
        y = few.targets[:, 0]
        if n <= _FEW:
            self._finish(CrossValidation(few.points, y, few.share, order % _FOLDS))
        else:
            self._finish(LeaveOneOut(few.points, y, few.share, np.sort(order[size:])))
        return None, few

    def _adds_atoms(self) -> bool:
        """Return False, because all levels keep the atoms of the pass."""
        return False

    def _conclude(self, X: Array, Y: Array, weight: Array, lost: float) -> None:
        """Do nothing: `_finish` polishes, and warnings about gradients do not apply here."""

    def _finish(self, samples: CrossValidation | LeaveOneOut) -> None:
        """Find the weights of each level, and the constant that gives it its coverage."""
        levels = cast(QuantileTargets, self.targets).loss.levels
        warn_of_levels(levels, len(samples.judged))
        shared = self.learner.function
        start = KernelExpansion(shared.kernel, shared.atoms, np.zeros(shared.n_atoms))
        span = Span(shared.kernel, samples.X, shared.atoms) if shared.n_atoms else None
        least = max(self.recipe.regularization, LEAST_REGULARIZATION)

        def fit(level: float) -> tuple[Array, float, float]:
            # Far from the atoms f is 0, and the prediction is then the quantile of all targets.
            centre = weighted_quantile(samples.y, samples.weight, level)
            if span is None:
                function, regularization, unseen = start, least, np.zeros(len(samples.y))
            else:
                function, regularization, unseen = samples.fit(start, span, centre, level, least)
            residuals = (samples.y - centre - unseen)[samples.judged]
            shift = conformal_quantile(residuals, samples.weight[samples.judged], level)
            return function.weights, centre + shift, regularization

        weights, constants, chosen = zip(*map_in_threads(fit, levels), strict=True)
        self._start_stream(weights, constants, chosen, samples.X, samples.y)

    def _start_stream(
        self,
        weights: Sequence[Array],
        constants: Sequence[float],
        regularizations: Sequence[float],
        X: Array,
        y: Array,
    ) -> None:
        """Make the learner of a stream that starts from these weights and constants."""
        self.regularizations = np.array(regularizations)
        settings = replace(self.settings, forgetting=self._given.forgetting).for_quantile_stream()
        learner = replace(self.recipe, settings=settings).learner()
        assert isinstance(learner, QuantileCOLK)
        learner.start_from(self.learner, np.column_stack(weights), np.array(constants), X, y)
        self.learner = learner

    def weigh(self, rows: Rows, sample: RowSample, final: FinalPolish | None, few: Block) -> None:
        """Find the weights and the constant of each level for all rows.

        Left-out rows have larger residuals than fitted rows. The difference, measured on the
        sample, shrinks as 1/n, and is added to the constants.
        """
        learner = self.learner
        if sample.is_whole or learner.n_atoms == 0:
            return
        assert isinstance(learner, QuantileCOLK)
        levels = cast(QuantileTargets, self.targets).loss.levels
        blocks, part = self.shares_of(rows, sample, None, few)
        targets, shared = blocks.each(residual_block, None), learner.function
        found = []
        for k, level in enumerate(levels):
            start = KernelExpansion(shared.kernel, shared.atoms, shared.weights[:, k])
            fitted = weighted_quantile(residual_block(few, start), few.share, level)
            centre = quantile_of_blocks(blocks, targets, level)
            shifted = blocks.derive(shifted_block, centre)
            decay = float(self.regularizations[k]) * part
            function, _ = solve_by_sums(
                shifted, start, Pinball(level), None, decay, tolerance=_TOLERANCE
            )
            residuals = shifted.each(residual_block, function)
            constant = centre + conformal_of_blocks(shifted, residuals, level, sample.n_rows)
            constant += part * (float(learner.offsets[k]) - fitted)
            found.append((function.weights, constant, decay))
        weights, constants, decays = zip(*found, strict=True)
        self._start_stream(weights, constants, decays, few.points, few.targets[:, 0])
