"""Tasks of the experiments: a function, its settings and its approximate time."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

__all__ = ["Result", "Run", "Task", "fingerprint"]

Result = dict[str, NDArray[Any]]
_PACKAGE = Path(__file__).resolve().parents[1]
# Modules of the experiments that several tasks use.
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

    These are the library, the module itself, and the modules that draw data and make learners.
    Other figures, the report and the command line are left out, because they do not change a
    result. Tasks of the benchmark depend on all of its modules except the page.

    Examples
    --------
    >>> fingerprint("colk.experiments.streams") == fingerprint("colk.experiments.lidar.runs")
    False
    """
    own = module.removeprefix("colk.").replace(".", "/") + ".py"
    used = {own, *(f"experiments/{name}.py" for name in _SHARED)}
    others = ["_pages/", "cli/", "experiments/", "bench/page.py"]
    if not module.startswith("colk.bench."):
        others.append("bench/")
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if name.startswith(tuple(others)) and name not in used:
            continue
        if not uses_package and not name.startswith(own.partition("/")[0]):
            continue
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
