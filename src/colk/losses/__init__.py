"""Losses ℓ(f, y): one number for one prediction, and its slope ∂ℓ/∂f.

A loss is a frozen term with hyper-parameters; its methods are the compiled formulas. `LOSSES` lists
the built-in losses by name; `CustomLoss` takes two user-defined functions.
"""

from colk.losses.base import Loss
from colk.losses.classification import Hinge, Logistic, SmoothHinge, Softmax, SquaredHinge
from colk.losses.custom import CustomLoss
from colk.losses.quantiles import Quantiles
from colk.losses.regression import (
    EpsilonInsensitive,
    Expectile,
    Huber,
    LogCosh,
    Pinball,
    Squared,
    SquaredEpsilonInsensitive,
    Tukey,
    Welsch,
)

__all__ = [
    "LOSSES",
    "CustomLoss",
    "EpsilonInsensitive",
    "Expectile",
    "Hinge",
    "Huber",
    "LogCosh",
    "Logistic",
    "Loss",
    "Pinball",
    "Quantiles",
    "SmoothHinge",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tukey",
    "Welsch",
]

LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "huber": Huber,
    "log_cosh": LogCosh,
    "welsch": Welsch,
    "tukey": Tukey,
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "pinball": Pinball,
    "expectile": Expectile,
    "logistic": Logistic,
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smooth_hinge": SmoothHinge,
    "softmax": Softmax,
}
