"""The layout of a file: a prologue with a checksum, a JSON header, and raw little-endian arrays.

The prologue has the length of the header, and the header has the shapes of the arrays. Both must
add up to the size of the file. Nothing is compressed, so the contents are never larger than the
file.
"""

import json
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from colk.errors import FileFormatError

__all__ = ["MAGIC", "Arrays", "file_of", "read", "seal"]

Arrays = list[NDArray[Any]]

# The first byte is not text, and a transfer in text mode would change the line ends, which shows.
MAGIC = b"\x93COLK\r\n\x1a"

# Magic, length of the header, checksum of everything after the prologue, and 0.
_PROLOGUE = struct.Struct("<8sQII")

# Arrays begin at multiples of this many bytes.
_ALIGNMENT = 8

# Parsed JSON takes up to about 30 times its bytes, so long values are stored as arrays.
_LONGEST_HEADER = 2**20

_DTYPES = frozenset({"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"})

_MOST_AXES = 4


def file_of(header: dict[str, Any], arrays: Arrays) -> list[bytes | memoryview]:
    """Return the bytes of a file, piece by piece.

    Examples
    --------
    >>> pieces = file_of({"format": "colk"}, [np.zeros(3)])
    >>> sum(len(piece) for piece in pieces) % 8
    0
    """
    laid = [np.asarray(array, array.dtype.newbyteorder("<"), order="C") for array in arrays]
    table = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in laid]
    for entry in table:
        if entry["dtype"] not in _DTYPES:
            raise TypeError(f"an array of dtype {entry['dtype']} cannot be saved")
    text = json.dumps({**header, "arrays": table}, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > _LONGEST_HEADER:
        raise ValueError(
            f"the header of the model would take {len(text)} bytes, more than {_LONGEST_HEADER}"
        )
    text += b" " * (-(_PROLOGUE.size + len(text)) % _ALIGNMENT)
    pieces: list[bytes | memoryview] = [text]
    for array in laid:
        pieces.append(array.reshape(-1).view(np.uint8).data)
        if array.nbytes % _ALIGNMENT:
            pieces.append(b"\0" * (-array.nbytes % _ALIGNMENT))
    return [_prologue(len(text), pieces), *pieces]


def _prologue(length: int, pieces: list[bytes | memoryview]) -> bytes:
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return _PROLOGUE.pack(MAGIC, length, checksum, 0)


def seal(header: bytes, body: bytes) -> bytes:
    """Return a file with any header and body and the right checksum, for tests."""
    return _prologue(len(header), [header, body]) + header + body


def read(file: BinaryIO, size: int) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file of this size."""
    start = file.read(_PROLOGUE.size)
    if len(start) < _PROLOGUE.size:
        raise FileFormatError(f"it has {len(start)} bytes, too few for a model")
    magic, length, checksum, _ = _PROLOGUE.unpack(start)
    if magic != MAGIC:
        raise FileFormatError("it does not begin with the signature of a saved model")
    rest = size - _PROLOGUE.size
    if length > min(rest, _LONGEST_HEADER):
        raise FileFormatError(f"its header of {length} bytes is too long")
    body = file.read(rest)
    if len(body) != rest or zlib.crc32(body) != checksum:
        raise FileFormatError("it is damaged: its checksum does not match its contents")
    header = _parse(body[:length])
    return header, list(_cut(memoryview(body)[length:], header.get("arrays")))


def _parse(text: bytes) -> dict[str, Any]:
    header = json.loads(text.decode(), parse_constant=_refuse)
    if not isinstance(header, dict):
        raise FileFormatError("its header is not a JSON object")
    return header


def _refuse(constant: str) -> None:
    raise FileFormatError(f"its header holds {constant}, which JSON does not allow")


def _cut(body: memoryview, table: Any) -> Iterator[NDArray[Any]]:
    """Yield copies of the arrays; together they must fill the body to its last byte."""
    if not isinstance(table, list):
        raise FileFormatError("its header does not list arrays")
    start = 0
    for entry in table:
        dtype, shape = _check_entry(entry)
        nbytes = dtype.itemsize * math.prod(shape)
        if nbytes > len(body) - start:
            raise FileFormatError(f"an array of shape {shape} is larger than the file")
        array = np.frombuffer(body[start : start + nbytes], dtype).reshape(shape)
        if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
            raise FileFormatError("an array of bool has bytes other than 0 and 1")
        yield array.copy()
        start += nbytes + -nbytes % _ALIGNMENT
    if start != len(body):
        raise FileFormatError(f"its arrays take {start} bytes, but there are {len(body)}")


def _check_entry(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape"}:
        raise FileFormatError("the description of an array must be its dtype and shape")
    dtype, shape = entry["dtype"], entry["shape"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise FileFormatError(f"an array has the unknown dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES:
        raise FileFormatError(f"an array has the shape {shape!r}")
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**48:
            raise FileFormatError(f"an array has the shape {shape!r}")
    return np.dtype(dtype), tuple(shape)
