"""Risk-sensitive online kernel learning in bounded memory.

The names below, and the modules, are loaded when they are first used: `import colk` itself takes
milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colk._version import __version__

if TYPE_CHECKING:
    from colk.conformal import ConformalRegressor
    from colk.errors import DivergenceError, FileFormatError
    from colk.estimators import (
        COLKClassifier,
        COLKQuantileRegressor,
        COLKRegressor,
        KernelCompressor,
    )
    from colk.learners import COLK, POLK
    from colk.persistence import load, save
    from colk.rkhs.compression import Compression, compress
    from colk.rkhs.expansion import KernelExpansion
    from colk.rkhs.interop import Affine, from_sklearn
    from colk.rkhs.objectives import Objective, objective

__all__ = [
    "COLK",
    "POLK",
    "Affine",
    "COLKClassifier",
    "COLKQuantileRegressor",
    "COLKRegressor",
    "Compression",
    "ConformalRegressor",
    "DivergenceError",
    "FileFormatError",
    "KernelCompressor",
    "KernelExpansion",
    "Objective",
    "__version__",
    "compress",
    "from_sklearn",
    "load",
    "objective",
    "save",
]

_HOMES = {
    "COLK": "colk.learners",
    "POLK": "colk.learners",
    "Affine": "colk.rkhs.interop",
    "COLKClassifier": "colk.estimators",
    "COLKQuantileRegressor": "colk.estimators",
    "COLKRegressor": "colk.estimators",
    "Compression": "colk.rkhs.compression",
    "ConformalRegressor": "colk.conformal",
    "DivergenceError": "colk.errors",
    "FileFormatError": "colk.errors",
    "KernelCompressor": "colk.estimators",
    "KernelExpansion": "colk.rkhs.expansion",
    "Objective": "colk.rkhs.objectives",
    "compress": "colk.rkhs.compression",
    "from_sklearn": "colk.rkhs.interop",
    "load": "colk.persistence",
    "objective": "colk.rkhs.objectives",
    "save": "colk.persistence",
}


_MODULES = frozenset(
    {
        "compressors",
        "conformal",
        "errors",
        "estimators",
        "experiments",
        "export",
        "kernels",
        "learners",
        "losses",
        "persistence",
        "reference",
        "risks",
        "river",
        "rkhs",
        "rl",
        "schedules",
        "selection",
        "tabular",
        "testing",
        "theory",
        "trackers",
    }
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"colk.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'colk' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
