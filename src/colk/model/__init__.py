"""Build a learner from settings, in the same way for every class that has these settings."""

from colk.model.contest import Contest
from colk.model.growth import Growth, grown
from colk.model.recipe import Recipe, has_solver
from colk.model.settings import (
    CLASSIFIER,
    QUANTILE_REGRESSOR,
    REGRESSOR,
    RIVER_CLASSIFIER,
    RIVER_REGRESSOR,
    RiverSolver,
    Settings,
    Solver,
)
from colk.model.stream import OnlineFit
from colk.model.terms import (
    as_averaging,
    as_loss,
    as_risk,
    classification_loss,
    regression_loss,
    table_loss,
    table_risk,
)

__all__ = [
    "CLASSIFIER",
    "QUANTILE_REGRESSOR",
    "REGRESSOR",
    "RIVER_CLASSIFIER",
    "RIVER_REGRESSOR",
    "Contest",
    "Growth",
    "OnlineFit",
    "Recipe",
    "RiverSolver",
    "Settings",
    "Solver",
    "as_averaging",
    "as_loss",
    "as_risk",
    "classification_loss",
    "grown",
    "has_solver",
    "regression_loss",
    "table_loss",
    "table_risk",
]
