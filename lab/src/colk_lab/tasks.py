"""Tasks of the experiments: a function, its settings and its approximate time."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import colk

__all__ = ["Result", "Run", "Task", "fingerprint"]

Result = dict[str, NDArray[Any]]
_LAB, _LIBRARY = Path(__file__).resolve().parent, Path(colk.__file__).resolve().parent
# Modules of the reproduction that several tasks use.
_SHARED = ("laws", "methods", "streams", "policy", "theory/population")


@dataclass(frozen=True)
class Task:
    """A call that returns the same arrays in every process.

    Parameters
    ----------
    function : callable
        A module-level function of keyword arguments that returns named arrays.
    settings : mapping
        The arguments: numbers, strings, and lists and mappings of them. They include the seed; the
        result depends on nothing else.
    name : str, default=""
        Name of the task in the progress bar.
    seconds : float, default=1.0
        Approximate processor time, the weight of the task in the progress bar and the time left.
    uses_package : bool, default=True
        Whether the result depends on the package outside the task's own folder. If not, the cached
        result stays valid when the package changes.

    Examples
    --------
    >>> import numpy as np
    >>> Task(np.arange, {"stop": 3}).function.__name__
    'arange'
    """

    function: Callable[..., Result]
    settings: Mapping[str, Any]
    name: str = ""
    seconds: float = 1.0
    uses_package: bool = True


Run = Callable[[Sequence[Task]], list[Result]]


@cache
def fingerprint(module: str, uses_package: bool = True) -> str:
    """Hash the sources on which the tasks of a module depend.

    These are the library without its command, the module itself, and the modules that draw data
    and make learners. Other figures and the report are left out, because they do not change a
    result. Tasks of the benchmark depend on all of its modules except the page.

    Examples
    --------
    >>> fingerprint("colk_lab.reproduction.streams") == fingerprint("colk_lab.bench.krls")
    False
    """
    own = module.removeprefix("colk_lab.").replace(".", "/") + ".py"
    used = {own, *(f"reproduction/{name}.py" for name in _SHARED)}
    digest = hashlib.sha256()
    for folder in (_LAB, _LIBRARY) if uses_package else (_LAB,):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            if folder == _LIBRARY:
                counts = not name.startswith("cli/")
            elif own.startswith("bench/"):
                counts = name in used or (name.startswith("bench/") and name != "bench/page.py")
            else:
                counts = name in used
            if counts:
                digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
