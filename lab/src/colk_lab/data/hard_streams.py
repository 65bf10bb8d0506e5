"""Difficult streams; each says what changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk_lab.arrays import Array

__all__ = ["HARD_STREAMS", "HardStream"]

Random = np.random.Generator
Sample = tuple[dict[str, Any], float]


@dataclass(frozen=True)
class HardStream:
    """A stream on which something changes.

    Parameters
    ----------
    name, why : str
        Its name, and what changes.
    draw : callable
        Returns n samples.
    """

    name: str
    why: str
    draw: Callable[[int, Random], list[Sample]]


def _named(X: Array, y: Array) -> list[Sample]:
    return [
        ({f"x{j}": value for j, value in enumerate(x)}, target)
        for x, target in zip(X.tolist(), y.tolist(), strict=True)
    ]


def _function(X: Array, phase: Array | float = 0.0) -> Array:
    return np.asarray(np.sin(2.0 * X[:, 0] + phase) + X[:, 1] * np.cos(phase))


def _features(n: int, rng: Random) -> Array:
    return rng.uniform(-2.0, 2.0, size=(n, 3))


def _noisy(truth: Array, rng: Random) -> Array:
    return np.asarray(truth + 0.1 * rng.normal(size=len(truth)))


def _phased(phase: Callable[[Array], Array]) -> Callable[[int, Random], list[Sample]]:
    """Draw a function whose phase depends on the share of the stream that has passed."""

    def draw(n: int, rng: Random) -> list[Sample]:
        X = _features(n, rng)
        return _named(X, _noisy(_function(X, phase(np.arange(n) / n)), rng))

    return draw


def _sorted(n: int, rng: Random) -> list[Sample]:
    X = _features(n, rng)
    X = X[np.argsort(X[:, 0])]
    return _named(X, _noisy(_function(X), rng))


def _scaled(growth: float) -> Callable[[int, Random], list[Sample]]:
    def draw(n: int, rng: Random) -> list[Sample]:
        X = _features(n, rng)
        scale = growth ** (np.arange(n) / n)
        return _named(X * scale[:, None], scale * _noisy(_function(X), rng))

    return draw


def _gaps(n: int, rng: Random) -> list[Sample]:
    samples = _named(*_pair(n, rng))
    for k, (x, _) in enumerate(samples):
        if k > n // 2 and rng.random() < 0.5:
            x["x1"] = None
    return samples


def _pair(n: int, rng: Random) -> tuple[Array, Array]:
    X = _features(n, rng)
    return X, _noisy(_function(X), rng)


def _lost(n: int, rng: Random) -> list[Sample]:
    samples = _named(*_pair(n, rng))
    for x, _ in samples[n // 2 :]:
        del x["x2"]
        x["x3"] = float(rng.normal())
    return samples


def _kinds(n: int, rng: Random) -> list[Sample]:
    """A new category appears every tenth of the stream."""
    X, y = _pair(n, rng)
    effects = np.random.default_rng(7).normal(size=10)
    kinds = [int(rng.integers(1 + 10 * k // n)) for k in range(n)]
    return [
        ({**x, "kind": f"kind {kind}"}, target + float(effects[kind]))
        for (x, target), kind in zip(_named(X, y), kinds, strict=True)
    ]


def _clock(n: int, rng: Random) -> list[Sample]:
    X = np.column_stack([np.arange(n, dtype=float), rng.uniform(-2.0, 2.0, size=n)])
    truth = 0.003 * X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / 24.0) + X[:, 1]
    return _named(X, _noisy(truth, rng))


def _walk(n: int, rng: Random) -> list[Sample]:
    path = np.cumsum(rng.normal(size=n + 3))
    return _named(np.column_stack([path[k : k + n] for k in range(3)]), path[3 : n + 3])


def _bursts(n: int, rng: Random) -> list[Sample]:
    X, y = _pair(n, rng)
    y[(np.arange(n) % 300 > 280)] += 20.0
    return _named(X, y)


def _stuck(n: int, rng: Random) -> list[Sample]:
    X, y = _pair(n, rng)
    X[n // 2 :, 0] = X[n // 2, 0]
    return _named(X, y)


def _jump(share: Array) -> Array:
    return np.where(share > 0.5, 2.0, 0.0)


def _turns(share: Array) -> Array:
    return np.where(8.0 * share % 2.0 >= 1.0, 2.0, 0.0)


_ALL = (
    HardStream("abrupt change", "The function changes at once.", _phased(_jump)),
    HardStream("gradual change", "The function changes all the time.", _phased(lambda t: 6.0 * t)),
    HardStream(
        "seasons",
        "Two functions take turns, eight times.",
        _phased(_turns),
    ),
    HardStream("sorted rows", "A feature only grows.", _sorted),
    HardStream("growing scale", "Features and targets grow by 1,000.", _scaled(1000.0)),
    HardStream("shrinking scale", "Features and targets shrink by 1,000.", _scaled(0.001)),
    HardStream("gaps arrive", "Half of a feature is missing in the second half.", _gaps),
    HardStream("a feature is replaced", "One disappears, and another comes.", _lost),
    HardStream("new categories arrive", "One after each tenth.", _kinds),
    HardStream("clock", "A feature is time; there are a trend and a day.", _clock),
    HardStream("random walk", "No change is the best prediction.", _walk),
    HardStream("bursts", "Twenty samples of 300 are 20 too large.", _bursts),
    HardStream("stuck sensor", "A feature is constant in the second half.", _stuck),
)

HARD_STREAMS = {each.name: each for each in _ALL}
