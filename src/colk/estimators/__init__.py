"""Estimators in scikit-learn's manner: regression, classification, compression."""

from colk.estimators.classifier import COLKClassifier
from colk.estimators.regressor import COLKRegressor

__all__ = ["COLKClassifier", "COLKRegressor"]
