"""Every path that is written to is tried before work begins."""

import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["check_apart", "check_file", "check_folder"]


def check_apart(written: Sequence[tuple[Path | None, str]], read: Iterable[str | Path]) -> None:
    """Refuse to write over what is read, or two things to one file.

    Parameters
    ----------
    written : sequence of (Path or None, str)
        Where files are to be, and what named them; None is nowhere.
    read : iterable of path
        What is read; "-" is standard input.

    Examples
    --------
    >>> check_apart([(Path("a.csv"), "--model")], ["a.csv"])
    Traceback (most recent call last):
    ValueError: --model a.csv is what is read; write elsewhere
    """
    taken = {_identity(path): "what is read" for path in read if str(path) != "-"}
    for path, option in written:
        if path is None or (path.exists() and not path.is_file()):
            continue
        place = _identity(path)
        if place in taken:
            raise ValueError(f"{option} {path} is {taken[place]}; write elsewhere")
        taken[place] = f"where {option} goes"


def _identity(path: str | Path) -> object:
    """What two names of one file have in common."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def check_file(path: Path | None, option: str) -> None:
    """Refuse a path at which no file can be written; nothing is left there.

    Parameters
    ----------
    path : Path or None
        Where a file is to be; None for nowhere.
    option : str
        What named it.

    Examples
    --------
    >>> check_file(Path("no/such/folder/m.colk"), "--model")
    Traceback (most recent call last):
    OSError: --model no/such/folder/m.colk cannot be written: there is no folder no/such/folder
    """
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise OSError(f"{option} {path} cannot be written: it is a folder")
    if not folder.is_dir():
        why = f"{folder} is no folder" if folder.exists() else f"there is no folder {folder}"
        raise OSError(f"{option} {path} cannot be written: {why}")
    if path.exists() and not os.access(path, os.W_OK):
        raise OSError(f"{option} {path} cannot be written: it is read-only")
    _try(folder, f"{option} {path}")


def check_folder(path: Path, option: str) -> None:
    """Refuse a path at which no folder can be made or written to; it is made.

    Examples
    --------
    >>> check_folder(Path("/dev/null"), "--out")
    Traceback (most recent call last):
    OSError: --out /dev/null cannot be written: it is no folder
    """
    if path.exists() and not path.is_dir():
        raise OSError(f"{option} {path} cannot be written: it is no folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"{option} {path} cannot be made: {error.strerror}") from error
    _try(path, f"{option} {path}")


def _try(folder: Path, what: str) -> None:
    probe = folder / f".colk.{secrets.token_hex(8)}.tmp"
    try:
        probe.write_bytes(b"\0")
    except OSError as error:
        raise OSError(f"{what} cannot be written: {error.strerror}") from error
    finally:
        probe.unlink(missing_ok=True)
