"""Optimal weights on given atoms over all data, by Newton's method."""

from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = ["Polished", "polish", "predict_left_out"]
