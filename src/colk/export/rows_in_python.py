"""The encoding of a table's rows as Python source that needs only the standard library."""

from typing import Any

from colk._encoding.dates import CYCLES, DAY, YEAR_2000
from colk._encoding.effects import FARTHEST_EFFECT, FREQUENCIES, CategoryEffects
from colk._encoding.encoder import OTHER, TableEncoder
from colk._encoding.gap_columns import MISSING
from colk._encoding.gaps import FARTHEST

__all__ = ["encoding_constants", "write_encoding"]


def write_encoding(encoder: TableEncoder) -> str:
    """Return the source of `encode(rows)`, which turns dictionaries of raw cells into points.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.

    Examples
    --------
    >>> from colk._encoding.columns import Column
    >>> module = {}
    >>> exec(write_encoding(TableEncoder([Column("size", "number")], {"size": 2.0})), module)
    >>> module["encode"]([{"size": 3}, {"size": None}])
    [[3.0], [2.0]]
    """
    known = "\n".join(f"{name} = {value!r}" for name, value in encoding_constants(encoder).items())
    parts = [_IMPORTS, known, _CELLS]
    parts += [_FILLED_FROM_OTHERS if encoder.filler is not None else _FILLED]
    parts += [_EFFECT] if encoder.effects else []
    return "\n\n".join(part.strip("\n") + "\n" for part in [*parts, _ENCODE])


def encoding_constants(encoder: TableEncoder) -> dict[str, Any]:
    """Return what the encoder knows, by the name of a constant.

    Parameters
    ----------
    encoder : TableEncoder
        The encoder.

    Examples
    --------
    >>> from colk._encoding.columns import Column
    >>> encoding_constants(TableEncoder([Column("size", "number")], {"size": 2.0}))["TYPICAL"]
    [2.0]
    """
    codes = {
        name: {value: float(code) for code, value in enumerate(encoder.values_of(name), 1)}
        for name, kind in encoder.columns
        if kind == "category"
    }
    cycles = {
        name: [(CYCLES[cycle], cycle == "week") for cycle in found]
        for name, found in encoder.cycles.items()
    }
    constants = encoder.constants
    places = [] if constants is None else constants.places.tolist()
    values = [] if constants is None else constants.values[constants.places].tolist()
    known: dict[str, Any] = {
        "COLUMNS": [tuple(column) for column in encoder.columns],
        "CODES": codes,
        "CYCLES": cycles,
        "KEPT": encoder.n_fixed - len(codes),
        "CONSTANT": list(zip(places, values, strict=True)),
        "GAPS": encoder.gap_places,
        "TYPICAL": encoder.typical_cells.tolist(),
        "EFFECTS": [_of_effects(each) for each in encoder.effects],
    }
    filler = encoder.filler
    if filler is not None:
        known |= {
            "MEANS": filler.center.tolist(),
            "UNITS": filler.unit.tolist(),
            "CORRELATIONS": filler.correlations.tolist(),
            "PREDICTORS": list(encoder.predictors.items()),
        }
    return known


def _of_effects(effects: CategoryEffects) -> dict[str, object]:
    """Return the effects of a category for new rows: a table (values, terms) for each target."""
    return {
        "column": effects.column,
        "numbers": list(effects.numbers),
        "center": effects.center.tolist(),
        "unit": effects.unit.tolist(),
        "frequencies": list(FREQUENCIES) if effects.has_curves else [],
        "tables": effects.tables[0].tolist(),
    }


_IMPORTS = """
from datetime import date, datetime, timedelta, timezone
from math import cos, floor, inf, isnan, nan, pi, sin, sqrt
"""

_CELLS = f"""
def is_gap(value):
    return value is None or value != value


def number(value):
    return nan if is_gap(value) else float(value)


def seconds(value):
    if is_gap(value):
        return nan
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, date):
        return float(value)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is None:
        value = value.replace(tzinfo=timezone.utc)
    start = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (value - start) // timedelta(microseconds=1) / 1e6


def code(value, codes):
    return {MISSING!r} if is_gap(value) else codes.get(str(value), {OTHER!r})


def circle(moment, period, whole_days):
    if isnan(moment):
        return [nan, nan]
    if whole_days:
        moment = floor(moment / {DAY!r}) * {DAY!r}
    angle = 2.0 * pi * (moment / period)
    return [sqrt(2.0) * sin(angle), sqrt(2.0) * cos(angle)]


def raw_cells(row):
    for name, _ in COLUMNS:
        if name not in row:
            raise ValueError("a row must have the column %r" % name)
    numbers, circles, codes = [], [], []
    for name, kind in COLUMNS:
        if kind == "number":
            numbers.append(number(row[name]))
        elif kind == "date":
            moment = seconds(row[name])
            numbers.append((moment - {YEAR_2000!r}) / {CYCLES["year"]!r})
            for period, whole_days in CYCLES[name]:
                circles += circle(moment, period, whole_days)
        else:
            codes.append(code(row[name], CODES[name]))
    return numbers + circles + codes
"""

_FILLED = """
def filled(cells):
    return [t if isnan(c) else c for c, t in zip(cells[:KEPT], TYPICAL)]
"""

# The expected values of the gaps, by Gaussian elimination on the correlations of the other cells.
_FILLED_FROM_OTHERS = f"""
def filled(cells):
    kept = cells[:KEPT]
    if not any(map(isnan, kept)):
        return kept
    for place, n_values in PREDICTORS:
        found = cells[KEPT + place]
        values = range(1, n_values + 1)
        kept = kept + [nan if found == {MISSING!r} else float(found == v) for v in values]
    known = [k for k, cell in enumerate(kept) if not isnan(cell)]
    rows = [
        [CORRELATIONS[i][j] for j in known] + [(kept[i] - MEANS[i]) / UNITS[i]] for i in known
    ]
    for k, pivot in enumerate(rows):
        rows[k] = pivot = [value / pivot[k] for value in pivot]
        for i, other in enumerate(rows):
            if i != k:
                rows[i] = [a - other[k] * b for a, b in zip(other, pivot)]
    weights = [row[-1] for row in rows]
    for k in range(KEPT):
        if isnan(kept[k]):
            value = sum(CORRELATIONS[k][j] * w for j, w in zip(known, weights))
            kept[k] = MEANS[k] + UNITS[k] * min(max(value, {-FARTHEST!r}), {FARTHEST!r})
    return kept[:KEPT]
"""

_EFFECT = f"""
def effects_of(row, effects):
    place = int(row[effects["column"]])
    known = 0 <= place < len(effects["tables"][0])
    numbers = [
        min(max((row[k] - m) / u, {-FARTHEST_EFFECT!r}), {FARTHEST_EFFECT!r})
        for k, m, u in zip(effects["numbers"], effects["center"], effects["unit"])
    ]
    terms = [1.0] + numbers
    for frequency in effects["frequencies"]:
        terms += [sin(frequency * z) for z in numbers] + [cos(frequency * z) for z in numbers]
    return [
        sum(t * a for t, a in zip(terms, table[place])) if known else 0.0
        for table in effects["tables"]
    ]
"""

_ENCODE = """
def encode_row(row):
    cells = raw_cells(row)
    marks = [float(isnan(cells[k])) for k in GAPS]
    for k, value in CONSTANT:
        cells[k] = value
    encoded = filled(cells) + cells[KEPT:] + marks
    return encoded + [value for effects in EFFECTS for value in effects_of(encoded, effects)]


def encode(rows):
    return [encode_row(row) for row in rows]
"""
