"""Estimators in scikit-learn's manner: regression, classification, compression, displays."""

from colk.estimators.classifier import COLKClassifier
from colk.estimators.compressor import KernelCompressor
from colk.estimators.displays import (
    LearnedFunctionDisplay,
    LossDistributionDisplay,
    ModelOrderDisplay,
    RiskTradeoffDisplay,
)
from colk.estimators.regressor import COLKRegressor

__all__ = [
    "COLKClassifier",
    "COLKRegressor",
    "KernelCompressor",
    "LearnedFunctionDisplay",
    "LossDistributionDisplay",
    "ModelOrderDisplay",
    "RiskTradeoffDisplay",
]
