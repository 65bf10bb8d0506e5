"""A fit over partitions: a sample chooses kernel, atoms and λ; sums over all rows the weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from colk.distributed.engines import Parts
from colk.distributed.rows import (
    OutlierRule,
    Rows,
    Summary,
    encode_rows,
    normalise_block,
    sample_rows,
    summarise_rows,
    weight_block,
)
from colk.distributed.sources import Partitions
from colk.losses import Huber, Loss
from colk.risks import AUC, GroupRisk, Mean, Risk
from colk.rkhs.polishing import RowBlocks, solve_by_sums, starts_from_mean

__all__ = ["Drawn", "draw", "encoded_blocks", "polish_by_sums", "total_counts"]

# Accuracy of the weights, as in a local fit.
_TOLERANCE = 1e-3
# As in the outliers of a local fit: limits in spreads of the residuals.
_LEFT_OUT, _LAST_THRESHOLD, _NORMAL = 5.0, 3.0, 1.4826


@dataclass(frozen=True, eq=False)
class Drawn:
    """The partitions that have rows, and a sample of them."""

    parts: Parts
    summaries: Sequence[Summary]
    sample: Rows

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(summary.n_rows for summary in self.summaries)

    @property
    def is_whole(self) -> bool:
        """Whether the sample has all rows that have a weight."""
        return len(self.sample.points) == self.n_rows


def draw(partitions: Partitions, size: int, seed: int, are_labels: bool) -> Drawn:
    """Look at all partitions, leave empty ones out, and draw rows of each in proportion."""
    parts = partitions.parts
    found = parts.fetch(parts.each(summarise_rows, are_labels))
    places = [k for k, summary in enumerate(found) if summary.weight > 0.0]
    if not places:
        raise ValueError("no partition has a row with a weight")
    summaries = [found[k] for k in places]
    for name in ("n_features", "target_shape"):
        shapes = {getattr(summary, name) for summary in summaries}
        if len(shapes) > 1:
            raise ValueError(f"partitions differ in {name}: {sorted(map(str, shapes))}")
    parts, n_rows = parts.chosen(places), sum(summary.n_rows for summary in summaries)
    sizes = [-(-size * summary.n_rows // n_rows) for summary in summaries]
    own = list(zip(sizes, places, strict=True))
    drawn = parts.fetch(parts.each(sample_rows, seed, are_labels, per_block=[own]))
    sample = Rows(*(np.concatenate(each) for each in zip(*drawn, strict=True)))
    return Drawn(parts, summaries, sample)


def total_counts(summaries: Sequence[Summary]) -> dict[Any, int]:
    """Return the number of rows of each label, over all partitions."""
    labels = reduce(np.union1d, [summary.labels for summary in summaries])
    counts = np.zeros(len(labels), dtype=np.int64)
    for summary in summaries:
        counts[np.searchsorted(labels, summary.labels)] += summary.counts
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def encoded_blocks(
    drawn: Drawn,
    estimator: Any,
    class_weight: dict[Any, float] | None,
    outliers: OutlierRule | None = None,
) -> tuple[Parts, float, int]:
    """Return blocks with shares that sum to 1, the sum of the weights, and the rows left out."""
    blocks = drawn.parts.derive(encode_rows, estimator, class_weight, outliers)
    total, left_out = blocks.total(weight_block)
    return blocks.derive(normalise_block, total), total, left_out


def polish_by_sums(estimator: Any, drawn: Drawn, class_weight: dict[Any, float] | None) -> None:
    """Give the atoms of a fitted estimator the weights that are best for all rows."""
    found = estimator.polished_
    if isinstance(estimator.risk_, AUC):  # the rarer class decides λ: the sample's weights stay
        return
    loss, rule = _without_outliers(estimator, drawn.sample)
    blocks, total, left_out = encoded_blocks(drawn, estimator, class_weight, rule)
    few = encode_rows(drawn.sample, estimator, class_weight, rule)
    part = float(np.sum(few.share))
    risk = _chosen_risk(estimator)
    # λ counts in samples: the sample has this part of the weight.
    regularization = found.regularization * part / total
    # A risk looks at few rows, of which a sample has fewer still.
    is_plain = risk.n_inner == 0 and not loss.kinks
    sample = RowBlocks([normalise_block(few, part)]) if is_plain else None
    function, solution = solve_by_sums(
        blocks,
        found.function,
        loss,
        risk,
        regularization,
        sample=sample,
        tolerance=_TOLERANCE,
    )
    estimator.adopt_polish(
        replace(
            found,
            function=function,
            value=float(solution.value),
            regularization=regularization,
            gap=float(solution.gap),
            n_steps=solution.n_steps,
            converged=solution.converged,
            n_outliers=left_out,
        )
    )


def _chosen_risk(estimator: Any) -> Risk:
    """Return the risk that the fit of the sample has decided for."""
    risk: Risk = estimator.risk_
    if isinstance(risk, GroupRisk):
        raise ValueError("the risk of groups needs the groups of all rows; fit it on one machine")  # noqa: TRY004
    path = estimator.risk_path_
    if starts_from_mean(risk) and path is not None:
        chosen: Risk = Mean() if path.kept_the_mean else path.chosen_risk
        return chosen
    return risk


def _without_outliers(estimator: Any, sample: Rows) -> tuple[Loss, OutlierRule | None]:
    """Return the loss, and the rule for rows that are left out, as in the fit of the sample."""
    if not estimator.polished_.n_outliers:
        return estimator.loss_, None
    function, targets = estimator.polished_.function, estimator.encode_targets(sample.targets)
    values = function(sample.points).reshape(len(targets), -1)
    residuals = targets.reshape(len(targets), -1) - values
    centre = np.median(residuals, axis=0)
    spread = _NORMAL * float(np.median(np.abs(residuals - centre).max(axis=1)))
    threshold = min(_LAST_THRESHOLD * spread, 1.0)
    loss = Huber(threshold) if threshold > 0.0 else estimator.loss_
    return loss, OutlierRule(function, centre, _LEFT_OUT * spread)
