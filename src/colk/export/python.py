"""Export models as Python source that needs only the standard library, or only NumPy."""

from typing import Any, ClassVar

import numpy as np

from colk._validation import Array
from colk._version import __version__
from colk.export.formula import Formula, read, write_kernel
from colk.export.pairs import python_count
from colk.export.rows_in_python import write_encoding
from colk.kernels.formulas import Bandwidth, Columns, scales_of

__all__ = ["NumpyWriter", "PlainWriter", "to_python"]


class PlainWriter:
    """Writes the kernel value of one point x and one atom d, with the module math."""

    is_of_arrays: ClassVar[bool] = False
    helpers: ClassVar[dict[str, str]] = {
        "squared_distance": """
def squared_distance(x, d, scales):
    differences = [(u - v) * s for u, v, s in zip(x, d, scales)]
    return sum(r * r for r in differences)
""",
        "city_block_distance": """
def city_block_distance(x, d, scales):
    return sum(abs(u - v) * s for u, v, s in zip(x, d, scales))
""",
        "mismatch": """
def mismatch(x, d, weights):
    return sum(w for u, v, w in zip(x, d, weights) if u != v)
""",
        "inner_product": """
def inner_product(x, d):
    return sum(u * v for u, v in zip(x, d))
""",
        "part_of_inner_product": """
def part_of_inner_product(x, d, counted):
    return sum(u * v * c for u, v, c in zip(x, d, counted))
""",
        "wave": """
def wave(x, d):
    turns = sum((u * v for u, v in zip(x, d)), d[-1])
    return cos(2.0 * pi * (turns - round(turns)))
""",
    }

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.used: set[str] = set()
        self._scales: dict[str, str] = {}
        self.lines: list[str] = []

    def _call(self, helper: str, scales: Array | None = None) -> str:
        """Return a call of one of the helpers."""
        self.used.add(helper)
        if scales is None:
            return f"{helper}(x, d)"
        literal = self.literal(scales)
        name = self._scales.setdefault(literal, f"SCALES_{len(self._scales) + 1}")
        return f"{helper}(x, d, {name})"

    def squared_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> str:
        """Σ_k ((x_k − d_k)/c_k)²."""
        return self._call("squared_distance", scales_of(bandwidth, self.n_features, ignored))

    def city_block_distance(self, bandwidth: Bandwidth, ignored: Columns = ()) -> str:
        """Σ_k |x_k − d_k|/c_k."""
        return self._call("city_block_distance", scales_of(bandwidth, self.n_features, ignored))

    def mismatch(self, columns: Columns, weights: tuple[float, ...]) -> str:
        """Σ_k w_k [x_k ≠ d_k] over these columns."""
        scales = np.zeros(self.n_features)
        scales[list(columns)] = weights
        return self._call("mismatch", scales)

    def inner_product(self, ignored: Columns = ()) -> str:
        """Σ_k x_k d_k."""
        if not ignored:
            return self._call("inner_product")
        return self._call("part_of_inner_product", scales_of(1.0, self.n_features, ignored))

    def wave(self) -> str:
        """cos(2π(Σ_k x_k d_k + phase))."""
        return self._call("wave")

    def number(self, value: float) -> str:
        """Return a constant."""
        return repr(float(value))

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return f"({a} + {b})"

    def multiply(self, a: str, b: str) -> str:
        """Return a·b."""
        return f"({a} * {b})"

    def power(self, a: str, exponent: float) -> str:
        """Return a to a fixed exponent."""
        return f"({a} ** {exponent!r})"

    def exp(self, a: str) -> str:
        """Return e^a."""
        return f"exp{_enclosed(a)}"

    def sqrt(self, a: str) -> str:
        """Return √a."""
        return f"sqrt({a})"

    def minimum(self, a: str, bound: float) -> str:
        """Return the smaller of a and a fixed bound."""
        return f"min({a}, {bound!r})"

    def keep(self, a: str) -> str:
        """Assign a value to a variable and return its name."""
        self.lines.append(f"s{len(self.lines) + 1} = {a}")
        return f"s{len(self.lines)}"

    @property
    def constants(self) -> list[str]:
        """Assignments of the arrays that the kernel uses by name."""
        return [f"{name} = {literal}" for literal, name in self._scales.items()]

    def literal(self, array: Any) -> str:
        """Return an array as source text."""
        return repr(array.tolist())


class NumpyWriter(PlainWriter):
    """Writes the kernel values of all points x, of shape (n, 1, p), and all atoms d, (M, p)."""

    is_of_arrays: ClassVar[bool] = True
    helpers: ClassVar[dict[str, str]] = {
        "squared_distance": """
def squared_distance(x, d, scales):
    return (((x - d) * scales) ** 2).sum(axis=-1)
""",
        "city_block_distance": """
def city_block_distance(x, d, scales):
    return (np.abs(x - d) * scales).sum(axis=-1)
""",
        "mismatch": """
def mismatch(x, d, weights):
    return (x != d) @ weights
""",
        "inner_product": """
def inner_product(x, d):
    return x[:, 0] @ d.T
""",
        "part_of_inner_product": """
def part_of_inner_product(x, d, counted):
    return (x[:, 0] * counted) @ d.T
""",
        "wave": """
def wave(x, d):
    turns = x[:, 0] @ d[:, :-1].T + d[:, -1]
    return np.cos(2.0 * np.pi * (turns - np.rint(turns)))
""",
    }

    def exp(self, a: str) -> str:
        """Return e^a."""
        return f"np.exp{_enclosed(a)}"

    def sqrt(self, a: str) -> str:
        """Return √a."""
        return f"np.sqrt({a})"

    def minimum(self, a: str, bound: float) -> str:
        """Return the smaller of a and a fixed bound."""
        return f"np.minimum({a}, {bound!r})"

    def literal(self, array: Any) -> str:
        """Return an array as source text."""
        return f"np.array({array.tolist()!r})"


def _enclosed(a: str) -> str:
    return a if a.startswith("(") and a.endswith(")") and _is_one(a) else f"({a})"


def _is_one(a: str) -> bool:
    """Whether the last parenthesis closes the first."""
    depth = 0
    for place, letter in enumerate(a):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(a) - 1
    return False


def to_python(model: Any, *, numpy: bool = False) -> str:
    """Return the source of a module that makes the same predictions as the model.

    Its `predict(X)` takes a list of points, and for a `TableModel` a list of rows, which are
    dictionaries of raw cells: numbers, texts, dates, and None or NaN for gaps. It returns a list of
    labels, of numbers, or of lists of numbers if the model has several outputs. For a classifier,
    `scores(X)` returns the scores of the classes, or of pairs of classes, that determine the
    labels. `predict_proba(X)` exists if the
    model has probabilities. The module needs only the standard library.

    Parameters
    ----------
    model : object
        A fitted function, learner, estimator, River model or policy evaluator of colk, or a
        scikit-learn pipeline of scalers that ends in one.
    numpy : bool, default=False
        Whether the module uses NumPy. It is then faster, and takes and returns arrays.

    Returns
    -------
    str
        The source.

    Examples
    --------
    >>> from colk import KernelExpansion
    >>> from colk.export import to_python
    >>> from colk.kernels import Linear
    >>> source = to_python(KernelExpansion(Linear(), [[1.0, 2.0]], [3.0]))
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]([[1.0, 1.0]])
    [9.0]
    """
    formula = read(model)
    writer = (NumpyWriter if numpy else PlainWriter)(formula.atoms.shape[1])
    value = write_kernel(formula.kernel, writer)
    parts = [
        _opening(model, formula, numpy),
        "\n".join([*_constants(formula, writer), *writer.constants]),
        *(writer.helpers[name] for name in sorted(writer.used)),
        "\n    ".join(["def kernel(x, d):", *writer.lines, f"return {value}"]),
        "" if formula.encoder is None else write_encoding(formula.encoder),
        _scores(formula, numpy),
        _proba(formula, numpy),
        _count(formula, numpy),
        _predict(formula, numpy),
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts if part)


def _opening(model: Any, formula: Formula, numpy: bool) -> str:
    """Write the header comment and the imports of the module."""
    points = f"points of {formula.n_features} features"
    if formula.encoder is not None:
        names = [column.name for column in formula.encoder.columns]
        points = f"rows: dictionaries with the columns {names!r}"
    elif formula.names is not None:
        points += f", in the order {list(formula.names)!r}"
    said = f"{type(model).__name__}, written by colk {__version__}: {len(formula.atoms)} atoms."
    imports = "import numpy as np" if numpy else "from math import cos, exp, pi, sqrt"
    return f"# {said}\n# predict(X) takes {points}.\n{imports}"


def _constants(formula: Formula, writer: PlainWriter) -> list[str]:
    atoms = formula.atoms
    if formula.kernel is None:
        atoms = np.column_stack([atoms, formula.phases])
    arrays = {"ATOMS": atoms, "WEIGHTS": formula.weights.T, "UNIT": _spread(formula, formula.unit)}
    arrays["CENTER"] = _spread(formula, formula.center)
    if formula.shift is not None and formula.stretch is not None:
        arrays |= {"SHIFT": formula.shift, "STRETCH": formula.stretch}
    if formula.metric is not None:
        arrays["METRIC"] = formula.metric if writer.is_of_arrays else formula.metric.T
    lines = [f"{name} = {writer.literal(array)}" for name, array in arrays.items()]
    if formula.classes is not None:
        lines.append(f"CLASSES = {writer.literal(formula.classes)}")
    return lines


def _spread(formula: Formula, values: Array) -> Array:
    """Return one number for each output."""
    return np.zeros(formula.n_outputs) + values


_TOTALS = "[t * u + c for t, u, c in zip(totals, UNIT, CENTER)]"


def _scores(formula: Formula, numpy: bool) -> str:
    p, scaled, maps = formula.n_features, formula.shift is not None, formula.metric is not None
    found = "values @ WEIGHTS.T * UNIT + CENTER" if numpy else _TOTALS
    if formula.is_sorted:
        found = f"np.sort({found}, axis=1)" if numpy else f"sorted({found})"
    X = "X" if formula.encoder is None else "encode(X)"
    if numpy:
        moved = "    X = (X - SHIFT) / STRETCH\n" if scaled else ""
        moved += "    X = X @ METRIC\n" if maps else ""
        return f"""
def scores(X):
    X = np.asarray({X}, dtype=float).reshape(-1, {p})
{moved}    values = np.zeros((len(X), len(ATOMS))) + kernel(X[:, None, :], ATOMS)
    return {found}
"""
    moved = "    x = [(u - m) / s for u, m, s in zip(x, SHIFT, STRETCH)]\n" if scaled else ""
    moved += (
        "    x = [sum(u * a for u, a in zip(x, column)) for column in METRIC]\n" if maps else ""
    )
    return f"""
def score(x):
    if len(x) != {p}:
        raise ValueError("a point must have {p} features, got %d" % len(x))
{moved}    values = [kernel(x, d) for d in ATOMS]
    totals = [sum(v * a for v, a in zip(values, row)) for row in WEIGHTS]
    return {found}


def scores(X):
    return [score(x) for x in {X}]
"""


_LOGISTIC = """
def predict_proba(X):
    def positive(s):
        e = exp(-abs(s))
        return 1.0 / (1.0 + e) if s >= 0.0 else e / (1.0 + e)

    chances = [positive(score[0]) for score in scores(X)]
    return [[1.0 - p, p] for p in chances]
"""

_NUMPY_LOGISTIC = """
def predict_proba(X):
    s = scores(X)[:, 0]
    e = np.exp(-np.abs(s))
    p = np.where(s >= 0.0, 1.0, e) / (1.0 + e)
    return np.column_stack([1.0 - p, p])
"""

_SOFTMAX = """
def predict_proba(X):
    def shares(values):
        powers = [exp(v - max(values)) for v in values]
        return [p / sum(powers) for p in powers]

    return [shares(values) for values in scores(X)]
"""

_NUMPY_SOFTMAX = """
def predict_proba(X):
    s = scores(X)
    powers = np.exp(s - s.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
"""


def _proba(formula: Formula, numpy: bool) -> str:
    if formula.probability == "logistic":
        return _NUMPY_LOGISTIC if numpy else _LOGISTIC
    if formula.probability == "softmax":
        return _NUMPY_SOFTMAX if numpy else _SOFTMAX
    return ""


def _count(formula: Formula, numpy: bool) -> str:
    if formula.classes is None or formula.count is None:
        return ""
    return python_count(len(formula.classes), formula.count, numpy)


def _predict(formula: Formula, numpy: bool) -> str:
    if formula.classes is None:
        found = "scores(X)"
        if formula.is_vector:
            found = "scores(X)[:, 0]" if numpy else "[values[0] for values in scores(X)]"
    elif formula.n_outputs == 1:
        found = "[CLASSES[values[0] > 0.0] for values in scores(X)]"
        found = "CLASSES[(scores(X)[:, 0] > 0.0).astype(int)]" if numpy else found
    else:
        counted = formula.count is not None
        scores = "map(count, scores(X))" if counted else "scores(X)"
        found = f"[CLASSES[values.index(max(values))] for values in {scores}]"
        if numpy:
            scores = "count(scores(X))" if counted else "scores(X)"
            found = f"CLASSES[{scores}.argmax(axis=1)]"
    return f"def predict(X):\n    return {found}"
