"""A risk from plain Python functions of a loss."""

from collections.abc import Callable
from typing import Any

import cython

from colk._validation import Array, check_count
from colk.functions.addresses import Signature
from colk.functions.base import OfLoss
from colk.functions.pickling import reduce_functions
from colk.risks.base import LossRisk
from colk.trackers import Tracker
from colk.window import Window

__all__ = ["CustomRisk"]

Plain = Callable[..., Any]


class CustomRisk(LossRisk):
    """E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)] ∈ R^m, from a user's five functions.

    With `n_inner` = 1, g and what the functions return are plain numbers. With more, g is an
    array of that size, and `inner`, `inner_slope` and `outer_slope_inner` return tuples or arrays.

    With Numba installed, plain functions are compiled at the first use, once a process; without,
    they are called as they are, some 20 times as slowly: 0.2 µs a call instead of 0.01. What they
    raise reaches the caller. A `CustomRisk` pickles wherever its functions do: by their names, so
    they must be defined in a module. Certify it with `colk.testing.check_risk`.

    A learner's momentum tracker corrects g by what the last step changed, and may carry it for a
    moment out of the range of `inner`: where `outer` needs, say, g > 0, give the learner
    `tracker=MovingAverage()`.

    Parameters
    ----------
    inner, inner_slope : callable
        inner(ℓ) and its derivative.
    outer, outer_slope_loss, outer_slope_inner : callable
        outer(ℓ, g) and its derivatives in ℓ and in g. Each of the five may be a function of C,
        `double (double loss, double *g, ssize_t i)`, that returns component i.
    n_inner : int
        m, at least 1.
    is_convex, is_monotone : bool
        What is claimed of the risk as a function of the losses.

    Attributes
    ----------
    functions : tuple of callable
        The five functions.

    Examples
    --------
    The mean plus the variance:

    >>> risk = CustomRisk(
    ...     inner=lambda loss: loss,
    ...     inner_slope=lambda loss: 1.0,
    ...     outer=lambda loss, g: loss + (loss - g) ** 2,
    ...     outer_slope_loss=lambda loss, g: 1.0 + 2.0 * (loss - g),
    ...     outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
    ... )
    >>> risk.value([1.0, 3.0])
    3.0

    The same from two moments, g = (E ℓ, E ℓ²):

    >>> risk = CustomRisk(
    ...     inner=lambda loss: (loss, loss**2),
    ...     inner_slope=lambda loss: (1.0, 2.0 * loss),
    ...     outer=lambda loss, g: loss + g[1] - g[0] ** 2,
    ...     outer_slope_loss=lambda loss, g: 1.0,
    ...     outer_slope_inner=lambda loss, g: (-2.0 * g[0], 1.0),
    ...     n_inner=2,
    ... )
    >>> risk.value([1.0, 3.0])
    3.0
    """

    _inner: OfLoss
    _inner_slope: OfLoss
    _outer: OfLoss
    _outer_slope_loss: OfLoss
    _outer_slope_inner: OfLoss
    _size: int
    _is_convex: bool
    _is_monotone: bool

    def __init__(
        self,
        inner: Plain,
        inner_slope: Plain,
        outer: Plain,
        outer_slope_loss: Plain,
        outer_slope_inner: Plain,
        n_inner: int = 1,
        *,
        is_convex: bool = False,
        is_monotone: bool = False,
    ) -> None:
        self._size = check_count(n_inner, "n_inner")
        sizes = (0, 0, n_inner)
        of_loss = Signature("loss", (n_inner,), False, sizes)
        number = Signature("loss", (), True, sizes)
        numbers = Signature("loss", (n_inner,), True, sizes)
        self._inner = OfLoss(inner, of_loss, "inner")
        self._inner_slope = OfLoss(inner_slope, of_loss, "inner_slope")
        self._outer = OfLoss(outer, number, "outer")
        self._outer_slope_loss = OfLoss(outer_slope_loss, number, "outer_slope_loss")
        self._outer_slope_inner = OfLoss(outer_slope_inner, numbers, "outer_slope_inner")
        self._is_convex, self._is_monotone = bool(is_convex), bool(is_monotone)

    def _parameters(self) -> dict[str, Any]:
        names = ("inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner")
        return {
            **dict(zip(names, self.functions, strict=True)),
            "n_inner": self.n_inner,
            "is_convex": self.is_convex,
            "is_monotone": self.is_monotone,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_functions(self)

    @property
    def functions(self) -> tuple[Plain, ...]:
        """The five functions, in the order of the constructor."""
        return (
            self._inner.given,
            self._inner_slope.given,
            self._outer.given,
            self._outer_slope_loss.given,
            self._outer_slope_inner.given,
        )

    @property
    def n_inner(self) -> int:
        """How many numbers are tracked."""
        return self._size

    @property
    def n_expectations(self) -> int:
        """All of g."""
        return self._size

    @property
    def is_convex(self) -> bool:
        """Whether the risk is convex in the losses."""
        return self._is_convex

    @property
    def is_monotone(self) -> bool:
        """Whether the risk never falls when a loss rises."""
        return self._is_monotone

    def start(self, w: Window, xi: int) -> int:
        """Set g from the sample at place ξ of the window, the first of the stream."""
        for i in range(self._size):
            w.work[i] = self._inner.at(w.losses[xi], w.g, i)
        for i in range(self._size):
            w.g[i] = w.work[i]
        return 0

    def track_at(
        self, tracker: Tracker, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """g_i after a sample; inner is asked of a remembered loss only where there is one."""
        value = self._inner.at(now, g, i)
        earlier = value
        with cython.gil:
            remembers = tracker.remembers
        if remembers:
            earlier = self._inner.at(before, g, i)
        return tracker.update(g[i], earlier, value, rate)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        """inner_i(ℓ)."""
        return self._inner.at(loss, g, i)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        """∂inner_i/∂ℓ."""
        return self._inner_slope.at(loss, g, i)

    def outer_at(self, loss: float, g: Array) -> float:
        """outer(ℓ, g)."""
        return self._outer.at(loss, g, 0)

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        """∂outer/∂ℓ."""
        return self._outer_slope_loss.at(loss, g, 0)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        """∂outer/∂g_i."""
        return self._outer_slope_inner.at(loss, g, i)
