"""The mean, and the mean plus a weighted dispersion of the losses."""

from dataclasses import dataclass

from colk._core import risks as core
from colk._validation import check_count, check_number
from colk.risks.base import LossRisk

__all__ = [
    "CentralMoments",
    "Mean",
    "MeanSemideviation",
    "Semideviations",
    "Semivariance",
    "Variance",
]

_MEAN = (core.MEAN, 0)


@dataclass(frozen=True)
class Mean(LossRisk):
    """E ℓ: nothing is tracked. Convex and monotone.

    A dispersion of weight 0 is `Mean`, bit for bit.

    Examples
    --------
    >>> Mean().value([1.0, 2.0, 6.0])
    3.0
    """

    def _constants(self) -> tuple[float, ...]:
        return _MEAN


@dataclass(frozen=True)
class Variance(LossRisk):
    """E ℓ + η E(ℓ − E ℓ)².

    Convex in the losses, but not monotone: it can prefer larger losses that vary less, so that it
    need not be convex in the predictions.

    Parameters
    ----------
    weight : float
        η, at least 0, in units of 1/ℓ.

    Examples
    --------
    >>> Variance(weight=0.5).value([1.0, 3.0])
    2.5
    >>> Variance(weight=0.5).estimate([1.0, 3.0])
    array([2.])
    """

    weight: float = 0.1

    def __post_init__(self) -> None:
        check_number(self.weight, "weight", at_least=0.0)

    @property
    def is_monotone(self) -> bool:
        """Only with weight 0."""
        return self.weight == 0.0

    def _constants(self) -> tuple[float, ...]:
        return (core.MOMENTS, 1, 2, self.weight) if self.weight else _MEAN


@dataclass(frozen=True)
class CentralMoments(LossRisk):
    """E ℓ + η Σ_{p=2..P} E(ℓ − E ℓ)^p: the risk of the paper's experiment.

    Convex in the losses for even P, since u² + … + u^P is; never monotone. For odd P the risk is
    unbounded below in the losses.

    Parameters
    ----------
    order : int
        P, at least 2. With P = 2 this is `Variance`.
    weight : float
        η, at least 0.

    Examples
    --------
    >>> CentralMoments(order=4, weight=0.5).value([1.0, 3.0])
    3.0
    """

    order: int = 4
    weight: float = 0.1

    def __post_init__(self) -> None:
        check_count(self.order, "order", at_least=2)
        check_number(self.weight, "weight", at_least=0.0)

    @property
    def is_convex(self) -> bool:
        """For even orders, or weight 0."""
        return self.order % 2 == 0 or self.weight == 0.0

    @property
    def is_monotone(self) -> bool:
        """Only with weight 0."""
        return self.weight == 0.0

    def _constants(self) -> tuple[float, ...]:
        return (core.MOMENTS, 1, self.order, self.weight) if self.weight else _MEAN


@dataclass(frozen=True)
class Semivariance(LossRisk):
    """E ℓ + η E[(ℓ − E ℓ)₊²]: only losses above the mean count as dispersion.

    Convex in the losses. Not monotone in general, as the mean moves with each loss; it is where
    2η E(ℓ − E ℓ)₊ ≤ 1.

    Parameters
    ----------
    weight : float
        η, at least 0, in units of 1/ℓ.
    smoothing : float
        s, at least 0, in the units of ℓ: the positive part u₊ becomes s·log(1 + exp(u/s)). With 0
        it is exact, and its square still has a continuous slope.

    Examples
    --------
    >>> Semivariance(weight=0.5).value([1.0, 3.0])
    2.25
    """

    weight: float = 0.1
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_number(self.weight, "weight", at_least=0.0)
        check_number(self.smoothing, "smoothing", at_least=0.0)

    @property
    def is_monotone(self) -> bool:
        """Only with weight 0."""
        return self.weight == 0.0

    def _constants(self) -> tuple[float, ...]:
        return (core.SEMIDEVIATIONS, 1, 2, self.weight, self.smoothing) if self.weight else _MEAN


@dataclass(frozen=True)
class Semideviations(LossRisk):
    """E ℓ + η Σ_{p=2..P} E[(ℓ − E ℓ)₊^p]: the upper halves of the central moments.

    Convex in the losses for every P, unlike `CentralMoments`. Not monotone in general.

    Parameters
    ----------
    order : int
        P, at least 2. With P = 2 this is `Semivariance`.
    weight : float
        η, at least 0.
    smoothing : float
        s, at least 0, in the units of ℓ: the positive part u₊ becomes s·log(1 + exp(u/s)).

    Examples
    --------
    >>> Semideviations(order=3, weight=0.5).value([1.0, 3.0])
    2.5
    """

    order: int = 4
    weight: float = 0.1
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_count(self.order, "order", at_least=2)
        check_number(self.weight, "weight", at_least=0.0)
        check_number(self.smoothing, "smoothing", at_least=0.0)

    @property
    def is_monotone(self) -> bool:
        """Only with weight 0."""
        return self.weight == 0.0

    def _constants(self) -> tuple[float, ...]:
        if self.weight == 0.0:
            return _MEAN
        return (core.SEMIDEVIATIONS, 1, self.order, self.weight, self.smoothing)


@dataclass(frozen=True)
class MeanSemideviation(LossRisk):
    r"""E ℓ + η (E[(ℓ − E ℓ)₊^p])^{1/p}, in the units of ℓ.

    Convex in the losses. With a weight of at most 1 also monotone: a coherent risk measure.

    Two numbers are tracked, g₁ = E ℓ and g₂ = E[(ℓ − g₁)₊^p]. The root is written as a minimum,
    g₂^{1/p} = min over r of E[(1/p)(ℓ − g₁)₊^p r^{1/p − 1} + (1 − 1/p) r^{1/p}], attained at
    r = g₂, so that by the envelope theorem g₂ does not enter the gradient. On a stream g₂ starts
    at |ℓ|^p of the first loss, and looks at g₁ from before each sample. An excess (ℓ − g₁)₊ whose
    p-th power is beyond 10⁶·g₂ counts linearly, which no sample of fewer than a million points can
    reach: that bounds the slope where g₂ is near 0. Where momentum would more than halve g₂, the
    moving average is taken.

    Parameters
    ----------
    order : float
        p, at least 1.
    weight : float
        η, at least 0; at most 1 for a coherent risk.

    Examples
    --------
    >>> MeanSemideviation(order=2, weight=0.5).value([0.0, 0.0, 0.0, 4.0])
    1.75
    """

    order: float = 2.0
    weight: float = 0.5

    def __post_init__(self) -> None:
        check_number(self.order, "order", at_least=1.0)
        check_number(self.weight, "weight", at_least=0.0)

    @property
    def is_monotone(self) -> bool:
        """With a weight of at most 1."""
        return self.weight <= 1.0

    @property
    def is_smooth(self) -> bool:
        """With an order above 1, wherever the losses are not all equal."""
        return self.order > 1.0 or self.weight == 0.0

    def _constants(self) -> tuple[float, ...]:
        return (core.MEAN_SEMIDEVIATION, 2, self.order, self.weight) if self.weight else _MEAN
