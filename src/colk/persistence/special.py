"""Values in fitted scikit-learn estimators that JSON cannot represent.

Each kind has a tag, a function that splits a value into parts, and a function that checks the parts
and rebuilds the value. `take_apart` finds the kind of a value.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from colk import _stored as stored
from colk.errors import FileFormatError

__all__ = ["SPECIAL", "Tagged", "take_apart"]


class Tagged(NamedTuple):
    """A tag, and plain values by name."""

    tag: str
    parts: dict[str, Any]


_TYPES: dict[str, type[Any]] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float32", "float64", "str_", "object_",
        )
    },
}  # fmt: skip

# Functions that estimators of scikit-learn take as parameters.
_FUNCTIONS = {
    "numpy": ("max", "mean", "median", "min"),
    "sklearn.feature_selection": (
        "chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression",
        "r_regression",
    ),
}  # fmt: skip

_SPARSE = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")

# Attributes of a spline of SciPy, which are the arguments of its constructor.
_SPLINE = ("t", "c", "k", "extrapolate", "axis")

_DTYPE = re.compile(r"[<>|=]?(O|b1|[iu][1248]|f[48]|[US]\d{1,6})")

_RANDOM = stored.Record(
    {
        "key": stored.Array(624, dtype=np.uint32),
        "position": stored.Count(at_most=624),
        "has_normal": stored.Count(at_most=1),
        "normal": stored.Number(),
    }
)


def take_apart(value: Any) -> Tagged | None:
    """Return a special value as a tag and plain parts; None if it is not special.

    Examples
    --------
    >>> take_apart(slice(0, 2))
    Tagged(tag='slice', parts={'start': 0, 'stop': 2, 'step': None})
    """
    if isinstance(value, np.generic):
        return Tagged("scalar", {"value": np.array(value)}) if value.dtype.kind in "fiub" else None
    if type(value) is slice:
        return Tagged("slice", {"start": value.start, "stop": value.stop, "step": value.step})
    if isinstance(value, np.dtype):
        return Tagged("dtype", {"name": value.str}) if _DTYPE.fullmatch(value.str) else None
    if isinstance(value, type):
        name = next((name for name, kind in _TYPES.items() if kind is value), None)
        return None if name is None else Tagged("type", {"name": name})
    if type(value) in (set, frozenset):
        items = sorted(value, key=repr)
        return Tagged("set", {"items": items, "is_frozen": type(value) is frozenset})
    if type(value) is np.random.RandomState:
        return _random_parts(value)
    if type(value).__name__ == "BSpline" and type(value).__module__.startswith("scipy."):
        return Tagged("BSpline", {name: getattr(value, name) for name in _SPLINE})
    if type(value).__name__ in _SPARSE and type(value).__module__.startswith("scipy.sparse"):
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        return Tagged("sparse", {"kind": type(value).__name__, "shape": value.shape, **parts})
    return _function_parts(value) if callable(value) else None


def _function_parts(function: Any) -> Tagged | None:
    for home, names in _FUNCTIONS.items():
        for name in names:
            if getattr(function, "__name__", None) == name:
                is_it = getattr(import_module(home), name) is function
                return Tagged("function", {"name": f"{home}.{name}"}) if is_it else None
    return None


def _random_parts(random: np.random.RandomState) -> Tagged:
    name, *state = random.get_state(legacy=True)
    if name != "MT19937":
        raise TypeError(
            f"random numbers of {name} cannot be saved; use numpy.random.RandomState(0)"
        )
    return Tagged("RandomState", dict(zip(_RANDOM.fields, state, strict=True)))


def _scalar(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim != 0 or value.dtype.kind not in "fiub":
        raise stored.refuse("a scalar", "an array without axes", value)
    return value[()]


def _slice(start: Any, stop: Any, step: Any) -> slice:
    for end in (start, stop, step):
        stored.Optional(stored.Count(at_least=-stored.MOST)).read(end, "a slice", {})
    return slice(start, stop, step)


def _dtype(name: Any) -> Any:
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise stored.refuse("a dtype", "plain", name)
    return np.dtype(name)


def _type(name: Any) -> Any:
    if name not in _TYPES:
        raise stored.refuse("a type", "a number or a text", name)
    return _TYPES[name]


def _set(items: Any, is_frozen: Any) -> Any:
    return frozenset(items) if is_frozen else set(items)


def _function(name: Any) -> Any:
    home, _, function = str(name).rpartition(".")
    if function not in _FUNCTIONS.get(home, ()):
        raise FileFormatError(f"it names the function {name!r}, which files must not hold")
    return getattr(import_module(home), function)


def _sparse(kind: Any, **parts: Any) -> Any:
    if kind not in _SPARSE:
        raise FileFormatError("a sparse matrix has an unknown format")
    return stored.sparse_matrix(kind, **parts)


def _spline(**parts: Any) -> Any:
    knots, degree = parts["t"], stored.Count(at_most=100).read(parts["k"], "k of a BSpline", {})
    stored.Array("n_knots").read(knots, "t of a BSpline", {})
    if not isinstance(parts["c"], np.ndarray) or parts["c"].dtype != np.float64:
        raise stored.refuse("c of a BSpline", "an array of float64", parts["c"])
    spline = import_module("scipy.interpolate").BSpline
    return spline(knots, parts["c"], degree, parts["extrapolate"], parts["axis"])


def _random(**state: Any) -> np.random.RandomState:
    checked = _RANDOM.read(state, "RandomState", {})
    random = np.random.RandomState(0)
    random.set_state(("MT19937", *checked.values()))
    return random


SPECIAL: dict[str, Callable[..., Any]] = {
    "scalar": _scalar,
    "slice": _slice,
    "dtype": _dtype,
    "type": _type,
    "set": _set,
    "function": _function,
    "sparse": _sparse,
    "BSpline": _spline,
    "RandomState": _random,
}
