"""The summary that `colk fit` prints."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.quality import Quality, tell_score
from colk.kernels import Mixed
from colk.learners import DriftEvent
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from colk.cli.run import Run

__all__ = ["error_lines", "is_stream", "kernel_of", "shortened", "summary", "tell_drifts"]

# Largest number of drifts in the summary, and of feature names for each.
_MOST_DRIFTS, _MOST_NAMES = 3, 3


def summary(run: "Run") -> dict[str, str]:
    """Return the lines of the summary by name."""
    model, record = run.model, run.record
    lines = error_lines(model, record)
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
    lines["atoms"] = f"{model.n_atoms} of {kernel_of(model)}"
    if model.n_atoms == model.settings.max_atoms:
        lines["atoms"] += "; this is the limit: a larger --max-atoms may lower the error"
    if model.path is not None:
        lines["risk"] = model.path.told
    return lines


def error_lines(model: TableModel, record: RunRecord) -> dict[str, str]:
    """Return the errors of a model by name: how good it is, beside its baselines.

    Parameters
    ----------
    model : TableModel
        The model.
    record : RunRecord
        Errors that its run recorded.
    """
    known = Quality.of_notes(model.notes)
    if known is not None and model.notes.get("rows") == model.rows:
        return {**known.lines(model), **_order(model)}
    deviation = math.nan
    if model.task == "regression" and record.sample:
        deviation = float(np.std([target for target, _ in record.sample]))
    told = tell_score(record, model, deviation)
    if is_stream(model.notes):
        return {"error": f"before learning: {told}"}
    return {
        "error": f"{told}, on the rows that it has learned, so it is too small; --holdout 0.1 "
        "measures it on others",
        **_order(model),
    }


def is_stream(notes: Mapping[str, Any]) -> bool:
    """Whether rows were learned as they came, each one after it had been predicted.

    Examples
    --------
    >>> is_stream({"place": {"total": 0}}), is_stream({"place": {"total": 9}})
    (False, True)
    """
    place = notes.get("place")
    return isinstance(place, Mapping) and place.get("total", 0) > 0


def _order(model: TableModel) -> dict[str, str]:
    """Return a line on the order of the rows, if there is one."""
    names = model.notes.get("order")
    if not isinstance(names, list) or not names:
        return {}
    if model.target in names:
        return {"order": f"sorted by {model.target}, so errors along the rows say nothing of drift"}
    return {
        "order": f"by {names[0]}: later rows may be harder than rows left out; measure the model "
        "with colk evaluate on the latest rows, which it has not learned"
    }


def kernel_of(model: TableModel) -> str:
    """Return the kernel of a model without the numbers that it has for each column.

    Examples
    --------
    >>> model = TableModel("y", ["a", "b"], ["b"])
    >>> columns = {"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}
    >>> kernel_of(model.learn(columns, [1.0, 2.0, 3.0]))
    'Laplacian(bandwidth=1.0) with 1 category'
    """
    kernel: Any = model.kernel
    more = ""
    if isinstance(kernel, Mixed):
        n = len(kernel.categorical)
        kernel, more = kernel.kernel, f" with {n} {'category' if n == 1 else 'categories'}"
    told = re.sub(r"bandwidth=\([^)]*\)", "a bandwidth for each column", str(kernel))
    return shortened(told) + more


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
