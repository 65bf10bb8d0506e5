"""COLK for River: dictionaries of features, one sample at a time."""

from colk.river.classifier import COLKClassifier
from colk.river.regressor import COLKRegressor

__all__ = ["COLKClassifier", "COLKRegressor"]
