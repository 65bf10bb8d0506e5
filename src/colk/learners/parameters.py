"""Keyword parameters of the learners' constructors: each has its type and its default here.

A constructor names its terms, and takes one of these groups as `**settings: Unpack[...]`. The class
attribute `_defaults` of a learner replaces defaults. `settings.py` checks the values.
"""

from inspect import Parameter, signature
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from colk.compressors import KOMP, Compressor
from colk.schedules import Averaging, Pairing, PolyakRuppert, Rate
from colk.trackers import Momentum, Tracker

__all__ = [
    "BatchSettings",
    "BudgetSettings",
    "CompositionalSettings",
    "DescentSettings",
    "GradientSettings",
    "HedgedNewtonSettings",
    "HedgedSettings",
    "NewtonSettings",
    "PairedBudgetSettings",
    "PairedNewtonSettings",
    "RiskSettings",
    "SampledSettings",
    "StepSettings",
    "parameters_of",
]


class _Trace(TypedDict, total=False):
    trace: Annotated[bool, False]


class _Outputs(_Trace, total=False):
    n_outputs: Annotated[int | None, None]


class _Batch(TypedDict, total=False):
    batch_size: Annotated[int, 1]


class _Compressor(TypedDict, total=False):
    compressor: Annotated[Compressor | None, None]


class _Pursuit(TypedDict, total=False):
    compressor: Annotated[KOMP | None, None]


class _Implicit(TypedDict, total=False):
    implicit: Annotated[bool, False]


class _Tracking(TypedDict, total=False):
    tracking_rate: Annotated[Rate, 0.1]


class _Pairing(TypedDict, total=False):
    pairing: Annotated[Pairing, "independent"]


class _Pairs(_Tracking, _Pairing, total=False):
    tracker: Annotated[Tracker | str, Momentum()]


class _RiskStep(TypedDict, total=False):
    risk_step: Annotated[float, 1.0]


class DescentSettings(_Outputs, total=False):
    """Every method by gradient steps."""

    gradient_bound: Annotated[float, 10.0]
    averaging: Annotated[Averaging | None, PolyakRuppert(growth=3.0)]


class StepSettings(DescentSettings, total=False):
    """Gradient steps on a penalised objective."""

    step_size: Annotated[Rate, 0.1]
    regularization: Annotated[float, 1e-6]


class BatchSettings(StepSettings, _Batch, total=False):
    """The same, with several samples per step."""


class GradientSettings(BatchSettings, _Compressor, _Implicit, total=False):
    """`POLK`."""

    norm_bound: Annotated[float, np.inf]


class RiskSettings(GradientSettings, _Pairs, total=False):
    """`COLK`."""

    xi_per_theta: Annotated[int, 1]


class HedgedSettings(StepSettings, _Pursuit, _Implicit, _Tracking, _RiskStep, total=False):
    """`HedgedCOLK`."""


class BudgetSettings(DescentSettings, _Batch, total=False):
    """`BSGD`."""


class PairedBudgetSettings(BudgetSettings, _Pairs, total=False):
    """`CompositionalBSGD`."""


class SampledSettings(BatchSettings, _Pairing, total=False):
    """`NASA`."""


class CompositionalSettings(SampledSettings, _Tracking, total=False):
    """`SCGD`."""


class NewtonSettings(_Trace, _Pursuit, total=False):
    """Every method by Newton steps."""

    prior: Annotated[float | Literal["auto"], 0.3]
    forgetting: Annotated[float | Literal["auto"], 1.0]
    trust: Annotated[float, 10.0]
    restart: Annotated[bool, False]


class PairedNewtonSettings(NewtonSettings, _Outputs, _Batch, _Pairs, total=False):
    """`NewtonCOLK`."""


class HedgedNewtonSettings(NewtonSettings, _Outputs, _Tracking, _RiskStep, total=False):
    """`HedgedNewtonCOLK`."""


def parameters_of(cls: Any) -> tuple[list[Parameter], list[Parameter]]:
    """Return the named parameters of a constructor, and those of its group of settings.

    Examples
    --------
    >>> from colk.learners import POLK
    >>> named, settings = parameters_of(POLK)
    >>> [each.name for each in named], "batch_size" in [each.name for each in settings]
    (['kernel', 'loss'], True)
    """
    _, *named = signature(cls.__init__).parameters.values()
    if not named or get_origin(named[-1].annotation) is not Unpack:
        return named, []
    (group,), settings = get_args(named.pop().annotation), []
    for name, hint in get_type_hints(group, include_extras=True).items():
        kind, default = get_args(hint)
        given = cls._defaults.get(name, default)
        settings.append(Parameter(name, Parameter.KEYWORD_ONLY, default=given, annotation=kind))
    return named, settings
