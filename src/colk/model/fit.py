"""One fit for every door: settings and rows → inputs, atoms and weights.

1. `scan` reads all rows once, counts them, and draws a sample.
2. `choose` finds on the sample what is chosen: inputs, kernel, atoms, λ, outliers, and the point of
   the path to a risk. Up to `MOST_ROWS` rows the sample has all of them.
3. `weigh` finds the weights for all rows, on these atoms and with this λ.

Batches, files and partitions differ only in how their rows arrive (`colk.model.rows`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colk._encoding.constants import warn_of_constants
from colk.model.encoded_rows import Encoding, rows_at
from colk.model.rows import LocalRows, Rows
from colk.model.sample import RowSample
from colk.model.sample_fit import SampleFit
from colk.risks import GroupRisk
from colk.rkhs.deviations import Deviations
from colk.rkhs.polishing import (
    Block,
    FinalPolish,
    OutlierRule,
    RowBlocks,
    polish_all_rows,
    polish_groups,
)
from colk.rkhs.polishing.blocks import normalise_block, weight_block
from colk.selection import Relevance

__all__ = ["Fit"]


class Fit(SampleFit):
    """A fit to all rows: the sample chooses, and all rows find the weights; see `SampleFit`."""

    def run(self, rows: Rows, on_choice: "Callable[[Fit], None] | None" = None) -> "Fit":
        """Fit the model to all rows; return this object.

        Parameters
        ----------
        rows : Rows
            The rows.
        on_choice : callable, optional
            Called with this object when everything but the weights for all rows is found.
        """
        seed = self.passes.sample_seed()
        sample = rows.scan(RowSample(seed, self.targets.are_labels, self._sample_size))
        self.n_rows = sample.n_rows
        self.final, self.judged = self.choose(sample)
        if on_choice is not None:
            on_choice(self)
        few = rows_at(self.judged, np.flatnonzero(self.judged.share > 0.0))
        self.weigh(rows, sample, self.final, few)
        self._find_deviations(few)
        self.relevance = Relevance.of(self.learner.function, few.points)
        self.inputs.end_fit()
        warn_of_constants(self.inputs.encoder.constant_names)
        return self

    # -- the weights of all rows -------------------------------------------------------------

    def weigh(self, rows: Rows, sample: RowSample, final: FinalPolish | None, few: Block) -> None:
        """Find the weights for all rows, unless the sample has all of them.

        Parameters
        ----------
        rows : Rows
            All rows.
        sample : RowSample
            Their counts.
        final : FinalPolish or None
            The polish on the sample; None if nothing was polished.
        few : Block
            The rows that chose kernel, atoms and λ, without outliers.
        """
        if sample.is_whole:
            return
        if not self.passes.polish:
            self._learn_all(rows)
        elif final is not None:
            blocks, part = self.shares_of(rows, sample, final.rule, few)
            here = RowBlocks.of(few.points, few.targets, few.share / few.share.sum())
            found = polish_all_rows(final, blocks, here, part)
            n_outliers = 0 if self.polished is None else self.polished.n_outliers
            self.polished = replace(found, n_outliers=n_outliers)
            self.learner.adopt(found.function)
            self._report(f"weights for all samples: objective {found.value:.4g}")

    def _find_deviations(self, few: Block) -> None:
        """Keep what standard deviations need, if the polish minimised the mean of a loss of y."""
        loss, polished = self.targets.loss, self.polished
        is_mean = loss.kind == "regression" and self.recipe.risk.is_mean
        if is_mean and self.passes.solver == "gradient" and polished is not None:
            n, decay = self.n_rows - polished.n_outliers, polished.regularization
            self.deviations = Deviations.of(polished.function, *few[:2], n, loss, decay)

    def shares_of(
        self, rows: Rows, sample: RowSample, rule: OutlierRule | None, few: Block
    ) -> tuple[Any, float]:
        """Return all rows as blocks whose shares sum to 1, and the share of the sample in them.

        Parameters
        ----------
        rows, sample, few
            As for `weigh`.
        rule : OutlierRule or None
            The rule that finds outliers.
        """
        encode = Encoding(self.inputs, self.targets, rule)
        blocks, total = rows.blocks(encode, sample.n_rows, self.inputs.width), 0.0
        if rule is None:
            total = self.targets.total(sample)
        else:
            total, n_outliers = blocks.total(weight_block)
            self.polished = replace(self.polished, n_outliers=int(n_outliers))  # type: ignore[type-var]
        return blocks.derive(normalise_block, total), float(few.share.sum()) / total

    def _learn_all(self, rows: Rows) -> None:
        """Learn all rows by steps, in epochs, if no polish finds the weights."""
        assert isinstance(rows, LocalRows)  # those of a cluster need the polish
        encode = Encoding(self.inputs, self.targets)
        self.learner, self.loss_curve = self.recipe.learner(self.targets.n_outputs), []
        if rows.is_whole:
            block = encode(next(rows.parts()))
            self._make_passes(*block, check_random_state(self.passes.random_state))
            return
        for _ in range(self.passes.n_epochs):
            before = self.learner.loss_sums
            for part in rows.parts():
                self.learner.learn_checked(*encode(part))
            self.loss_curve.append(self.learner.loss_since(before))

    def weigh_groups(self, rows: LocalRows, groups: NDArray[Any]) -> None:
        """Minimise the risk of the groups over the weights.

        Parameters
        ----------
        rows : LocalRows
            All rows, in memory.
        groups : array of shape (n,)
            The group of each row with a positive weight.
        """
        risk, polished = cast(GroupRisk, self.recipe.risk), self.polished
        if polished is None or not risk.needs_groups:
            return
        X, Y, weight = Encoding(self.inputs, self.targets)(next(rows.parts()))
        loss = self.targets.loss
        self.polished = polish_groups(polished, X, Y, loss, risk, groups, sample_weight=weight)
        self.learner.adopt(self.polished.function)
        self.relevance = Relevance.of(self.learner.function, X)
