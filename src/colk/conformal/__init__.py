"""Prediction intervals with coverage, for streams that drift: adaptive conformal inference."""

from colk.conformal.adaptive import AdaptiveInterval
from colk.conformal.regressor import ConformalRegressor

__all__ = ["AdaptiveInterval", "ConformalRegressor"]
