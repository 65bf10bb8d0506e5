"""The rules that `rules` switches off, and the constants that do it."""

from typing import Any, NamedTuple

__all__ = ["RULES", "Rule"]


class Rule(NamedTuple):
    """A rule, the constants that switch it off, where it acts, and a guarantee that needs it."""

    name: str
    changes: dict[str, Any]
    where: str = "fit"  # or "stream", or "both"
    guarantee: str = ""


def of(module: str, **changes: Any) -> dict[str, Any]:
    """Return the changes of constants of one module of colk."""
    return {f"colk.{module}:{name}": value for name, value in changes.items()}


RULES = (
    # -- columns
    Rule("effects of categories of many values", of("_encoding.effects", _FEW_VALUES=10**9)),
    Rule("effects: a curve for each value", of("_encoding.effects", _ROWS_FOR_CURVES=1e9)),
    Rule("effects: only the steepest slopes", of("_encoding.effects", _MOST_SLOPES=100)),
    Rule("effects: only from 150 values on", of("_encoding.effects", _FEW_VALUES=10)),
    Rule("gaps filled from the other cells", of("_encoding.gap_columns", MOST_COLUMNS=0), "both"),
    Rule("numbers of equal scale are not scaled", of("model.inputs", _APART=1.0)),
    # -- kernel and metric
    Rule("wider Gaussian", of("selection.contenders", _GAUSSIAN_WIDTH=1.0), "both"),
    Rule("race: more heats", of("selection.race", _SOLVED=1e9)),
    Rule("race: both halves are judged", of("selection.race", _FEW=0)),
    Rule("race: metrics", {"colk.selection.race:_with_metrics": "call:no list"}, "both"),
    Rule("race: matrices need rows", of("selection.race", _SAMPLES_PER_FEATURE=0)),
    Rule("race: a metric must be ahead", of("selection.judged", _AHEAD=0.0), "both"),
    Rule("race: labels need a larger lead", of("selection.judged", _AHEAD_FOR_LABELS=0.25), "both"),
    Rule("race: who is far behind leaves", of("selection.judged", _BEHIND=1e9)),
    Rule("metric: more than one round", of("selection.learning", _MOST=1), "both"),
    Rule("metric: rounds may get worse", of("selection.learning", _LOST=1.0), "both"),
    Rule("search stops when it is flat", of("selection.learning", _WORTH=0.0), "both"),
    # -- atoms and weights
    Rule("every row of 1,500 is an atom", of("model.growth", _ALL=0)),
    Rule("growth of atoms", of("model.growth", _WORK=0.0)),
    Rule("growth: a gain of 1 %", of("model.growth", _SHARE=0.0)),
    Rule("growth: a standard error", of("model.growth", _ERRORS=0.0)),
    Rule("eps follows the steps", of("model.defaults", _EPS_SHARE={
        "regression": 0.05, "binary": 0.05, "multiclass": 0.05
    }), "both"),
    Rule("a pass may end early", of("model.passes", USED=2.0)),
    Rule("the gradient bound", of("model.defaults", _GRADIENT_BOUND=1e9), "both",
         "a step is finite under any risk"),
    # -- outliers
    Rule("gross outliers are left out", of("rkhs.polishing.outliers", _SHARE=2.0)),
    Rule("fits without outliers are repeated", of("model.sample_fit", _REFITS=0)),
    Rule("skewed targets are no outliers", of("rkhs.polishing.outliers", _PREDICTED_SHARE=2.0)),
    Rule("tied targets have no outliers", of("rkhs.polishing.outliers", _TIED=2.0)),
    # -- streams
    Rule("another model takes over", of("model.contest", OVERTAKE=1e9), "stream"),
    Rule("... by 5 % of the loss", of("model.contest", SHARE=0.0), "stream"),
    Rule("... and leaves if hopeless", of("model.contest", HOPELESS=1e9), "stream"),
    Rule("races wait longer each time", of("model.contest", MOST_PATIENCE=10), "stream"),
    Rule("features that move on", of("model.trends", _SHARE=2.0), "stream"),
    Rule("... have a wider bandwidth", of("model.trends", _OF_RANGE_MOVING=1e-3), "stream"),
)  # fmt: skip
