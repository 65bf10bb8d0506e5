"""COLK and every method that it is compared with, with the same face."""

from colk.learners.base import OnlineLearner
from colk.learners.bsgd import BSGD, CompositionalBSGD
from colk.learners.colk import COLK
from colk.learners.doubly import DoublySGD
from colk.learners.nasa import NASA
from colk.learners.norma import NORMA
from colk.learners.npbsgd import NPBSGD
from colk.learners.polk import POLK
from colk.learners.random_features import RandomFeatureSGD
from colk.learners.scgd import SCGD, AcceleratedSCGD
from colk.learners.trace import Trace

__all__ = [
    "BSGD",
    "COLK",
    "NASA",
    "NORMA",
    "NPBSGD",
    "POLK",
    "SCGD",
    "AcceleratedSCGD",
    "CompositionalBSGD",
    "DoublySGD",
    "OnlineLearner",
    "RandomFeatureSGD",
    "Trace",
]
