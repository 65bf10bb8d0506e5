"""Estimators in scikit-learn's manner: regression, classification, compression, displays.

What is compressed or drawn is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colk.estimators.classifier import COLKClassifier
from colk.estimators.quantiles import COLKQuantileRegressor
from colk.estimators.regressor import COLKRegressor

if TYPE_CHECKING:
    from colk.estimators.compressor import KernelCompressor
    from colk.estimators.displays import (
        IntervalDisplay,
        LearnedFunctionDisplay,
        LossDistributionDisplay,
        ModelOrderDisplay,
        RaceDisplay,
        RiskTradeoffDisplay,
    )

__all__ = [
    "COLKClassifier",
    "COLKQuantileRegressor",
    "COLKRegressor",
    "IntervalDisplay",
    "KernelCompressor",
    "LearnedFunctionDisplay",
    "LossDistributionDisplay",
    "ModelOrderDisplay",
    "RaceDisplay",
    "RiskTradeoffDisplay",
]

_HOMES = {
    "KernelCompressor": "colk.estimators.compressor",
    "IntervalDisplay": "colk.estimators.displays",
    "LearnedFunctionDisplay": "colk.estimators.displays",
    "LossDistributionDisplay": "colk.estimators.displays",
    "ModelOrderDisplay": "colk.estimators.displays",
    "RaceDisplay": "colk.estimators.displays",
    "RiskTradeoffDisplay": "colk.estimators.displays",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'colk.estimators' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
