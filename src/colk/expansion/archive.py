"""Expansions in files: arrays and a JSON header in an .npz, written whole or not at all."""

import json
import os
import secrets
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.kernels.description import describe, from_description

__all__ = ["read", "write"]

_FORMAT = "colk.KernelExpansion"
_VERSION = 1

# What the readers of zip, npy and JSON raise on damaged or hostile files.
_DAMAGE = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
)


def write(path: str | os.PathLike[str], kernel: Kernel, atoms: Array, weights: Array) -> None:
    """Write to a neighbouring file first, so that a crash leaves the old file or the new one."""
    header = {"format": _FORMAT, "version": _VERSION, "kernel": describe(kernel)}
    encoded = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(draft, "xb") as file:
            np.savez(file, header=encoded, atoms=atoms, weights=weights)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[Kernel, Array, Array]:
    """Return kernel, atoms and weights; a file of another kind is one clear ValueError.

    Only numbers and names of built-in kernels are read: nothing in a file can run.
    """
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                header = _check_header(json.loads(_entry(archive, "header").tobytes()))
                atoms, weights = _entry(archive, "atoms"), _entry(archive, "weights")
                return from_description(header["kernel"]), atoms, weights
        except _DAMAGE as error:
            name = os.fspath(path)
            raise ValueError(f"{name} is not a saved KernelExpansion: {error}") from error


def _entry(archive: zipfile.ZipFile, name: str) -> Array:
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed, which colk never does")
    with archive.open(info) as entry:
        array: Array = np.lib.format.read_array(entry, allow_pickle=False)
    return array


def _check_header(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError("its header is of another format")
    if header.get("version") != _VERSION:
        raise ValueError(
            f"it has version {header.get('version')!r} of the format, this colk reads {_VERSION}"
        )
    return header
