"""Functions of the format before this one: an .npz of a JSON header, atoms and weights."""

import json
import math
import zipfile
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from colk.errors import FileFormatError
from colk.expansion import KernelExpansion
from colk.kernels.description import from_description

__all__ = ["is_archive", "read"]

_FORMAT = "colk.KernelExpansion"
_VERSION = 1

# The end of a zip without a comment: its mark, then numbers, of which the fourth counts entries.
_END = b"PK\x05\x06"
_END_SIZE = 22
_MOST_ENTRIES = 8

_LONGEST_HEADER = 2**20


def is_archive(start: bytes) -> bool:
    """Whether a file begins as a zip does."""
    return start.startswith(b"PK")


def read(file: BinaryIO, size: int) -> KernelExpansion:
    """Return the function in a file of so many bytes; only numbers and names are read."""
    _check_entries(file, size)
    with zipfile.ZipFile(file) as archive:
        text = _entry(archive, "header", "|u1", size)
        if len(text) > _LONGEST_HEADER:
            raise FileFormatError(f"its header has {len(text)} bytes")
        header = _check_header(json.loads(text.tobytes()))
        atoms = _entry(archive, "atoms", "<f8", size)
        weights = _entry(archive, "weights", "<f8", size)
    return KernelExpansion(from_description(header["kernel"]), atoms, weights)


def _check_entries(file: BinaryIO, size: int) -> None:
    """Refuse a zip of many entries, each of which would take memory to list."""
    file.seek(max(size - _END_SIZE, 0))
    end = file.read(_END_SIZE)
    if not end.startswith(_END) or int.from_bytes(end[10:12], "little") > _MOST_ENTRIES:
        raise FileFormatError("it is no archive of three arrays")
    file.seek(0)


def _entry(archive: zipfile.ZipFile, name: str, dtype: str, size: int) -> NDArray[Any]:
    """Return an array that is as large as its own bytes in the archive."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
        raise FileFormatError(f"{name} is compressed, which colk never does")
    data = archive.read(info)
    stream = BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise FileFormatError(f"{name} is of another format")
    shape, fortran, found = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    if found.str != dtype or found.itemsize * math.prod(shape) != len(data) - start:
        raise FileFormatError(f"{name} is not what its header says")
    order: Any = "F" if fortran else "C"
    return np.frombuffer(data, found, offset=start).reshape(shape, order=order)


def _check_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FileFormatError("its header is of another format")
    if header.get("version") != _VERSION:
        raise FileFormatError(
            f"it has version {header.get('version')!r} of the format, this colk reads {_VERSION}"
        )
    return header
