"""Estimators for scikit-learn: regression, classification, quantiles, compression, displays.

The compressor and the displays are imported when they are first used.
"""

from typing import TYPE_CHECKING

from colk._lazy import lazy_attributes
from colk.estimators.classifier import COLKClassifier
from colk.estimators.quantiles import COLKQuantileRegressor
from colk.estimators.regressor import COLKRegressor

if TYPE_CHECKING:
    from colk.estimators.compressor import KernelCompressor
    from colk.estimators.displays import (
        FeatureRelevanceDisplay,
        IntervalDisplay,
        LearnedFunctionDisplay,
        LossDistributionDisplay,
        ModelOrderDisplay,
        RaceDisplay,
        RiskPathDisplay,
        RiskTradeoffDisplay,
        StreamDisplay,
    )

__all__ = [
    "COLKClassifier",
    "COLKQuantileRegressor",
    "COLKRegressor",
    "FeatureRelevanceDisplay",
    "IntervalDisplay",
    "KernelCompressor",
    "LearnedFunctionDisplay",
    "LossDistributionDisplay",
    "ModelOrderDisplay",
    "RaceDisplay",
    "RiskPathDisplay",
    "RiskTradeoffDisplay",
    "StreamDisplay",
]

_DISPLAYS = "colk.estimators.displays"

__getattr__ = lazy_attributes(
    "colk.estimators",
    {
        "KernelCompressor": "colk.estimators.compressor",
        "FeatureRelevanceDisplay": _DISPLAYS,
        "IntervalDisplay": _DISPLAYS,
        "LearnedFunctionDisplay": _DISPLAYS,
        "LossDistributionDisplay": _DISPLAYS,
        "ModelOrderDisplay": _DISPLAYS,
        "RaceDisplay": _DISPLAYS,
        "RiskPathDisplay": _DISPLAYS,
        "RiskTradeoffDisplay": _DISPLAYS,
        "StreamDisplay": _DISPLAYS,
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
