"""Export the model of a table as JavaScript, for pages."""

import json
from typing import Any, ClassVar

import numpy as np

from colk._encoding.dates import CYCLES, DAY, YEAR_2000
from colk._encoding.effects import FARTHEST_EFFECT
from colk._encoding.encoder import OTHER
from colk._encoding.gap_columns import MISSING
from colk._encoding.gaps import FARTHEST
from colk._validation import Array
from colk.export.formula import Formula, read, write_kernel
from colk.export.python import PlainWriter
from colk.export.rows_in_python import encoding_constants

__all__ = ["JavaScriptWriter", "to_javascript"]


class JavaScriptWriter(PlainWriter):
    """Writes the kernel value of one point x and one atom d in JavaScript.

    The operators are those of Python.
    """

    helpers: ClassVar[dict[str, str]] = {
        "squared_distance": """
const squared_distance = (x, d, scales) =>
  x.reduce((sum, u, k) => sum + ((u - d[k]) * scales[k]) ** 2, 0);
""",
        "city_block_distance": """
const city_block_distance = (x, d, scales) =>
  x.reduce((sum, u, k) => sum + abs(u - d[k]) * scales[k], 0);
""",
        "mismatch": """
const mismatch = (x, d, weights) =>
  weights.reduce((sum, w, k) => sum + (x[k] !== d[k] ? w : 0), 0);
""",
        "inner_product": """
const inner_product = (x, d) => x.reduce((sum, u, k) => sum + u * d[k], 0);
""",
        "part_of_inner_product": """
const part_of_inner_product = (x, d, counted) =>
  x.reduce((sum, u, k) => sum + u * d[k] * counted[k], 0);
""",
        "wave": """
const wave = (x, d) => {
  const turns = x.reduce((sum, u, k) => sum + u * d[k], d[d.length - 1]);
  return cos(2 * PI * (turns - round(turns)));
};
""",
    }

    def literal(self, array: Any) -> str:
        """Return an array as source text."""
        return written(array.tolist())


def written(value: Any) -> str:
    r"""Return a value as JavaScript that may stand inside a page.

    Examples
    --------
    >>> written({"a": ["</b>", float("inf")]})
    '{"a": ["\\u003c/b>", Infinity]}'
    """
    return json.dumps(value).replace("<", "\\u003c")


def to_javascript(model: Any) -> str:
    """Return a JavaScript function that makes the same predictions as the model of a table.

    `predict(row)` takes an object with raw cells: numbers, texts, dates as texts or as seconds
    since 1970, and null for gaps. It returns an object with `value`, a number or a label, and with
    `shares`, the probabilities of the labels, or null.

    Parameters
    ----------
    model : TableModel
        A fitted model.

    Returns
    -------
    str
        An expression whose value is the function.

    Examples
    --------
    >>> from colk.tabular import TableModel
    >>> model = TableModel("y", ["x"]).learn({"x": [1.0, 2.0, 3.0]}, [1.0, 2.0, 4.0])
    >>> to_javascript(model).splitlines()[1]
    '"use strict";'
    """
    formula = read(model)
    if formula.encoder is None or formula.count is not None:
        raise TypeError(f"JavaScript is written for models of tables, got {type(model).__name__}")
    writer = JavaScriptWriter(formula.atoms.shape[1])
    value = write_kernel(formula.kernel, writer)
    lines = [f"const {line};" for line in [*writer.constants, *_arrays(formula)]]
    known = encoding_constants(formula.encoder).items()
    lines += [f"const {name} = {written(constant)};" for name, constant in known]
    parts = [
        "(() => {",
        '"use strict";',
        "const {abs, cos, exp, floor, max, min, PI, round, sin, sqrt} = Math, inf = Infinity;",
        *lines,
        *(writer.helpers[name].strip() for name in sorted(writer.used)),
        "const kernel = (x, d) => {",
        *(f"  const {line};" for line in writer.lines),
        f"  return {value};",
        "};",
        _CELLS.strip(),
        (_FILLED if formula.encoder.filler is None else _FILLED_FROM_OTHERS).strip(),
        _ENCODE.strip(),
        _SCORE.strip(),
        _PREDICT[formula.probability or ("number" if formula.classes is None else "label")].strip(),
        "})()",
    ]
    return "\n".join(parts) + "\n"


def _arrays(formula: Formula) -> list[str]:
    """Return the assignments of the arrays of a formula."""
    p, q = formula.n_features, formula.n_outputs
    atoms: Array = formula.atoms
    if formula.kernel is None:
        atoms = np.column_stack([atoms, formula.phases])
    arrays: dict[str, Any] = {
        "ATOMS": atoms,
        "WEIGHTS": formula.weights.T,
        "UNIT": np.zeros(q) + formula.unit,
        "CENTER": np.zeros(q) + formula.center,
        "SHIFT": np.zeros(p) if formula.shift is None else formula.shift,
        "STRETCH": np.ones(p) if formula.stretch is None else formula.stretch,
    }
    found = [f"{name} = {written(array.tolist())}" for name, array in arrays.items()]
    metric = None if formula.metric is None else formula.metric.T.tolist()
    classes = None if formula.classes is None else formula.classes.tolist()
    return [*found, f"METRIC = {written(metric)}", f"CLASSES = {written(classes)}"]


_CELLS = f"""
const isGap = value => value === null || value === undefined || value === "" || value !== value;
const number = value => isGap(value) ? NaN : Number(value);
const seconds = value => {{
  if (isGap(value) || typeof value === "number") return number(value);
  const isZoned = /(Z|[+-]\\d\\d:?\\d\\d)$/.test(value) || !value.includes("T");
  return Date.parse(isZoned ? value : value + "Z") / 1000;
}};
const code = (value, codes) => {{
  if (isGap(value)) return {MISSING!r};
  return Object.hasOwn(codes, String(value)) ? codes[String(value)] : {OTHER!r};
}};
const circle = (moment, period, wholeDays) => {{
  const start = wholeDays ? floor(moment / {DAY!r}) * {DAY!r} : moment;
  const angle = 2 * PI * (start / period);
  return [sqrt(2) * sin(angle), sqrt(2) * cos(angle)];
}};
const rawCells = row => {{
  const numbers = [], circles = [], codes = [];
  for (const [name, kind] of COLUMNS) {{
    if (kind === "number") numbers.push(number(row[name]));
    else if (kind === "date") {{
      const moment = seconds(row[name]);
      numbers.push((moment - {YEAR_2000!r}) / {CYCLES["year"]!r});
      for (const cycle of CYCLES[name]) circles.push(...circle(moment, ...cycle));
    }} else codes.push(code(row[name], CODES[name]));
  }}
  return [...numbers, ...circles, ...codes];
}};
"""

_FILLED = """
const filled = cells => cells.slice(0, KEPT).map((cell, k) => isNaN(cell) ? TYPICAL[k] : cell);
"""

_FILLED_FROM_OTHERS = f"""
const filled = cells => {{
  const kept = cells.slice(0, KEPT);
  if (!kept.some(isNaN)) return kept;
  for (const [place, values] of PREDICTORS)
    for (let v = 1; v <= values; v++) {{
      const found = cells[KEPT + place];
      kept.push(found === {MISSING!r} ? NaN : Number(found === v));
    }}
  const known = kept.map((_, k) => k).filter(k => !isNaN(kept[k]));
  const rows = known.map(i =>
    [...known.map(j => CORRELATIONS[i][j]), (kept[i] - MEANS[i]) / UNITS[i]]);
  rows.forEach((_, k) => {{
    const pivot = rows[k] = rows[k].map((value, j, row) => value / row[k]);
    rows.forEach((other, i) => {{
      if (i !== k) rows[i] = other.map((a, j) => a - other[k] * pivot[j]);
    }});
  }});
  const weights = rows.map(row => row[row.length - 1]);
  for (let k = 0; k < KEPT; k++)
    if (isNaN(kept[k])) {{
      const value = known.reduce((sum, j, i) => sum + CORRELATIONS[k][j] * weights[i], 0);
      kept[k] = MEANS[k] + UNITS[k] * min(max(value, {-FARTHEST!r}), {FARTHEST!r});
    }}
  return kept.slice(0, KEPT);
}};
"""

_ENCODE = f"""
const effectsOf = (row, effects) => {{
  const place = row[effects.column];
  const known = place >= 0 && place < effects.tables[0].length;
  const numbers = effects.numbers.map((k, i) => {{
    const z = (row[k] - effects.center[i]) / effects.unit[i];
    return min(max(z, {-FARTHEST_EFFECT!r}), {FARTHEST_EFFECT!r});
  }});
  const terms = [1, ...numbers];
  for (const f of effects.frequencies)
    terms.push(...numbers.map(z => sin(f * z)), ...numbers.map(z => cos(f * z)));
  return effects.tables.map(table =>
    known ? terms.reduce((sum, t, k) => sum + t * table[place][k], 0) : 0);
}};
const encode = row => {{
  const cells = rawCells(row), marks = GAPS.map(k => Number(isNaN(cells[k])));
  for (const [k, value] of CONSTANT) cells[k] = value;
  const encoded = [...filled(cells), ...cells.slice(KEPT), ...marks];
  return [...encoded, ...EFFECTS.flatMap(effects => effectsOf(encoded, effects))];
}};
"""

_SCORE = """
const score = row => {
  let x = encode(row).map((u, k) => (u - SHIFT[k]) / STRETCH[k]);
  if (METRIC) x = METRIC.map(column => column.reduce((sum, a, k) => sum + a * x[k], 0));
  const values = ATOMS.map(d => kernel(x, d));
  const total = weights => weights.reduce((sum, w, j) => sum + w * values[j], 0);
  return WEIGHTS.map((weights, k) => total(weights) * UNIT[k] + CENTER[k]);
};
const best = values => CLASSES[values.indexOf(max(...values))];
"""

_PREDICT = {
    "number": "return row => ({value: score(row)[0], shares: null});",
    "label": """
return row => {
  const scores = score(row), two = scores.length === 1;
  return {value: two ? CLASSES[Number(scores[0] > 0)] : best(scores), shares: null};
};
""",
    "logistic": """
return row => {
  const s = score(row)[0], p = 1 / (1 + exp(-s));
  return {value: CLASSES[Number(s > 0)], shares: [1 - p, p]};
};
""",
    "softmax": """
return row => {
  const scores = score(row), powers = scores.map(s => exp(s - max(...scores)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return {value: best(scores), shares: powers.map(power => power / sum)};
};
""",
}
