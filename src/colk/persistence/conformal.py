"""Prediction intervals in files: the model that predicts, and what its intervals missed."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from colk._validation import check_number
from colk.errors import FileFormatError
from colk.persistence.memory import Memory
from colk.persistence.parts import take, whole

__all__ = ["pack", "pack_interval", "pack_river", "restore", "restore_interval", "restore_river"]

_MOST = 2**53
_SETTINGS = ("coverage", "interval", "has_learned")


def _pack(model: Any) -> dict[str, Any]:
    return {
        "coverage": model.coverage,
        "interval": model._interval,
        "has_learned": model._has_learned,
    }


def pack(model: Any) -> dict[str, Any]:
    """Return the model that predicts, and the state of its intervals."""
    return {"model": model.model, **_pack(model)}


def pack_river(model: Any) -> dict[str, Any]:
    """Return the regressor of River's face, and the state of its intervals."""
    return {"regressor": model.regressor, **_pack(model)}


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the intervals around a model, which its constructor checks."""
    return _restore(kind, parts, "model", lambda model: hasattr(model, "predict"))


def restore_river(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the intervals around a regressor of River's face."""
    return _restore(kind, parts, "regressor", lambda model: hasattr(model, "predict_one"))


def _restore(
    kind: type[Any], parts: dict[str, Any], name: str, predicts: Callable[[Any], bool]
) -> Any:
    inner, coverage, interval, has_learned = take(parts, name, *_SETTINGS)
    if not predicts(inner) or type(has_learned) is not bool:
        raise FileFormatError(f"a {kind.__name__} has no {name} that predicts")
    if type(interval).__name__ != "AdaptiveInterval":
        raise FileFormatError(f"a {kind.__name__} has no intervals")
    model = kind(inner, coverage, interval.rate, interval.window)
    if model.coverage not in interval._levels:
        raise FileFormatError(f"intervals of the coverage {model.coverage} were not followed")
    if has_learned and name == "model" and not model._has_learned:
        raise FileFormatError("a model that has learned nothing is said to have learned")
    model._interval, model._has_learned = interval, has_learned
    return model


def pack_interval(interval: Any) -> dict[str, Any]:
    """Return the recent residuals in their order, and what is known of each coverage."""
    levels = interval._levels
    return {
        "rate": interval.rate,
        "window": interval.window,
        "recent": np.array(interval._recent, dtype=np.float64).reshape(-1, 2),
        "levels": [[coverage, *_known(level)] for coverage, level in levels.items()],
    }


def _known(level: Any) -> tuple[float, int, int]:
    return level.aim, level.seen, level.missed


def restore_interval(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the intervals, steered by residuals that are finite."""
    rate, window, recent, levels = take(parts, "rate", "window", "recent", "levels")
    interval = kind(rate, window)
    if not isinstance(recent, np.ndarray) or recent.dtype != np.float64 or recent.ndim != 2:
        raise FileFormatError("residuals are no table of numbers")
    if recent.shape[1] != 2 or len(recent) > interval.window or not np.isfinite(recent).all():
        raise FileFormatError(f"residuals are not at most {interval.window} pairs of numbers")
    # 300 bytes are more than what a pair takes in a queue and two lists.
    memory.check(300.0 * len(recent), "residuals")
    interval._recent = deque((below, above) for below, above in recent.tolist())
    interval._below, interval._above = (np.sort(column).tolist() for column in recent.T)
    for coverage, aim, seen, missed in levels:
        interval.follow(check_number(coverage, "the coverage"))
        level = interval._levels[float(coverage)]
        level.aim = check_number(aim, "the share that intervals leave out")
        if level.aim > 1.0:  # quantiles beyond the outermost
            raise FileFormatError(f"intervals are to leave out a share of {level.aim:g}")
        level.seen = whole(seen, 0, _MOST, "the number of intervals")
        level.missed = whole(missed, 0, seen, "the number of targets that were missed")
    return interval
