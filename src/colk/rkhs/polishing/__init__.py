"""Optimal weights on given atoms over all data, by Newton's method."""

from colk.rkhs.polishing.outliers import RobustPolish, polish_without_outliers
from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = [
    "Polished",
    "RobustPolish",
    "polish",
    "polish_without_outliers",
    "predict_left_out",
]
