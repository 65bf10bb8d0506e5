"""Models in files: one file each, arrays and a JSON header, written whole or not at all.

`save` takes functions, learners, estimators, River's classes and policy evaluators; `load` gives
them back, and learning goes on bit for bit. Loading runs no code of the file: it holds numbers and
names of classes that this package knows, everything in it is checked before it is used, and what
it makes is in proportion to its size.
"""

import os
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

from colk._version import __version__
from colk.errors import FileFormatError
from colk.persistence import archive
from colk.persistence.atomic import write_whole
from colk.persistence.container import MAGIC, lay_out, read
from colk.persistence.memory import Memory
from colk.persistence.models import FAMILIES, tag_of
from colk.persistence.terms import Given
from colk.persistence.tree import Decoder, Encoder
from colk.persistence.trusted import trusted_types

__all__ = ["load", "save", "trusted_types"]

_FORMAT = "colk"
_VERSION = 1

# Letters of what is said about a file that may itself have chosen them.
_LONGEST_MESSAGE = 300

# What constructors and readers raise on damaged or hostile files.
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, whole or not at all; `load` reads it back.

    A user's own term is written by its name alone: the name of its class, or of the function it is
    made of.

    Parameters
    ----------
    model : object
        A `KernelExpansion`, what `from_sklearn` returns, a learner, an estimator, a class of
        `colk.river`, a policy evaluator, or a `ConformalRegressor` around one of them.
    path : path
        The file. An old one is replaced once the new one is on the disk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import colk
    >>> from colk.kernels import Gaussian
    >>> learner = colk.COLK(Gaussian(0.5)).learn([[0.0], [1.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     colk.save(learner, pathlib.Path(folder) / "model.colk")
    ...     colk.load(pathlib.Path(folder) / "model.colk").steps
    2
    """
    if tag_of(model) is None:
        raise TypeError(
            f"a {type(model).__name__} cannot be saved; save takes functions, learners and "
            "estimators of colk, and no classes derived from them"
        )
    encoder = Encoder()
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "library": __version__,
        "class": tag_of(model),
        "model": encoder.encode(model),
    }
    write_whole(path, lay_out(header, encoder.arrays))


def load(path: str | os.PathLike[str], terms: Mapping[str, Any] | None = None) -> Any:
    """Read a model that `save` wrote, or a function of an earlier format.

    Parameters
    ----------
    path : path
        The file.
    terms : mapping, optional
        A user's own terms, by the names that the file has for them.

    Returns
    -------
    object
        The model, which learns on as if it had never been saved.

    Raises
    ------
    FileFormatError
        Where the file is damaged, of another kind, or of a later version.
    LookupError
        Where the file names a term that was not handed back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import colk
    >>> from colk.kernels import CustomKernel
    >>> def smallest(u, v):
    ...     return float(min(u[0], v[0]))
    >>> kernel = CustomKernel(smallest)
    >>> f = colk.KernelExpansion(kernel, [[1.0]], [2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     colk.save(f, pathlib.Path(folder) / "f.colk")
    ...     colk.load(pathlib.Path(folder) / "f.colk", terms={"smallest": kernel}) == f
    True
    """
    given = Given(terms)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            start = file.read(len(MAGIC))
            file.seek(0)
            if archive.is_archive(start):
                return archive.read(file, size)
            header, arrays = read(file, size)
            _check_header(header)
            return Decoder(arrays, given, Memory(size)).decode(header.get("model"))
        except _DAMAGE as error:
            if given.missing is not None:
                raise
            said = (str(error) or type(error).__name__)[:_LONGEST_MESSAGE]
            raise FileFormatError(
                f"{os.fspath(path)} is not a model that can be loaded: {said}"
            ) from error


def _check_header(header: dict[str, Any]) -> None:
    if header.get("format") != _FORMAT:
        raise FileFormatError("its header is of another format")
    if header.get("version") != _VERSION:
        raise FileFormatError(
            f"it has version {header.get('version')!r} of the format, this colk reads {_VERSION}; "
            f"it was written by colk {header.get('library')!r}"
        )
    model, kind = header.get("model"), header.get("class")
    if not isinstance(model, dict) or model.get("is") != kind or kind not in FAMILIES:
        raise FileFormatError(f"it holds no model, but {kind!r}")
