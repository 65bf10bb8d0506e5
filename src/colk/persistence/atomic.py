"""Write files atomically."""

import errno
import glob
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["write_whole"]

# A draft of this age, in seconds, is that of a process that was killed.
_ABANDONED = 3600.0
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")


def write_whole(
    path: str | os.PathLike[str],
    pieces: Iterable[Any],
    check: Callable[[BinaryIO], Any] | None = None,
) -> None:
    """Write a draft in the same folder, then rename it; a crash leaves the old file or the new.

    The draft is synced to the disk before it is renamed, and the folder is synced before the call
    returns. If anything fails, the draft is removed and the old file is unchanged. Drafts of
    processes that were killed are removed if they are an hour old.

    Parameters
    ----------
    path : path
        The file.
    pieces : iterable of bytes
        Its contents.
    check : function of an open file, optional
        Reads the draft before it is renamed; raises an error if the draft is wrong.

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
            if check is not None:
                with open(draft, "rb") as file:
                    check(file)
            os.replace(draft, target)
            _remove_old_drafts(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot write, {_reason(error)}; the file is unchanged"
        raise OSError(error.errno, message, os.fspath(path)) from error
    _sync_folder(target.parent)


def _remove_old_drafts(target: Path) -> None:
    """Remove drafts of processes that were killed: those of this file that are an hour old."""
    latest = time.time() - _ABANDONED
    for draft in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with suppress(OSError):
            if _DRAFT.fullmatch(draft.name.removeprefix(f".{target.name}")) and (
                draft.stat().st_mtime < latest
            ):
                draft.unlink()


def _check_target(target: Path) -> None:
    """Raise if the path exists and is not a writable plain file."""
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is not a plain file")
    if target.exists() and not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "permission denied")


def _reason(error: OSError) -> str:
    return str(error.strerror or error).lower()


def _write(file: Any, piece: Any) -> None:
    """Write all of a piece, because one system call may write only a part."""
    rest = memoryview(piece)
    while len(rest) > 0:
        rest = rest[file.write(rest) :]


def _sync_folder(folder: Path) -> None:
    """Sync the folder to the disk, if the system can open folders."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
