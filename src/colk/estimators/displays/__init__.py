"""Displays as in scikit-learn: `from_estimator` computes, `plot` draws."""

from colk.estimators.displays.function import LearnedFunctionDisplay
from colk.estimators.displays.intervals import IntervalDisplay
from colk.estimators.displays.losses import LossDistributionDisplay
from colk.estimators.displays.order import ModelOrderDisplay
from colk.estimators.displays.race import RaceDisplay
from colk.estimators.displays.relevance import FeatureRelevanceDisplay
from colk.estimators.displays.risk_path import RiskPathDisplay
from colk.estimators.displays.stream import StreamDisplay
from colk.estimators.displays.tradeoff import RiskTradeoffDisplay

__all__ = [
    "FeatureRelevanceDisplay",
    "IntervalDisplay",
    "LearnedFunctionDisplay",
    "LossDistributionDisplay",
    "ModelOrderDisplay",
    "RaceDisplay",
    "RiskPathDisplay",
    "RiskTradeoffDisplay",
    "StreamDisplay",
]
