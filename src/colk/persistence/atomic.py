"""Files that are written whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write a file by way of a draft in the same folder: a crash leaves the old one or the new.

    The draft is on the disk before it takes the name of the file, and so is the name before the
    call returns. Where anything fails, the draft is removed and the old file is as it was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(pathlib.Path(folder) / "greeting", [b"hello, ", b"world"])
    ...     (pathlib.Path(folder) / "greeting").read_bytes()
    b'hello, world'
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        _check_target(target)
        try:
            with open(draft, "xb", buffering=0) as file:
                for piece in pieces:
                    _write(file, piece)
                os.fsync(file.fileno())
            os.replace(draft, target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        said = f"cannot write, {_said(error)}; what was there is as it was"
        raise OSError(error.errno, said, os.fspath(path)) from error
    _sync_folder(target.parent)


def _check_target(target: Path) -> None:
    """Refuse to replace what is no plain file, or must not be written."""
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is no plain file")
    if target.exists() and not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "permission denied")


def _said(error: OSError) -> str:
    return str(error.strerror or error).lower()


def _write(file: Any, piece: Any) -> None:
    """Write all of a piece: one call of the system may take less."""
    rest = memoryview(piece)
    while len(rest) > 0:
        rest = rest[file.write(rest) :]


def _sync_folder(folder: Path) -> None:
    """Put the folder's new entry on the disk, where folders can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
