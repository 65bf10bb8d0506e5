"""Validation of the settings of learners; constructors have their defaults."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from colk._engine.terms import Term, check_overrides, check_term
from colk._validation import check_count, check_fraction, check_number
from colk.compressors import KOMP, Compressor
from colk.kernels import Kernel
from colk.losses import Loss, Squared
from colk.losses.scale import loss_scale
from colk.risks import Mean, Risk
from colk.schedules import PAIRINGS, Averaging, Pairing, PowerDecay, as_decay
from colk.trackers import as_tracker

__all__ = ["CHECKS"]

Check = Callable[[Any, str], Any]


def _term(kind: type[Term], default: Term | None = None) -> Check:
    return lambda value, name: check_term(default if value is None else value, kind, name)


def _loss(value: Any, name: str) -> Any:
    loss = check_term(Squared() if value is None else value, Loss, name)
    loss_scale(loss)  # rejects slopes of the wrong sign
    return loss


def _optional(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _anything(value: Any, name: str) -> Any:
    """Validated by the consumer."""
    return value


def _share(value: Any, name: str) -> PowerDecay:
    rate = as_decay(value, name)
    if rate.initial > 1.0:
        raise ValueError(f"{name} must lie in (0, 1], got {rate.initial}")
    return rate


def _bound(value: Any, name: str) -> float:
    return float("inf") if value == np.inf else check_number(value, name, above=0.0)


def _features(value: Any, name: str) -> Any:
    if not callable(getattr(value, "transform", None)):
        raise TypeError(
            f"{name} must be a FeatureMap or a fitted transformer with a method `transform`, "
            f"got {type(value).__name__}"
        )
    return value


def _pairing(value: Any, name: str) -> Pairing:
    if value not in PAIRINGS:
        raise ValueError(f"{name} must be one of {list(PAIRINGS)}, got {value!r}")
    return value  # type: ignore[no-any-return]


def _averaging(value: Any, name: str) -> Averaging | None:
    if not isinstance(value, Averaging | None):
        raise TypeError(
            f"{name} must be PolyakRuppert, Exponential or None, got {type(value).__name__}"
        )
    if value is not None:
        check_overrides(value)
    return value


def _forgetting(value: Any, name: str) -> Any:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name} must be 'auto' or lie in (0, 1], got {value!r}")
        return value
    return check_fraction(value, name)


def _prior(value: Any, name: str) -> Any:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name} must be 'auto' or a number above 0, got {value!r}")
        return value
    return check_number(value, name, above=0.0)


_positive = partial(check_number, above=0.0)

CHECKS: dict[str, Check] = {
    "kernel": _term(Kernel),
    "features": _features,
    "loss": _loss,
    "risk": _term(Risk, Mean()),
    "compressor": _term(Compressor, KOMP(eps=0.005)),
    "tracker": lambda value, name: as_tracker(value),
    "max_atoms": _optional(check_count),
    "maintenance": _anything,
    "growth": _positive,
    "horizon": check_count,
    "seed": partial(check_count, at_least=0),
    "step_size": as_decay,
    "risk_step": _positive,
    "tracking_rate": _share,
    "regularization": partial(check_number, at_least=0.0),
    "nu": _optional(check_fraction),
    "proximity": _positive,
    "gradient_gain": _positive,
    "tracking_gain": _positive,
    "pairing": _pairing,
    "gradient_bound": _bound,
    "norm_bound": _bound,
    "averaging": _averaging,
    "batch_size": check_count,
    "xi_per_theta": check_count,
    "n_outputs": _optional(check_count),
    "trace": _anything,
    "implicit": _anything,
    "prior": _prior,
    "forgetting": _forgetting,
    "trust": _bound,
    "restart": _anything,
}
