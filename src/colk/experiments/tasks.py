"""Runs that are kept: a task is a function and its settings, its result a file named by both."""

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk._version import __version__

__all__ = ["Result", "Run", "Store", "Task"]

Result = dict[str, NDArray[Any]]
_PACKAGE = Path(__file__).resolve().parents[1]
# Files of this folder that several tasks rest on.
_SHARED = ("laws", "methods", "streams", "policy", "theory/population")


@dataclass(frozen=True)
class Task:
    """A call that gives the same arrays whenever and wherever it is made.

    Parameters
    ----------
    function : callable
        A module-level function of keyword arguments that returns named arrays.
    settings : mapping
        Its arguments, numbers, strings, lists and mappings of them: all that the result depends
        on, the seed among them.
    name : str
        What it is, to a person. Tasks of one name take equally long for each unit of size.
    size : float
        How long the task is: samples, steps, passes.

    Examples
    --------
    >>> import numpy as np
    >>> Task(np.arange, {"stop": 3}).function.__name__
    'arange'
    """

    function: Callable[..., Result]
    settings: Mapping[str, Any]
    name: str = ""
    size: float = 1.0

    @property
    def key(self) -> str:
        """Name of the result: what was called, with what, by which code."""
        home = self.function.__module__
        text = json.dumps(
            [home, self.function.__qualname__, self.settings, __version__, _fingerprint(home)],
            sort_keys=True,
        )
        return f"{self.function.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"

    def run(self) -> Result:
        """Call the function."""
        return self.function(**self.settings)


Run = Callable[[Sequence[Task]], list[Result]]


@cache
def _fingerprint(home: str) -> str:
    """Hash of the sources a result depends on: the library, and how experiments draw and learn.

    Files of other figures, the report and the command line are left out: they change no result.
    """
    own = home.removeprefix("colk.").replace(".", "/") + ".py"
    shared = {own, *(f"experiments/{name}.py" for name in _SHARED)}
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if name.startswith(("cli/", "experiments/")) and name not in shared:
            continue
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class Store:
    """Results on disk, one file for each task; a file is whole or not there.

    Parameters
    ----------
    folder : path
        Made when the first result is saved.

    Examples
    --------
    >>> import tempfile
    >>> from colk.experiments.laws import signal_on_grid
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, task = Store(folder), Task(signal_on_grid, {"n": 3})
    ...     before = store.load(task)
    ...     store.save(task, task.run())
    ...     after = store.load(task)
    >>> before is None, after["x"]
    (True, array([0. , 0.5, 1. ]))
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def _path(self, task: Task) -> Path:
        return self.folder / f"{task.key}.npz"

    def load(self, task: Task) -> Result | None:
        """Result of a task, or None where there is none that can be read."""
        try:
            with self._path(task).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, task: Task, result: Result) -> None:
        """Write to a file beside, then rename: an interruption leaves no half result."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **result)  # type: ignore[arg-type]  # names could be allow_pickle
            os.replace(name, self._path(task))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
