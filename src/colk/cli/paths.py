"""Every path that is written to is tried before work begins."""

import os
import secrets
from pathlib import Path

__all__ = ["check_file", "check_folder"]


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
