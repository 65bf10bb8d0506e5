"""Models as trees of plain data: what JSON holds as it is, all else by a tag.

A tagged value is an object {"is": tag, ...}. Arrays stand in a list beside the tree. To decode
runs nothing but constructors of classes that are listed here, which check what they are given.
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._engine.terms import Term
from colk.errors import FileFormatError
from colk.persistence import models
from colk.persistence.container import Arrays
from colk.persistence.terms import Given, known_terms, make_term, name_of_own, parameters_of
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork

__all__ = ["Decoder", "Encoder"]

# Lists longer than this are arrays.
_SHORT = 16

# Terms of terms of terms: deeper than anybody writes, and no strain for the stack.
_DEEPEST = 60

# Whole numbers beyond 64 bits count nothing, and as keys many of them could share one hash.
_LARGEST = 2**63

_FEATURE_MAPS = {"RBFNetwork": RBFNetwork, "RandomFourierFeatures": RandomFourierFeatures}


class Encoder:
    """Values to a tree, and the arrays that it refers to."""

    def __init__(self) -> None:
        self.arrays: Arrays = []
        self.own: dict[str, Any] = {}

    def encode(self, value: Any) -> Any:
        """Return a value as JSON holds it."""
        if type(value) is int and abs(value) >= _LARGEST:
            raise ValueError(
                f"the whole number {value!r} has more than 64 bits, and no file holds it"
            )
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, float):
            number = float(value)
            return number if math.isfinite(number) else {"is": "float", "value": str(number)}
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, dict):
            items = [[self.encode(key), self.encode(item)] for key, item in value.items()]
            return {"is": "dict", "items": items}
        return self._object(value)

    def _store(self, array: NDArray[Any]) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _sequence(self, value: list[Any] | tuple[Any, ...]) -> Any:
        tag = type(value).__name__
        if len(value) > _SHORT and all(type(item) is float for item in value):
            return {"is": "floats", "of": tag, "array": self._store(np.array(value))}
        if len(value) > _SHORT and all(type(item) is str for item in value):
            return {"is": "texts", "of": tag, **self._texts(value)}
        items = [self.encode(item) for item in value]
        return items if tag == "list" else {"is": "tuple", "items": items}

    def _texts(self, texts: Any) -> dict[str, int]:
        encoded = [text.encode() for text in texts]
        joined = np.frombuffer(b"".join(encoded), np.uint8)
        lengths = np.array([len(text) for text in encoded], np.int64)
        return {"lengths": self._store(lengths), "text": self._store(joined)}

    def _array(self, value: NDArray[Any]) -> dict[str, Any]:
        if value.dtype.kind in "fiub":
            return {"is": "array", "array": self._store(value)}
        texts = value.reshape(-1).tolist()
        if not all(type(text) is str for text in texts) or value.ndim != 1:
            raise TypeError(
                f"an array of dtype {value.dtype} cannot be saved, but for one of texts"
            )
        kind = "array" if value.dtype.kind == "U" and not _is_uneven(texts) else "objects"
        return {"is": "texts", "of": kind, **self._texts(texts)}

    def _object(self, value: Any) -> dict[str, Any]:
        parameters = parameters_of(value) if isinstance(value, Term) else None
        if parameters is not None:
            return {"is": type(value).__name__, **self._all(parameters)}
        if _FEATURE_MAPS.get(type(value).__name__) is type(value):
            return {
                "is": type(value).__name__,
                **self._all({field.name: getattr(value, field.name) for field in fields(value)}),
            }
        tag = models.tag_of(value)
        if tag is not None:
            return {"is": tag, **self._all(models.pack(tag, value))}
        if isinstance(value, Term) or callable(getattr(value, "transform", None)):
            return self._own(value)
        raise TypeError(f"{type(value).__name__} {value!r} cannot be saved")

    def _all(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.encode(value) for name, value in values.items()}

    def _own(self, term: Any) -> dict[str, Any]:
        name = name_of_own(term)
        if self.own.setdefault(name, term) != term:
            raise ValueError(
                f"two terms of the model go by the name {name!r}; give their functions, or their "
                "classes, different names"
            )
        return {"is": "own", "name": name, "repr": repr(term)}


class Decoder:
    """A tree and its arrays to values."""

    def __init__(self, arrays: Arrays, given: Given, memory: models.Memory) -> None:
        self.arrays, self.given, self.memory = arrays, given, memory
        self.used: set[int] = set()

    def decode(self, tree: Any, depth: int = 0) -> Any:
        """Return the value of a tree."""
        if type(tree) is int and abs(tree) >= _LARGEST:
            raise FileFormatError("it holds a whole number of more than 64 bits")
        if tree is None or type(tree) in (bool, int, float, str):
            return tree
        if depth > _DEEPEST:
            raise FileFormatError(f"its header is nested more than {_DEEPEST} deep")
        if type(tree) is list:
            return [self.decode(item, depth + 1) for item in tree]
        tag = tree.get("is")
        if tag == "float":
            return _special(tree["value"])
        if tag == "tuple":
            return tuple(self.decode(list(tree["items"]), depth))
        if tag == "dict":
            pairs = [self.decode(list(pair), depth + 1) for pair in tree["items"]]
            return dict(pairs)
        if tag == "array":
            return self._find(tree["array"])
        if tag == "floats":
            return _as_sequence(self._floats(tree["array"]), tree["of"])
        if tag == "texts":
            return _as_texts(self._texts(tree["lengths"], tree["text"]), tree["of"])
        if tag == "own":
            return self.given.find(_text(tree["name"]), _text(tree["repr"]))
        return self._object(tag, tree, depth)

    def _object(self, tag: Any, tree: dict[str, Any], depth: int) -> Any:
        if not isinstance(tag, str):
            raise FileFormatError(f"it holds an object of the kind {tag!r}")
        values = {k: self.decode(v, depth + 1) for k, v in tree.items() if k != "is"}
        if tag in known_terms():
            return make_term(tag, values)
        if tag in _FEATURE_MAPS:
            return _FEATURE_MAPS[tag](**values)
        if tag in models.FAMILIES:
            return models.restore(tag, values, self.memory)
        raise FileFormatError(f"it holds a {tag!r}, which this version of colk does not know")

    def _find(self, number: Any) -> NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise FileFormatError(f"it refers to the array {number!r} of {len(self.arrays)}")
        # What is made of an array is in proportion to it: one that stood for many would be a bomb.
        if number in self.used:
            raise FileFormatError(f"it refers to the array {number} twice")
        self.used.add(number)
        return self.arrays[number]

    def _floats(self, number: Any) -> list[float]:
        array = self._find(number)
        if array.dtype != np.float64 or array.ndim != 1:
            raise FileFormatError(f"numbers are of dtype {array.dtype} and shape {array.shape}")
        found: list[float] = array.tolist()
        return found

    def _texts(self, lengths: Any, joined: Any) -> list[str]:
        sizes, data = self._find(lengths), self._find(joined)
        if sizes.dtype != np.int64 or data.dtype != np.uint8 or sizes.ndim != 1 or data.ndim != 1:
            raise FileFormatError("texts are not stored as lengths and bytes")
        if (sizes < 0).any() or (sizes > len(data)).any() or sizes.sum() != len(data):
            raise FileFormatError("the lengths of texts do not add up")
        whole, ends = data.tobytes(), np.cumsum(sizes)
        starts = ends - sizes
        return [whole[i:j].decode() for i, j in np.column_stack([starts, ends]).tolist()]


def _special(value: Any) -> float:
    if value not in ("inf", "-inf", "nan"):
        raise FileFormatError(f"{value!r} is no special number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FileFormatError(f"expected a name, found {value!r}")
    return value


def _as_sequence(items: list[Any], kind: Any) -> Any:
    if kind not in ("list", "tuple"):
        raise FileFormatError(f"a sequence is of the kind {kind!r}")
    return items if kind == "list" else tuple(items)


def _is_uneven(texts: list[str]) -> bool:
    """Whether an array as wide as the longest text would be mostly empty."""
    longest = max((len(text) for text in texts), default=0)
    return len(texts) * longest > 64 * (len(texts) + sum(len(text) for text in texts))


def _as_texts(texts: list[str], kind: Any) -> Any:
    """Texts as a list, a tuple, or an array of fixed width or of objects."""
    if kind == "objects":
        return np.array([*texts, None], dtype=object)[:-1]
    if kind != "array":
        return _as_sequence(texts, kind)
    if _is_uneven(texts):
        raise FileFormatError("texts of an array differ too much in length")
    return np.array(texts, dtype=np.str_)
