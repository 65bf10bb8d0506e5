"""The best weights for atoms that are given, over all of the data: Newton's method by BLAS."""

from colk.polish.function import Polished, polish

__all__ = ["Polished", "polish"]
