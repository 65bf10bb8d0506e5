"""Functions in a reproducing kernel Hilbert space, and operations on them after learning.

You can evaluate and add functions, compress them with a certificate, refit their weights, evaluate
the objective, find the exact optimum, convert models of scikit-learn, and map points to features.
"""

from typing import TYPE_CHECKING

from colk._lazy import lazy_attributes

if TYPE_CHECKING:
    from colk.rkhs.batch import BatchSolution, minimize
    from colk.rkhs.compression import Compression, compress
    from colk.rkhs.expansion import KernelExpansion
    from colk.rkhs.features import FeatureMap, RandomFourierFeatures, RBFNetwork
    from colk.rkhs.interop import Affine, from_sklearn
    from colk.rkhs.objectives import Objective, objective
    from colk.rkhs.polishing import Polished, RiskPath, polish, polish_under_risk, predict_left_out

__all__ = [
    "Affine",
    "BatchSolution",
    "Compression",
    "FeatureMap",
    "KernelExpansion",
    "Objective",
    "Polished",
    "RBFNetwork",
    "RandomFourierFeatures",
    "RiskPath",
    "compress",
    "from_sklearn",
    "minimize",
    "objective",
    "polish",
    "polish_under_risk",
    "predict_left_out",
]

__getattr__ = lazy_attributes(
    "colk.rkhs",
    {
        "Affine": "colk.rkhs.interop",
        "BatchSolution": "colk.rkhs.batch",
        "Compression": "colk.rkhs.compression",
        "FeatureMap": "colk.rkhs.features",
        "KernelExpansion": "colk.rkhs.expansion",
        "Objective": "colk.rkhs.objectives",
        "Polished": "colk.rkhs.polishing",
        "RBFNetwork": "colk.rkhs.features",
        "RandomFourierFeatures": "colk.rkhs.features",
        "RiskPath": "colk.rkhs.polishing",
        "compress": "colk.rkhs.compression",
        "from_sklearn": "colk.rkhs.interop",
        "minimize": "colk.rkhs.batch",
        "objective": "colk.rkhs.objectives",
        "polish": "colk.rkhs.polishing",
        "polish_under_risk": "colk.rkhs.polishing",
        "predict_left_out": "colk.rkhs.polishing",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
