"""Fit over partitions: a sample gives kernel, atoms and λ; sums over all rows give the weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from colk.distributed.engines import Parts
from colk.distributed.rows import (
    Rows,
    Summary,
    encode_rows,
    normalise_block,
    sample_rows,
    summarise_rows,
    weight_block,
    without_outliers,
)
from colk.distributed.sources import Partitions
from colk.risks import Mean, Risk
from colk.rkhs.polishing import (
    Block,
    FinalPolish,
    OutlierRule,
    RowBlocks,
    polish_all_rows,
    starts_from_mean,
)

__all__ = ["Drawn", "draw", "encoded_blocks", "polish_by_sums", "total_counts"]


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
        """Whether the sample has all rows."""
        return len(self.sample.points) == self.n_rows


def draw(partitions: Partitions, size: int, seed: int, are_labels: bool) -> Drawn:
    """Summarise all partitions, leave out empty ones, and draw rows from each in proportion."""
    parts = partitions.parts
    found = parts.fetch(parts.each(summarise_rows, are_labels))
    places = [k for k, summary in enumerate(found) if summary.weight > 0.0]
    if not places:
        raise ValueError("no partition has a row with a positive weight")
    summaries = [found[k] for k in places]
    for name in ("n_features", "target_shape"):
        shapes = {getattr(summary, name) for summary in summaries}
        if len(shapes) > 1:
            raise ValueError(f"partitions differ in {name}: {sorted(map(str, shapes))}")
    parts, n_rows = parts.chosen(places), sum(summary.n_rows for summary in summaries)
    sizes = [-(-size * summary.n_rows // n_rows) for summary in summaries]
    own = list(zip(sizes, places, strict=True))
    drawn = parts.fetch(parts.each(sample_rows, seed, are_labels, per_block=[own]))
    points, *others = zip(*drawn, strict=True)
    sample = Rows(_together(points), *(np.concatenate(each) for each in others))
    return Drawn(parts, summaries, sample)


def _together(tables: Sequence[Any]) -> Any:
    """Return arrays or data frames as one."""
    if not hasattr(tables[0], "iloc"):
        return np.concatenate(tables)
    import pandas

    return pandas.concat(tables, ignore_index=True)


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
    """Return blocks whose shares sum to 1, the sum of weights, and the number of outliers."""
    blocks = drawn.parts.derive(encode_rows, estimator, class_weight, outliers)
    total, left_out = blocks.total(weight_block)
    return blocks.derive(normalise_block, total), total, left_out


def polish_by_sums(estimator: Any, drawn: Drawn, class_weight: dict[Any, float] | None) -> None:
    """Minimise the objective of a fitted estimator on all rows over the weights of its atoms."""
    few = encode_rows(drawn.sample, estimator, class_weight, None)
    final = _of_sample(estimator, few)
    blocks, total, left_out = encoded_blocks(drawn, estimator, class_weight, final.rule)
    few = few if final.rule is None else without_outliers(few, final.rule)
    part = float(np.sum(few.share))
    sample = RowBlocks([normalise_block(few, part)])
    found = polish_all_rows(final, blocks, sample, part / total)
    estimator.adopt_polish(replace(found, n_outliers=left_out))


def _of_sample(estimator: Any, sample: Block) -> FinalPolish:
    """Return the polish that ended the fit of the sample."""
    found, rule, loss = estimator.polished_, None, estimator.loss_
    if found.n_outliers:
        rule = OutlierRule.of(found.function, sample.points, sample.targets, sample.share)
        loss = rule.loss
    return FinalPolish(found, loss, estimator.risk_path_, None, _chosen_risk(estimator), rule)


def _chosen_risk(estimator: Any) -> Risk:
    """Return the risk that the fit of the sample has chosen."""
    risk: Risk = estimator.risk_
    if risk.needs_groups:
        raise ValueError("the group risk needs the groups of all rows; fit it on one machine")
    path = estimator.risk_path_
    if starts_from_mean(risk) and path is not None:
        chosen: Risk = Mean() if path.kept_the_mean else path.chosen_risk
        return chosen
    return risk
