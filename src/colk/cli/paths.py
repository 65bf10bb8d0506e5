"""Check output paths before the work begins; at the end, write files and open pages."""

import os
import secrets
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

__all__ = ["check_apart", "check_file", "check_folder", "open_page", "write_somewhere"]


def check_apart(written: Sequence[tuple[Path | None, str]], read: Iterable[str | Path]) -> None:
    """Raise if an output would overwrite an input or another output.

    Parameters
    ----------
    written : sequence of (Path or None, str)
        Output files and the options that name them; None if the option is not given.
    read : iterable of path
        Input files; "-" is standard input.

    Examples
    --------
    >>> check_apart([(Path("a.csv"), "--model")], ["a.csv"])
    Traceback (most recent call last):
    ValueError: --model a.csv is an input; choose another file
    """
    taken = {_identity(path): "an input" for path in read if str(path) != "-"}
    for path, option in written:
        if path is None or (path.exists() and not path.is_file()):
            continue
        place = _identity(path)
        if place in taken:
            raise ValueError(f"{option} {path} is {taken[place]}; choose another file")
        taken[place] = f"also the file of {option}"


def _identity(path: str | Path) -> object:
    """Return a value that is equal for all paths of the same file."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def check_file(path: Path | None, option: str) -> None:
    """Raise if a file cannot be written; the check leaves no file behind.

    Parameters
    ----------
    path : Path or None
        The file; None if the option is not given.
    option : str
        The option that names it.

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
        why = f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}"
        raise OSError(f"{option} {path} cannot be written: {why}")
    if path.exists() and not os.access(path, os.W_OK):
        raise OSError(f"{option} {path} cannot be written: it is read-only")
    _try(folder, f"{option} {path}")


def check_folder(path: Path, option: str) -> None:
    """Create a folder; raise if that fails, or if files cannot be written to it.

    Examples
    --------
    >>> check_folder(Path("/dev/null"), "--out")
    Traceback (most recent call last):
    OSError: --out /dev/null cannot be written: it is not a folder
    """
    if path.exists() and not path.is_dir():
        raise OSError(f"{option} {path} cannot be written: it is not a folder")
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


def write_somewhere(write: Callable[[Path], object], path: Path) -> None:
    """Write a file; if that fails, write another one and raise an error that names it.

    What a long run has learned is then not lost on a full disk.

    Parameters
    ----------
    write : callable
        Writes a file of this path.
    path : Path
        The file.
    """
    try:
        write(path)
    except OSError as error:
        name = f"{path.stem}-{secrets.token_hex(4)}{path.suffix}"
        for folder in (Path.cwd(), Path.home(), Path(tempfile.gettempdir())):
            try:
                write(folder / name)
            except OSError:
                continue
            message = f"{error.strerror}; the model is saved in {folder / name}"
            raise OSError(error.errno, message, str(path)) from error
        raise


def open_page(path: Path) -> None:
    """Open a page in the browser, or print its path if there is no browser."""
    if not webbrowser.open(path.resolve().as_uri()):
        print(f"colk: there is no browser; open {path.resolve()} yourself", file=sys.stderr)
