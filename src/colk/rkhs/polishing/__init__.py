"""The best weights for atoms that are given, over all of the data: Newton's method by BLAS."""

from colk.rkhs.polishing.weights import Polished, polish, predict_left_out

__all__ = ["Polished", "polish", "predict_left_out"]
