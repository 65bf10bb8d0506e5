"""Risks from plain Python functions of a loss."""

from collections.abc import Callable, Sequence
from typing import Any

import cython

from colk._engine.c_types import Readonly
from colk._engine.contracts import TrackerContract
from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import OfLoss
from colk._engine.user_functions.pickling import reduce_functions
from colk._validation import Array, check_count
from colk.losses.custom import claimed
from colk.risks.derivatives import Derivatives, as_derivatives, complete
from colk.risks.of_losses import LossRisk

Plain = Callable[..., Any]


def check_given(
    risk: str, names: Sequence[str], functions: Sequence[Plain | None]
) -> tuple[Plain, ...]:
    """Return the functions of a risk; raise TypeError that names the missing ones."""
    missing = [name for name, each in zip(names, functions, strict=True) if each is None]
    if missing:
        raise TypeError(
            f"{risk} needs five functions, {', '.join(names)}; missing: {', '.join(missing)}; "
            "slopes can be found by derivatives='jax', 'torch' or 'differences'"
        )
    return tuple(each for each in functions if each is not None)


class CustomRisk(LossRisk):
    """A risk E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)] ∈ R^m from five user-defined functions.

    With `n_inner` = 1, g and the results of the functions are plain numbers. With more, g is an
    array of that size, and `inner`, `inner_slope` and `outer_slope_inner` return tuples or arrays.

    Functions are compiled, called and pickled like those of a `CustomLoss`: a call takes 0.01 µs
    with Numba, 0.2 µs without. Check the risk with `colk.testing.check_risk`.

    A learner's momentum tracker corrects g by the change of the last step, which may briefly move g
    out of the range of `inner`. If `outer` needs, for example, g > 0, use
    `tracker=MovingAverage()`.

    Parameters
    ----------
    inner, inner_slope : callable
        inner(ℓ) and its derivative.
    outer, outer_slope_loss, outer_slope_inner : callable
        outer(ℓ, g) and its derivatives in ℓ and in g. Each of the five may be a C function, `double
        (double loss, double *g, ssize_t i)`, that returns component i. The attribute `functions`
        holds them as a tuple.
    n_inner : int
        m, at least 1. Default: 1.
    is_convex, is_monotone : bool
        Properties of the risk as a function of the losses. Default: False. colk relies on them and
        does not check them.
    derivatives : {"differences", "jax", "torch"}, optional
        How to find slopes that are not given, as in `Composition`. Default: all are given.

    Examples
    --------
    The mean plus the variance; it could also be written with `n_inner` = 2 and g = (E ℓ, E ℓ²):

    >>> risk = CustomRisk(
    ...     inner=lambda loss: loss,
    ...     inner_slope=lambda loss: 1.0,
    ...     outer=lambda loss, g: loss + (loss - g) ** 2,
    ...     outer_slope_loss=lambda loss, g: 1.0 + 2.0 * (loss - g),
    ...     outer_slope_inner=lambda loss, g: -2.0 * (loss - g),
    ... )
    >>> risk.value([1.0, 3.0])
    3.0
    """

    __reduce__ = reduce_functions
    _names = ("inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner")
    n_inner = n_expectations = claimed("n_inner")
    is_convex, is_monotone = claimed("is_convex"), claimed("is_monotone")
    derivatives = claimed("derivatives")

    _inner: OfLoss
    _inner_slope: OfLoss
    _outer: OfLoss
    _outer_slope_loss: OfLoss
    _outer_slope_inner: OfLoss
    functions: Readonly[tuple[Any, ...]]
    _given: Readonly[dict[str, Any]]

    def __init__(
        self,
        inner: Plain | None = None,
        inner_slope: Plain | None = None,
        outer: Plain | None = None,
        outer_slope_loss: Plain | None = None,
        outer_slope_inner: Plain | None = None,
        n_inner: int = 1,
        *,
        is_convex: bool = False,
        is_monotone: bool = False,
        derivatives: Derivatives | None = None,
    ) -> None:
        self.functions = (inner, inner_slope, outer, outer_slope_loss, outer_slope_inner)
        each = complete(self.functions, as_derivatives(derivatives))
        functions = check_given(type(self).__name__, self._names, each)
        m = check_count(n_inner, "n_inner")
        of_loss = Signature("loss", (m,), False, (0, 0, m))
        number = Signature("loss", (), True, (0, 0, m))
        numbers = Signature("loss", (m,), True, (0, 0, m))
        self._inner = OfLoss(functions[0], of_loss, "inner")
        self._inner_slope = OfLoss(functions[1], of_loss, "inner_slope")
        self._outer = OfLoss(functions[2], number, "outer")
        self._outer_slope_loss = OfLoss(functions[3], number, "outer_slope_loss")
        self._outer_slope_inner = OfLoss(functions[4], numbers, "outer_slope_inner")
        self._given = {
            "n_inner": m,
            "is_convex": bool(is_convex),
            "is_monotone": bool(is_monotone),
            "derivatives": derivatives,
        }

    def _parameters(self) -> dict[str, Any]:
        return {**dict(zip(self._names, self.functions, strict=True)), **self._given}

    def track_at(
        self, tracker: TrackerContract, g: Array, i: int, before: float, now: float, rate: float
    ) -> float:
        """Return g_i after a sample; inner is called at the previous loss only if there is one."""
        value = earlier = self._inner.at(now, g, i)
        with cython.gil:
            if tracker.remembers:
                earlier = self._inner.at(before, g, i)
        return tracker.update(g[i], earlier, value, rate)

    def inner_at(self, loss: float, g: Array, i: int) -> float:
        return self._inner.at(loss, g, i)

    def inner_slope_at(self, loss: float, g: Array, i: int) -> float:
        return self._inner_slope.at(loss, g, i)

    def outer_at(self, loss: float, g: Array) -> float:
        return self._outer.at(loss, g, 0)

    def outer_slope_loss_at(self, loss: float, g: Array) -> float:
        return self._outer_slope_loss.at(loss, g, 0)

    def outer_slope_inner_at(self, loss: float, g: Array, i: int) -> float:
        return self._outer_slope_inner.at(loss, g, i)
