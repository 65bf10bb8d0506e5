"""Save and load models; each file has a JSON header and arrays, and is written atomically.

`save` takes functions, learners, estimators, River's classes and policy evaluators; `load` returns
them, and learning continues bit for bit. Loading runs no code from the file. A file consists of
numbers and names of known classes, everything is checked before it is used, and the memory that
loading takes is in proportion to the size of the file.
"""

import os
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from colk import _stored as stored
from colk._version import __version__
from colk.errors import FileFormatError
from colk.persistence import scikit_learn
from colk.persistence.atomic import write_whole
from colk.persistence.container import file_of, read
from colk.persistence.terms import Given
from colk.persistence.tree import Decoder, Encoder
from colk.persistence.trusted import is_model, tag_of, trusted_types

__all__ = ["load", "save", "trusted_types"]

_FORMAT = "colk"
_VERSION = 1

# The only class of scikit-learn that can be saved by itself.
_PIPELINE = "sklearn.pipeline.Pipeline"

# Largest number of characters of a message, because a hostile file may have chosen them.
_LONGEST_MESSAGE = 300

# Errors that constructors and readers raise on damaged or hostile files.
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
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file atomically; `load` reads it.

    The new file is read back before it replaces an old one, so every saved model can be loaded.
    Of a user-defined term, only the name of its class or function is written.

    Parameters
    ----------
    model : object
        A `KernelExpansion`, a result of `from_sklearn`, a learner, an estimator, a scikit-learn
        `Pipeline` that ends in one, a class of `colk.river`, a policy evaluator, or a
        `ConformalRegressor` around one of them.
    path : path
        The file. An old one is replaced once the new one is on the disk.

    Raises
    ------
    TypeError
        If the model, or a part of it, cannot be stored. The message names the part and, for a
        pipeline, the step. No file is written.

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
    tag = tag_of(model) or scikit_learn.tag_of(model)
    if not (tag == _PIPELINE or is_model(tag)):
        raise TypeError(
            f"a {type(model).__name__} cannot be saved; save takes functions, learners and "
            "estimators of colk and pipelines of them, but no subclasses. For an SVM or another "
            "kernel machine of scikit-learn, save from_sklearn(model)"
        )
    encoder = Encoder()
    tree = encoder.encode(model)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "library": __version__,
        "class": tag,
        **({"scikit-learn": scikit_learn.version()} if encoder.has_sklearn else {}),
        "model": tree,
    }
    given = Given(encoder.own)
    write_whole(path, file_of(header, encoder.arrays), lambda file: _read(file, given))


def load(path: str | os.PathLike[str], terms: Mapping[str, Any] | None = None) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path
        The file.
    terms : mapping, optional
        User-defined terms by their names in the file. Default: none.

    Returns
    -------
    object
        The model, which continues to learn exactly as the original would.

    Raises
    ------
    FileFormatError
        If the file is damaged, is not a saved model, or has another version of the format.
    LookupError
        If the file names a user-defined term that is not in `terms`.

    Warns
    -----
    InconsistentVersionWarning
        If the file has estimators of another version of scikit-learn.

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
        try:
            return _read(file, given)
        except _DAMAGE as error:
            if given.missing is not None:
                raise
            message = (str(error) or type(error).__name__)[:_LONGEST_MESSAGE]
            raise FileFormatError(
                f"{os.fspath(path)} is not a model that can be loaded: {message}"
            ) from error


def _read(file: BinaryIO, given: Given) -> Any:
    """Return the model of an open file."""
    size = os.fstat(file.fileno()).st_size
    header, arrays = read(file, size)
    _check_header(header)
    model = Decoder(arrays, given, stored.Memory(size)).decode(header["model"])
    if "scikit-learn" in header:
        scikit_learn.warn_of_version(header["scikit-learn"])
    return model


def _check_header(header: dict[str, Any]) -> None:
    if header.get("format") != _FORMAT:
        raise FileFormatError("its header has another format")
    if header.get("version") != _VERSION:
        raise FileFormatError(
            f"it has version {header.get('version')!r} of the format, but this colk reads version "
            f"{_VERSION}; it was written by colk {header.get('library')!r}"
        )
    model, kind = header.get("model"), header.get("class")
    if not isinstance(model, dict) or model.get("is") != kind:
        raise FileFormatError(f"its model is not of the class {kind!r}, which the header names")
    if not (kind == _PIPELINE or is_model(kind)):
        raise FileFormatError(f"it holds a {kind!r}, which is not a model")
