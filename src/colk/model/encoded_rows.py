"""Rows of a fit as the learner takes them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colk.model.inputs import Inputs
from colk.model.parts import Part
from colk.model.sample import Sample
from colk.model.targets import Targets
from colk.rkhs.polishing import Block, FinalPolish, OutlierRule

__all__ = ["Encoding", "rows_at", "rule_of"]


@dataclass(frozen=True, eq=False)
class Encoding:
    """Encodes rows of the data of a fit, wherever they are; outliers get weight 0.

    Parameters
    ----------
    inputs : Inputs
        The inputs.
    targets : Targets
        The targets.
    rule : OutlierRule or None
        The rule that finds outliers.
    """

    inputs: Inputs
    targets: Targets
    rule: OutlierRule | None = None

    def __call__(self, part: Part) -> Block:
        """Return the rows as the learner takes them; the shares are still weights."""
        X = self.inputs.encode(part.source, part.numbers)
        Y = self.targets.encode(part.y)
        weight = self.targets.weigh(part.y, part.weight)
        if self.rule is not None:
            weight = np.where(self.rule.outliers(X, Y), 0.0, weight)
        return Block(X, Y, weight)


def rows_at(rows: Block, places: NDArray[np.intp]) -> Block:
    """Return the rows at these places."""
    return Block(*(array[places] for array in rows))


def rule_of(final: FinalPolish, rows: Block, drawn: Sample) -> OutlierRule:
    """Return the rule that finds outliers, if possible from rows that did not fit the function."""
    others = np.setdiff1d(np.arange(len(rows.share)), drawn.chosen)
    judged = rows_at(rows, others if len(others) else drawn.chosen)
    return OutlierRule.of(final.polished.function, *judged)
