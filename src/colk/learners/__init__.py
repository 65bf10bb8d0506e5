"""COLK and every method that it is compared with, with the same face."""

from colk.learners.base import OnlineLearner
from colk.learners.colk import COLK
from colk.learners.polk import POLK
from colk.learners.trace import Trace

__all__ = ["COLK", "POLK", "OnlineLearner", "Trace"]
