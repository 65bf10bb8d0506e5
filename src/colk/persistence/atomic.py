"""Write files atomically."""

import errno
import glob
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["drafted", "write_whole"]

_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")


def write_whole(
    path: str | os.PathLike[str],
    pieces: Iterable[Any],
    check: Callable[[BinaryIO], Any] | None = None,
) -> None:
    """Write a draft in the same folder, then rename it; a crash leaves the old file or the new.

    The draft is synced to the disk before it is renamed, and the folder is synced before the call
    returns. If anything fails, the draft is removed and the old file is unchanged. The next call
    removes the drafts of processes that were killed.

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
    try:
        _check_target(target)
        with drafted(target, buffering=0) as file:
            for piece in pieces:
                _write(file, piece)
            os.fsync(file.fileno())
            if check is not None:
                with open(file.name, "rb") as written:
                    check(written)
    except OSError as error:
        message = f"cannot write, {_reason(error)}; the file is unchanged"
        raise OSError(error.errno, message, os.fspath(path)) from error
    _sync_folder(target.parent)


@contextmanager
def drafted(target: Path, buffering: int = -1) -> Iterator[BinaryIO]:
    """Open a draft that replaces a file at the end; after an error the draft is removed.

    The drafts that processes left when they were killed are removed too, if the file system has
    locks.

    Parameters
    ----------
    target : Path
        The file.
    buffering : int, default=-1
        As for `open`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with drafted(pathlib.Path(folder) / "greeting") as file:
    ...         _ = file.write(b"hello")
    ...     (pathlib.Path(folder) / "greeting").read_bytes()
    b'hello'
    """
    file = _new_draft(target, buffering)
    draft = Path(file.name)
    try:
        try:
            yield file
            if fcntl is not None:  # the lock lasts until the draft is the file
                os.replace(draft, target)
        finally:
            file.close()
        if fcntl is None:
            os.replace(draft, target)
        _remove_abandoned(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _new_draft(target: Path, buffering: int) -> BinaryIO:
    """Create and lock a draft; another process may remove it until it is locked."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        file: BinaryIO = open(draft, "xb", buffering)  # noqa: SIM115, closed by the caller
        try:
            if not _lock(file, waits=True) or draft.exists():
                return file
            file.close()
        except BaseException:
            file.close()
            draft.unlink(missing_ok=True)
            raise


def _lock(file: BinaryIO, waits: bool) -> bool:
    """Lock a file for as long as it is open; return whether that is done."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except OSError:  # another process has the lock, or the file system has none
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove drafts of this file that no process holds."""
    for draft in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        if _DRAFT.fullmatch(draft.name.removeprefix(f".{target.name}")):
            with suppress(OSError), open(draft, "rb") as file:
                if _lock(file, waits=False):
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
