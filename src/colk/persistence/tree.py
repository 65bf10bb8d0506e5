"""Encode models as trees of plain data: JSON values, and tagged objects for everything else.

A tagged object is {"is": tag, ...}. Arrays are in a separate list. Decoding calls only constructors
of the classes that files may name, with checked values.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk import _stored as stored
from colk._engine.locks import held
from colk._engine.terms import Term
from colk.errors import FileFormatError
from colk.persistence import scikit_learn
from colk.persistence.container import Arrays
from colk.persistence.special import SPECIAL, Tagged, take_apart
from colk.persistence.terms import Given, known_terms, make_term, name_of_own, parameters_of
from colk.persistence.trusted import class_of, tag_of
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork

__all__ = ["Decoder", "Encoder"]

# Longer lists of numbers or texts are stored as arrays.
_SHORT = 16

# Deepest nesting, which is more than any model needs and safe for the stack.
_DEEPEST = 60

# Larger whole numbers are rejected, because many of them could have the same hash as keys.
_LARGEST = 2**63

_FEATURE_MAPS = {"RBFNetwork": RBFNetwork, "RandomFourierFeatures": RandomFourierFeatures}


class Encoder:
    """Encodes values as a tree and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: Arrays = []
        self.own: dict[str, Any] = {}  # user-defined terms
        self.has_sklearn = False
        self._is_exact = False  # whether a NumPy scalar stays a NumPy scalar
        self._path: list[str] = []  # steps and attributes of scikit-learn's estimators

    def encode(self, value: Any) -> Any:
        """Return a value in the form that JSON can represent."""
        if type(value) is int and abs(value) >= _LARGEST:
            raise ValueError(
                f"the whole number {value!r} has more than 64 bits and cannot be stored"
            )
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, np.generic) and (not self._is_exact or type(value) is np.str_):
            return self.encode(value.item())
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "value": str(value)}
        if type(value) in (list, tuple):
            return self._sequence(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if type(value) is dict:
            return self._dict(value)
        return self._object(value)

    def _store(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _sequence(self, value: list[Any] | tuple[Any, ...]) -> Any:
        tag = type(value).__name__
        if len(value) > _SHORT:
            for kind, dtype in ((float, np.float64), (int, np.int64)):
                if all(type(item) is kind for item in value):
                    return {
                        "is": "numbers",
                        "of": tag,
                        "array": self._store(np.array(value, dtype)),
                    }
            if all(type(item) is str for item in value):
                return {"is": "texts", "of": tag, **self._texts(value)}
        items = [self.encode(item) for item in value]
        return items if tag == "list" else {"is": "tuple", "items": items}

    def _dict(self, value: dict[Any, Any]) -> dict[str, Any]:
        if len(value) > _SHORT and self._is_exact:
            keys, items = self.encode(list(value)), self.encode(list(value.values()))
            return {"is": "large dict", "keys": keys, "values": items}
        items = [[self.encode(key), self.encode(item)] for key, item in value.items()]
        return {"is": "dict", "items": items}

    def _texts(self, texts: Any) -> dict[str, int]:
        encoded = [text.encode() for text in texts]
        joined = np.frombuffer(b"".join(encoded), np.uint8)
        lengths = np.array([len(text) for text in encoded], np.int64)
        return {"lengths": self._store(lengths), "text": self._store(joined)}

    def _array(self, value: NDArray[Any]) -> dict[str, Any]:
        if value.dtype.kind in "fiub":
            # Products with a matrix round differently if its memory order differs.
            if self._is_exact and value.ndim > 1 and value.copy("K").T.flags.c_contiguous:
                return {"is": "transposed", "array": self._store(value.T)}
            return {"is": "array", "array": self._store(value)}
        items = value.reshape(-1).tolist()
        if value.ndim == 1 and all(type(text) is str for text in items):
            kind = "array" if value.dtype.kind == "U" and not _is_uneven(items) else "objects"
            return {"is": "texts", "of": kind, **self._texts(items)}
        if value.dtype.kind != "O":
            raise self._refusal(f"array of {value.dtype}")
        return {"is": "objects", "items": self.encode(items), "shape": list(value.shape)}

    def _object(self, value: Any) -> dict[str, Any]:
        parameters = parameters_of(value) if isinstance(value, Term) else None
        if parameters is not None:
            return {"is": type(value).__name__, **self._all(parameters)}
        if _FEATURE_MAPS.get(type(value).__name__) is type(value):
            return {
                "is": type(value).__name__,
                **self._all({field.name: getattr(value, field.name) for field in fields(value)}),
            }
        tag = tag_of(value)
        if tag is not None:
            with self._exactly(False), held(value):
                return {"is": tag, **self._all(stored.pack(value))}
        special = take_apart(value)
        if special is not None:
            return self._special(special)
        tag = scikit_learn.tag_of(value)
        if tag is not None:
            return self._estimator(tag, value)
        if isinstance(value, Term) or (not self._path and hasattr(value, "transform")):
            return self._own(value)
        raise self._refusal(type(value).__name__)

    def _all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.encode(value) for name, value in values.items()}

    def _special(self, value: Tagged) -> dict[str, Any]:
        return {"is": value.tag, **self._all(value.parts)}

    @contextmanager
    def _exactly(self, is_exact: bool) -> Iterator[None]:
        before, self._is_exact = self._is_exact, is_exact
        yield
        self._is_exact = before

    @contextmanager
    def _within(self, place: str) -> Iterator[None]:
        self._path.append(place)
        yield
        self._path.pop()

    def _estimator(self, tag: str, estimator: Any) -> dict[str, Any]:
        """Encode the attributes of an estimator of scikit-learn."""
        self.has_sklearn = True
        items, attributes = [], scikit_learn.attributes_of(tag, estimator)
        with self._exactly(True):
            for name, value in attributes.items():
                if name in scikit_learn.COMPOSED and type(value) is list:
                    items.append([name, [self._step(item) for item in value]])
                    continue
                with self._within(f"attribute {name!r}"):
                    items.append([name, self.encode(value)])
        try:
            scikit_learn.make(tag, attributes)
        except ValueError as error:
            place = "".join(f"{step}: " for step in self._steps())
            raise TypeError(f"{place}{error}, so it cannot be stored in a file") from error
        return {"is": tag, "attributes": {"is": "dict", "items": items}}

    def _step(self, item: Any) -> Any:
        name = item[0] if type(item) is tuple and item else None
        with self._within(f"step {name!r}"):
            return self.encode(item)

    def _refusal(self, kind: str) -> TypeError:
        """Return an error that names the step and the attribute that cannot be stored."""
        steps = self._steps()
        is_attribute = bool(self._path) and self._path[-1] not in steps
        what = f"{self._path[-1]} of type {kind}" if is_attribute else f"a value of type {kind}"
        advice = f". {scikit_learn.ADVICE}" if self._path else ""
        return TypeError(
            f"{': '.join([*steps, what])} cannot be stored in a file; use pickle{advice}"
        )

    def _steps(self) -> list[str]:
        return [place for place in self._path if place.startswith("step")]

    def _own(self, term: Any) -> dict[str, Any]:
        name = name_of_own(term)
        if self.own.setdefault(name, term) != term:
            raise ValueError(
                f"two terms of the model have the name {name!r}; give their functions, or their "
                "classes, different names"
            )
        return {"is": "own", "name": name, "repr": repr(term)}


class Decoder:
    """Decodes a tree and its arrays to values."""

    def __init__(self, arrays: Arrays, given: Given, memory: stored.Memory) -> None:
        self.arrays, self.given, self.memory = arrays, given, memory
        self.used: set[int] = set()

    def decode(self, tree: Any, depth: int = 0) -> Any:
        """Return the value of a tree."""
        if type(tree) is int and abs(tree) >= _LARGEST:
            raise FileFormatError("it has a whole number of more than 64 bits")
        if tree is None or type(tree) in (bool, int, float, str):
            return tree
        if depth > _DEEPEST:
            raise FileFormatError(f"its header has more than {_DEEPEST} levels of nesting")
        if type(tree) is list:
            return [self.decode(item, depth + 1) for item in tree]
        tag = tree.get("is")
        if tag == "float":
            return _infinity_or_nan(tree["value"])
        if tag == "tuple":
            return tuple(self.decode(list(tree["items"]), depth))
        if tag == "dict":
            return dict(self.decode(list(pair), depth + 1) for pair in tree["items"])
        if tag == "large dict":
            keys, items = (
                self.decode(tree["keys"], depth + 1),
                self.decode(tree["values"], depth + 1),
            )
            return dict(zip(keys, items, strict=True))
        if tag == "array":
            return self._find(tree["array"])
        if tag == "transposed":
            return self._find(tree["array"]).T
        if tag == "numbers":
            return _as_sequence(self._numbers(tree["array"]), tree["of"])
        if tag == "texts":
            return _as_texts(self._texts(tree["lengths"], tree["text"]), tree["of"])
        if tag == "own":
            return self.given.find(_text(tree["name"]), _text(tree["repr"]))
        return self._object(tag, tree, depth)

    def _object(self, tag: Any, tree: dict[str, Any], depth: int) -> Any:
        if not isinstance(tag, str):
            raise FileFormatError(f"it holds an object of the kind {tag!r}")
        values = {k: self.decode(v, depth + 1) for k, v in tree.items() if k != "is"}
        if tag == "objects":
            return _as_objects(**values)
        if tag in SPECIAL:
            return SPECIAL[tag](**values)
        if tag in known_terms():
            return make_term(tag, values)
        if tag in _FEATURE_MAPS:
            return _FEATURE_MAPS[tag](**values)
        if tag.startswith("sklearn."):
            return scikit_learn.make(tag, **values)
        return stored.restore(class_of(tag), values, self.memory.check)

    def _find(self, number: Any) -> NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise FileFormatError(f"it refers to the array {number!r} of {len(self.arrays)}")
        # If arrays could be used twice, memory would not be in proportion to the file.
        if number in self.used:
            raise FileFormatError(f"it refers to the array {number} twice")
        self.used.add(number)
        return self.arrays[number]

    def _numbers(self, number: Any) -> list[float]:
        array = self._find(number)
        if array.dtype not in (np.float64, np.int64) or array.ndim != 1:
            raise stored.refuse("a list of numbers", "a vector of float64 or int64", array)
        found: list[float] = array.tolist()
        return found

    def _texts(self, lengths: Any, joined: Any) -> list[str]:
        sizes, data = self._find(lengths), self._find(joined)
        if sizes.dtype != np.int64 or data.dtype != np.uint8 or sizes.ndim != 1 or data.ndim != 1:
            raise FileFormatError("texts must be stored as lengths and bytes")
        if (sizes < 0).any() or (sizes > len(data)).any() or sizes.sum() != len(data):
            raise FileFormatError("the lengths of texts do not add up to their bytes")
        whole, ends = data.tobytes(), np.cumsum(sizes)
        starts = ends - sizes
        return [whole[i:j].decode() for i, j in np.column_stack([starts, ends]).tolist()]


def _infinity_or_nan(value: Any) -> float:
    if value not in ("inf", "-inf", "nan"):
        raise stored.refuse("a number", "inf, -inf or nan", value)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise stored.refuse("a name", "a text", value)
    return value


def _as_sequence(items: list[Any], kind: Any) -> Any:
    if kind not in ("list", "tuple"):
        raise FileFormatError(f"a sequence is of the kind {kind!r}")
    return items if kind == "list" else tuple(items)


def _is_uneven(texts: list[str]) -> bool:
    """Return whether an array with the width of the longest text would be mostly empty."""
    longest = max((len(text) for text in texts), default=0)
    return len(texts) * longest > 64 * (len(texts) + sum(len(text) for text in texts))


def _as_texts(texts: list[str], kind: Any) -> Any:
    """Return texts as a list, a tuple, an array of fixed width, or an array of objects."""
    if kind == "objects":
        return _as_objects(texts, [len(texts)])
    if kind != "array":
        return _as_sequence(texts, kind)
    if _is_uneven(texts):
        raise FileFormatError("texts of an array differ too much in length")
    return np.array(texts, dtype=np.str_)


def _as_objects(items: Any, shape: Any) -> NDArray[Any]:
    if type(items) is not list or type(shape) is not list:
        raise FileFormatError("an array of objects has no items or no shape")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape([stored.Count().read(n, "the length of an axis", {}) for n in shape])
