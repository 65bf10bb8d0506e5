"""Prediction intervals and prediction sets with guaranteed coverage on drifting streams."""

from colk.conformal.adaptive import AdaptiveInterval
from colk.conformal.coverage import (
    coverage_by_group,
    infinite_share,
    longest_miss_run,
    worst_slab_coverage,
)
from colk.conformal.labels import ConformalClassifier, ScoreThresholds
from colk.conformal.regressor import ConformalRegressor
from colk.conformal.scores import interval_score, quantile_crps
from colk.conformal.tracked import TrackedInterval

__all__ = [
    "AdaptiveInterval",
    "ConformalClassifier",
    "ConformalRegressor",
    "ScoreThresholds",
    "TrackedInterval",
    "coverage_by_group",
    "infinite_share",
    "interval_score",
    "longest_miss_run",
    "quantile_crps",
    "worst_slab_coverage",
]
