"""The summary that `colk fit` prints."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from colk.cli.quality import Quality, tell_score
from colk.learners import DriftEvent
from colk.rkhs.polishing import RiskPath
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from colk.cli.run import Run

__all__ = ["before_learning", "quality_lines", "shortened", "summary", "tell_drifts", "tell_path"]

# Largest number of drifts in the summary, and of feature names for each.
_MOST_DRIFTS, _MOST_NAMES = 3, 3


def summary(run: "Run") -> dict[str, str]:
    """Return the lines of the summary by name."""
    model, record = run.model, run.record
    lines = quality_lines(model) or {"error": before_learning(record, model)}
    lines["rows"] = f"{model.rows:,} learned, {run.rejects.count:,} rejected"
    if run.left_out.calibration > 0.0:
        share = f"{100.0 * run.left_out.calibration:.0f} %"
        lines["rows"] += f"; {share} of the rows set the width of the intervals"
    risk = math.nan if model.polish else model.prequential_risk  # a polish has used the rows
    if math.isfinite(risk):
        unit = "" if model.task == "classification" else ", in standard deviations of the target"
        lines["risk"] = f"{risk:.4g}, {model.risk} of the latest 1,000 such losses{unit}"
    if record.drifts:
        lines["drift"] = tell_drifts(record.drifts)
    lines["atoms"] = f"{model.n_atoms} of {shortened(str(model.kernel))}"
    if model.n_atoms == model.settings.max_atoms:
        lines["atoms"] += "; this is the limit: a larger --max-atoms may lower the error"
    if model.path is not None:
        lines["risk"] = tell_path(model.path)
    return lines


def quality_lines(model: TableModel) -> dict[str, str]:
    """Return the errors of a finished model by name; none if it has learned more rows since."""
    known = Quality.of_notes(model.notes)
    is_of_model = known is not None and model.notes.get("rows") == model.rows
    return known.lines(model) if known is not None and is_of_model else {}


def before_learning(record: RunRecord, model: TableModel, n_passes: int = 1) -> str:
    """Return the error of the rows before they were learned, as text.

    Examples
    --------
    >>> state = {"rows": 4, "absolute": 2.0, "squares": 16.0}
    >>> before_learning(RunRecord(state), TableModel("y", ["x"], task="classification"), 2)
    'before learning: 50.00 % wrong, over 2 passes'
    """
    over = "" if n_passes == 1 else f", over {n_passes} passes"
    deviation = math.nan
    if model.task == "regression" and record.sample:
        deviation = float(np.std([target for target, _ in record.sample]))
    return f"before learning: {tell_score(record, model, deviation)}{over}"


def tell_drifts(drifts: Sequence[DriftEvent]) -> str:
    """Return the first drifts as text.

    Examples
    --------
    >>> tell_drifts([DriftEvent(1200, 0.8, {"wind": 1.3}), DriftEvent(5000, 0.25)])
    'the error rose by 80 % at learned row 1,200 (wind changed), by 25 % at learned row 5,000'
    """
    told = []
    for event in drifts[:_MOST_DRIFTS]:
        names = ", ".join(str(name) for name in list(event.features)[:_MOST_NAMES])
        because = f" ({names} changed)" if names else ""
        rise = 100.0 * event.severity
        size = f"by {rise:.0f} %" if rise >= 0.5 else "by less than 1 %"
        told.append(f"{size} at learned row {event.time:,}{because}")
    more = len(drifts) - len(told)
    return f"the error rose {', '.join(told)}" + (f", and {more} more times" if more else "")


def shortened(text: str) -> str:
    """Return a text in which numbers are rounded to four digits.

    Examples
    --------
    >>> shortened("Gaussian(bandwidth=1.2345678)")
    'Gaussian(bandwidth=1.235)'
    """
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda found: f"{float(found[0]):.4g}", text)


def tell_path(path: RiskPath) -> str:
    """Return the choice on the path from the mean to the risk, as text.

    Examples
    --------
    >>> from colk.risks import CVaR, Mean
    >>> from colk.rkhs.polishing import PathPoint
    >>> mean = PathPoint(0.0, 1.0, 1.5, 0.5, 0.0, 0.0, 0.0)
    >>> tell_path(RiskPath(CVaR(0.1), (mean,), mean, Mean(), 1e-4, 1000))
    'the model of the mean stays, because no weight of CVaR lowers CVaR on left-out rows'
    """
    name = type(path.risk).__name__
    if path.kept_the_mean:
        return (
            f"the model of the mean stays, because no weight of {name} lowers {name} on left-out "
            "rows"
        )
    lower = 100.0 * path.chosen.gain / abs(path.points[0].held_out)
    return f"{name} on left-out rows is {lower:.0f} % lower than with the model of the mean"
