"""How good a fitted model is on rows that it has not learned, by leaving out one row at a time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array
from colk.rkhs.polishing import Block, FinalPolish, predict_left_out
from colk.tabular.record import Predicted, Score

if TYPE_CHECKING:
    from colk.tabular.model import TableModel

__all__ = ["LeftOutRows"]

# Largest number of rows to draw.
_SHOWN = 1000


class LeftOutRows:
    """Predictions of rows of a fit, each by the weights that the other rows would give.

    Kernel, scales and atoms stay. The predictions are in closed form; see
    `colk.rkhs.predict_left_out`.

    Parameters
    ----------
    model : TableModel
        The model.
    final : FinalPolish
        Its weights on the rows.
    rows : Block
        The rows as the learner sees them; those of weight 0 did not fit the weights.

    Attributes
    ----------
    y : array of shape (n,)
        Numbers or labels.
    predicted : Predicted
        Their predictions and errors.
    score : Score
        Sums of the errors.
    """

    def __init__(self, model: "TableModel", final: FinalPolish, rows: Block) -> None:
        found = final.polished
        values = predict_left_out(
            found.function,
            rows.points,
            rows.targets,
            final.loss,
            found.regularization,
            sample_weight=rows.share,
        )
        known = _numbers if model.task == "regression" else _labels
        self.y, self.predicted = known(model, values, rows.targets)
        self.score = Score()
        self.score.add(self.predicted)

    @property
    def sample(self) -> list[list[Any]]:
        """At most 1,000 pairs of target and prediction, at equal distances."""
        step = -(-len(self.y) // _SHOWN)
        pairs = zip(self.y[::step], self.predicted.values[::step], strict=True)
        return [list(pair) for pair in pairs]


def _numbers(model: "TableModel", values: Array, targets: Array) -> tuple[Array, Predicted]:
    center, unit = model.target_center, model.target_unit
    y, predictions = center + unit * targets, center + unit * values
    sizes = np.abs(y - predictions)
    return y, Predicted(predictions, None, sizes, sizes)


def _labels(model: "TableModel", values: Array, targets: Array) -> tuple[Array, Predicted]:
    names, shares = np.array(model.labels, dtype=object), None
    if model.loss.kind == "binary":
        places, guesses = (targets > 0.0).astype(int), (values > 0.0).astype(int)
    else:
        places, guesses = targets.astype(int), values.argmax(axis=1)
    wrong = sizes = np.asarray(places != guesses, dtype=np.float64)
    if model.loss.is_likelihood:
        shares = model.loss.probability(values)
        if model.loss.kind == "binary":
            shares = np.column_stack([1.0 - shares, shares])
        sizes = 1.0 - shares[np.arange(len(places)), places]
    return names[places], Predicted(names[guesses], shares, sizes, wrong)
