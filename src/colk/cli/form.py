"""The form of a page that predicts while one types."""

import math
from typing import Any

import numpy as np

from colk._encoding.dates import seconds_of
from colk.cli.pages.render import Markup
from colk.export.javascript import to_javascript, written
from colk.tabular import TableModel
from colk.tabular.intervals import conformal_ends

__all__ = ["digits_of", "form"]

# Largest number of fields, of values of a category in a list, and of characters of the script.
_MOST_FIELDS = 60
_MOST_VALUES = 200
_LONGEST = 2_000_000


def form(model: TableModel) -> dict[str, Any] | None:
    """Return the fields, the script and the settings of the form; None if it would be too large.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    """
    if len(model.features) > _MOST_FIELDS:
        return None
    script = to_javascript(model)
    if len(script) > _LONGEST:
        return None
    middle = dict(zip(model.columns, zip(model.center, model.unit, strict=True), strict=True))
    fields = [_field(model, name, *middle.get(name, (0.0, 1.0))) for name in model.features]
    told = {
        "target": model.target,
        "kinds": {each["name"]: each["kind"] for each in fields},
        "digits": digits_of(model.target_unit) if model.task == "regression" else 0,
        "labels": list(model.labels),
        "ends": _ends(model),
    }
    return {"fields": fields, "script": Markup(script), "told": Markup(written(told))}


def _field(model: TableModel, name: str, middle: float, unit: float) -> dict[str, Any]:
    field = {"name": name, "kind": "number", "value": "", "values": []}
    if name in model.categorical:
        values = model.category_values(name)[:_MOST_VALUES]
        return field | {"kind": "text", "values": values, "value": next(iter(values), "")}
    if name in model.dates:
        day = np.datetime64(round(float(seconds_of(np.array(middle)))), "s").astype("M8[D]")
        return field | {"kind": "date", "value": f"{day}T12:00"}
    return field | {"value": f"{middle:.{digits_of(unit)}f}"}


def digits_of(unit: float) -> int:
    """Return the number of decimals of a number that varies by this unit.

    Examples
    --------
    >>> digits_of(1200.0), digits_of(3.0), digits_of(0.02)
    (0, 2, 4)
    """
    if not 0.0 < unit < math.inf:
        return 2
    return min(max(2 - math.floor(math.log10(unit)), 0), 12)


def _ends(model: TableModel) -> list[float] | None:
    """Return the ends of the interval relative to a prediction, and its coverage, if there are."""
    coverage = model.notes.get("intervals")
    if coverage is None or not len(model.residuals):
        return None
    try:
        return [*conformal_ends(model.residuals, coverage), float(coverage)]
    except ValueError:  # there are too few residuals
        return None
