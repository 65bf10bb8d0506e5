"""Prediction intervals with guaranteed coverage on drifting streams."""

from colk.conformal.adaptive import AdaptiveInterval
from colk.conformal.regressor import ConformalRegressor

__all__ = ["AdaptiveInterval", "ConformalRegressor"]
