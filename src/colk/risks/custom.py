"""A risk from plain Python functions of a loss, run as machine code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colk._core import risks as core
from colk._core.custom import address_of_risk
from colk._naming import ShowsNames
from colk._validation import check_count
from colk.risks.base import LossRisk

__all__ = ["CustomRisk"]

Plain = Callable[..., Any]

# For each function, in the order of the program: whether it takes g, and whether it gives m values.
_ROLES = {
    "inner": (False, True),
    "inner_slope": (False, True),
    "outer": (True, False),
    "outer_slope_loss": (True, False),
    "outer_slope_inner": (True, True),
}


@dataclass(frozen=True, repr=False, init=False)
class CustomRisk(ShowsNames, LossRisk):
    """E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ)] ∈ R^m, from a user's five functions.

    With `n_inner` = 1, g and what the functions return are plain numbers. With more, g is an
    array of that size, and `inner`, `inner_slope` and `outer_slope_inner` return tuples. The
    functions are compiled at the first use, once a process; they pickle by their names. Certify a
    risk with `colk.testing.check_risk`.

    A learner's momentum tracker corrects g by what the last step changed, and may carry it for a
    moment out of the range of `inner`: where `outer` needs, say, g > 0, give the learner
    `tracker="average"`.

    Parameters
    ----------
    inner, inner_slope : callable
        inner(ℓ) and its derivative.
    outer, outer_slope_loss, outer_slope_inner : callable
        outer(ℓ, g) and its derivatives in ℓ and in g.
    n_inner : int
        m, at least 1.
    is_convex, is_monotone : bool
        What is claimed of the risk as a function of the losses.

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

    functions: tuple[Plain, ...]
    n_inner: int = 1
    is_convex: bool = False
    is_monotone: bool = False

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
        functions = (inner, inner_slope, outer, outer_slope_loss, outer_slope_inner)
        for name, function in zip(_ROLES, functions, strict=True):
            if not callable(function):
                raise TypeError(f"{name} must be a function, got {type(function).__name__}")
        settings = {
            "functions": functions,
            "n_inner": check_count(n_inner, "n_inner"),
            "is_convex": is_convex,
            "is_monotone": is_monotone,
        }
        for name, setting in settings.items():  # the class is frozen
            object.__setattr__(self, name, setting)

    @property
    def n_expectations(self) -> int:
        """All of g."""
        return self.n_inner

    def _constants(self) -> tuple[float, ...]:
        addresses = [
            address_of_risk(function, f"CustomRisk.{name}", self.n_inner, *shape)
            for (name, shape), function in zip(_ROLES.items(), self.functions, strict=True)
        ]
        return (core.CUSTOM, self.n_inner, *addresses)
