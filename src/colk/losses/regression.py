"""Losses of the residual r = f − y, summed over the outputs."""

from dataclasses import dataclass
from typing import Any

from colk._core import losses as core
from colk._validation import check_number
from colk.losses.base import Loss

__all__ = [
    "EpsilonInsensitive",
    "Expectile",
    "Huber",
    "LogCosh",
    "Pinball",
    "Squared",
    "SquaredEpsilonInsensitive",
]


def _check_level(value: Any, name: str) -> None:
    if not 0.0 < check_number(value, name) < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")


@dataclass(frozen=True)
class Squared(Loss):
    """Squared residual, r². Its mean is least at the conditional mean of y.

    Examples
    --------
    >>> Squared().value([1.0, 2.0], [3.0, 2.0])
    array([4., 0.])
    >>> Squared().slope([1.0, 2.0], [3.0, 2.0])
    array([-4.,  0.])
    """

    def _constants(self) -> tuple[float, ...]:
        return (core.SQUARED, 0.0)


@dataclass(frozen=True)
class Huber(Loss):
    """r²/2 up to a threshold δ, δ(|r| − δ/2) beyond: an outlier pulls no harder than δ.

    Parameters
    ----------
    threshold : float
        δ > 0, in the units of y.

    Examples
    --------
    >>> Huber(threshold=1.0).value([0.5, 3.0], [0.0, 0.0])
    array([0.125, 2.5  ])
    >>> Huber(threshold=1.0).slope([0.5, 3.0], [0.0, 0.0])
    array([0.5, 1. ])
    """

    threshold: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.threshold, "threshold", above=0.0)

    def _constants(self) -> tuple[float, ...]:
        return (core.HUBER, self.threshold)


@dataclass(frozen=True)
class LogCosh(Loss):
    """s² log cosh(r/s): about r²/2 near 0 and s|r| far away, infinitely smooth.

    Computed without overflow at any size of r, and without cancellation near 0.

    Parameters
    ----------
    scale : float
        s > 0, in the units of y: the residual at which the loss turns from square to linear.

    Examples
    --------
    >>> LogCosh().value([0.0, 1000.0], [0.0, 0.0]).round(6)
    array([  0.      , 999.306853])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.scale, "scale", above=0.0)

    def _constants(self) -> tuple[float, ...]:
        return (core.LOG_COSH, self.scale)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """(|r| − tube)₊: nothing to pay inside the tube, a slope of ±1 outside.

    At the kinks |r| = tube the inside wins: the slope is 0.

    Parameters
    ----------
    tube : float
        Half-width of the tube, at least 0, in the units of y.

    Examples
    --------
    >>> EpsilonInsensitive(tube=0.5).value([0.25, 2.0], [0.0, 0.0])
    array([0. , 1.5])
    >>> EpsilonInsensitive(tube=0.5).slope([0.5, 2.0], [0.0, 0.0])
    array([0., 1.])
    """

    tube: float = 0.1

    def __post_init__(self) -> None:
        check_number(self.tube, "tube", at_least=0.0)

    @property
    def kinks(self) -> tuple[float, ...]:
        """Both edges of the tube."""
        return (-float(self.tube), float(self.tube))

    def _constants(self) -> tuple[float, ...]:
        return (core.EPSILON_INSENSITIVE, self.tube)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """((|r| − tube)₊)²: nothing to pay inside the tube, a square outside; no kink.

    Parameters
    ----------
    tube : float
        Half-width of the tube, at least 0, in the units of y.

    Examples
    --------
    >>> SquaredEpsilonInsensitive(tube=0.5).value([0.25, 2.5], [0.0, 0.0])
    array([0., 4.])
    """

    tube: float = 0.1

    def __post_init__(self) -> None:
        check_number(self.tube, "tube", at_least=0.0)

    def _constants(self) -> tuple[float, ...]:
        return (core.SQUARED_EPSILON_INSENSITIVE, self.tube)


@dataclass(frozen=True)
class Pinball(Loss):
    """τ(y − f) where f is too low, (1 − τ)(f − y) where it is too high.

    Its mean is least at the conditional τ-quantile of y. At the kink f = y the slope is 0.

    Parameters
    ----------
    quantile : float
        τ, strictly between 0 and 1. At 0.5 the loss is half the absolute residual.

    Examples
    --------
    >>> Pinball(quantile=0.75).value([-1.0, 1.0], [0.0, 0.0])
    array([0.75, 0.25])
    >>> Pinball(quantile=0.75).slope([-1.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    array([-0.75,  0.  ,  0.25])
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        _check_level(self.quantile, "quantile")

    @property
    def kinks(self) -> tuple[float, ...]:
        """A residual of 0."""
        return (0.0,)

    def _constants(self) -> tuple[float, ...]:
        return (core.PINBALL, self.quantile)


@dataclass(frozen=True)
class Expectile(Loss):
    """τ(y − f)² where f is too low, (1 − τ)(f − y)² where it is too high; no kink.

    Its mean is least at the conditional τ-expectile of y, the smooth relative of the quantile. At
    0.5 it is half of `Squared`.

    Parameters
    ----------
    level : float
        τ, strictly between 0 and 1.

    Examples
    --------
    >>> Expectile(level=0.75).value([-2.0, 2.0], [0.0, 0.0])
    array([3., 1.])
    """

    level: float = 0.5

    def __post_init__(self) -> None:
        _check_level(self.level, "level")

    def _constants(self) -> tuple[float, ...]:
        return (core.EXPECTILE, self.level)
