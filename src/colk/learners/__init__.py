"""COLK and every method that it is compared with, with the same face."""

from colk.learners.base import OnlineLearner
from colk.learners.bsgd import BSGD, CompositionalBSGD
from colk.learners.colk import COLK
from colk.learners.norma import NORMA
from colk.learners.npbsgd import NPBSGD
from colk.learners.polk import POLK
from colk.learners.trace import Trace

__all__ = [
    "BSGD",
    "COLK",
    "NORMA",
    "NPBSGD",
    "POLK",
    "CompositionalBSGD",
    "OnlineLearner",
    "Trace",
]
