"""Build a learner from settings, in the same way for every class that has these settings."""

from colk.recipe.contest import Contest
from colk.recipe.growth import Growth, grown
from colk.recipe.recipe import Recipe, has_solver
from colk.recipe.settings import (
    CLASSIFIER,
    QUANTILE_REGRESSOR,
    REGRESSOR,
    RIVER_CLASSIFIER,
    RIVER_REGRESSOR,
    RiverSolver,
    Settings,
    Solver,
)
from colk.recipe.terms import (
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
