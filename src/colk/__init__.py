"""Risk-sensitive online kernel learning in bounded memory.

Public names and modules are imported on first use, so `import colk` takes milliseconds.
"""

from colk._lazy import lazy_attributes
from colk._version import __version__

TYPE_CHECKING = False
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
    from colk.merging import Merged, merge
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
    "Merged",
    "Objective",
    "__version__",
    "compress",
    "from_sklearn",
    "load",
    "merge",
    "objective",
    "save",
]

_MODULES = (
    "compressors",
    "conformal",
    "distributed",
    "errors",
    "estimators",
    "export",
    "kernels",
    "learners",
    "losses",
    "merging",
    "persistence",
    "model",
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
)

__getattr__ = lazy_attributes(
    "colk",
    {
        **{name: f"colk.{name}" for name in _MODULES},
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
        "Merged": "colk.merging",
        "Objective": "colk.rkhs.objectives",
        "compress": "colk.rkhs.compression",
        "from_sklearn": "colk.rkhs.interop",
        "load": "colk.persistence",
        "merge": "colk.merging",
        "objective": "colk.rkhs.objectives",
        "save": "colk.persistence",
    },
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
