"""Functions of the format before this one: an .npz of a JSON header, atoms and weights."""

import json
import math
import re
import zipfile
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from colk.errors import FileFormatError
from colk.kernels import KERNELS, Kernel, Product, Scaled, Sum
from colk.rkhs.expansion import KernelExpansion

__all__ = ["is_archive", "read"]

_FORMAT = "colk.KernelExpansion"
_VERSION = 1

# The end of a zip without a comment: its mark, then numbers, of which the fourth counts entries.
_END = b"PK\x05\x06"
_END_SIZE = 22
_MOST_ENTRIES = 8

_LONGEST_HEADER = 2**20

# What an array says of itself, behind its magic and the length of this.
_TOLD = re.compile(
    rb"\{'descr': '(?P<dtype>[^']{3})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>(\d{1,15}, ?)*(\d{1,15})?)\), \}\s*"
)

_KERNELS: dict[str, type[Kernel]] = {
    **KERNELS,
    "product": Product,
    "scaled": Scaled,
    "sum": Sum,
}

_ENTRIES = (("header", "|u1"), ("atoms", "<f8"), ("weights", "<f8"))


def is_archive(start: bytes) -> bool:
    """Whether a file begins as a zip does."""
    return start.startswith(b"PK")


def read(file: BinaryIO, size: int) -> KernelExpansion:
    """Return the function in a file of so many bytes; only numbers and names are read."""
    data = file.read(size)
    # A zip of many entries would take memory to list them.
    end = data[-_END_SIZE:]
    if not end.startswith(_END) or int.from_bytes(end[10:12], "little") > _MOST_ENTRIES:
        raise FileFormatError("it is no archive of three arrays")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            text, atoms, weights = (_entry(archive, *entry, size) for entry in _ENTRIES)
    except OSError as error:
        raise FileFormatError("it is no archive of three arrays") from error
    if len(text) > _LONGEST_HEADER:
        raise FileFormatError(f"its header has {len(text)} bytes")
    header = _check_header(json.loads(text.tobytes()))
    return KernelExpansion(_kernel_of(header["kernel"]), atoms, weights)


def _entry(archive: zipfile.ZipFile, name: str, dtype: str, size: int) -> NDArray[Any]:
    """Return an array that is as large as its own bytes in the archive."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
        raise FileFormatError(f"{name} is compressed, which colk never does")
    data = archive.read(info)
    start = 10 + int.from_bytes(data[8:10], "little")
    told = _TOLD.fullmatch(data[10:start])
    if not data.startswith(b"\x93NUMPY\x01\x00") or told is None or told["dtype"].decode() != dtype:
        raise FileFormatError(f"{name} is no array of {dtype}")
    shape = tuple(int(length) for length in told["shape"].split(b",") if length.strip())
    if np.dtype(dtype).itemsize * math.prod(shape) != len(data) - start:
        raise FileFormatError(f"{name} is not as large as it says")
    order: Any = "F" if told["order"] == b"True" else "C"
    return np.frombuffer(data, dtype, offset=start).reshape(shape, order=order)


def _check_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FileFormatError("its header is of another format")
    if header.get("version") != _VERSION:
        raise FileFormatError(
            f"it has version {header.get('version')!r} of the format, this colk reads {_VERSION}"
        )
    return header


def _kernel_of(description: Any) -> Kernel:
    """Return the kernel that a header describes by its name and parameters."""
    if not isinstance(description, dict):
        raise FileFormatError(f"a kernel is described by a {type(description).__name__}")
    parameters = dict(description)
    name = parameters.pop("name", None)
    if not isinstance(name, str) or name not in _KERNELS:
        raise FileFormatError(f"there is no kernel named {name!r}")
    if "kernel" in parameters:
        parameters["kernel"] = _kernel_of(parameters["kernel"])
    if "parts" in parameters:
        parameters["parts"] = tuple(_kernel_of(part) for part in parameters["parts"])
    return _KERNELS[name](**parameters)
