"""COLK and the methods that it is compared with, all with the same interface."""

from colk._engine.own_step import OwnStep
from colk.learners.base import OnlineLearner
from colk.learners.budgeted import BSGD, NORMA, NPBSGD, CompositionalBSGD
from colk.learners.colk import COLK, POLK
from colk.learners.conditional import ConditionalCOLK
from colk.learners.drift import DriftDetector
from colk.learners.drift_event import DriftEvent
from colk.learners.featured import NASA, SCGD, AcceleratedSCGD, DoublySGD, RandomFeatureSGD
from colk.learners.hedged import HedgedCOLK, HedgedNewtonCOLK
from colk.learners.newton import NewtonCOLK
from colk.learners.quantiles import QuantileCOLK
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
    "ConditionalCOLK",
    "DoublySGD",
    "DriftDetector",
    "DriftEvent",
    "HedgedCOLK",
    "HedgedNewtonCOLK",
    "NewtonCOLK",
    "OnlineLearner",
    "OwnStep",
    "QuantileCOLK",
    "RandomFeatureSGD",
    "Trace",
]
