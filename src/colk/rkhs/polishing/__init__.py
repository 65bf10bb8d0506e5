"""Optimal weights on given atoms over all data, by Newton's method."""

from colk.rkhs.polishing.folds import CrossPolished, cross_polish
from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = ["CrossPolished", "Polished", "cross_polish", "polish", "predict_left_out"]
