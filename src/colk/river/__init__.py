"""COLK for River: each sample is a dictionary of features."""

from colk._extras import needed_for

with needed_for("colk.river", extra="river"):
    import river  # noqa: F401  # fails with advice if it is not installed

from colk.river.classifier import COLKClassifier
from colk.river.conformal import ConformalRegressor
from colk.river.drift import DriftDetector, DriftWatch
from colk.river.features import drop_missing
from colk.river.labels import ConformalClassifier
from colk.river.metrics import ClassificationRisk, RegressionRisk
from colk.river.quantiles import COLKQuantileRegressor
from colk.river.regressor import COLKRegressor
from colk.river.scores import (
    CRPS,
    InfiniteShare,
    IntervalCoverage,
    IntervalScore,
    LongestMissRun,
    PinballLoss,
)

__all__ = [
    "CRPS",
    "COLKClassifier",
    "COLKQuantileRegressor",
    "COLKRegressor",
    "ClassificationRisk",
    "ConformalClassifier",
    "ConformalRegressor",
    "DriftDetector",
    "DriftWatch",
    "InfiniteShare",
    "IntervalCoverage",
    "IntervalScore",
    "LongestMissRun",
    "PinballLoss",
    "RegressionRisk",
    "drop_missing",
]
