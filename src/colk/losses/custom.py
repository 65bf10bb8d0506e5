"""A loss from two plain Python functions, run as machine code."""

from collections.abc import Callable
from dataclasses import dataclass

from colk._core import losses as core
from colk._core.custom import address_of_loss
from colk._naming import ShowsNames
from colk.losses.base import Kind, Loss

__all__ = ["CustomLoss"]

Scalar = Callable[[float, float], float]


@dataclass(frozen=True, repr=False, init=False)
class CustomLoss(ShowsNames, Loss):
    """A loss from two plain functions of a prediction and a target, summed over the outputs.

    The functions are compiled at the first use, once a process. A `CustomLoss` pickles wherever
    its functions do: by their names, so they must be defined in a module. Certify it with
    `colk.testing.check_loss`.

    Parameters
    ----------
    value, slope : callable
        ℓ(f, y) and ∂ℓ/∂f of two numbers, written with numbers and NumPy functions.
    kind : {"regression", "binary"}
        What the targets are; those of a binary loss are −1 and +1.
    is_convex : bool
        Whether the loss is convex in the prediction.
    kinks : tuple of float
        Residuals f − y (margins y·f of a binary loss) where the slope jumps.

    Examples
    --------
    >>> def quartic(f, y):
    ...     return (f - y) ** 4
    >>> def quartic_slope(f, y):
    ...     return 4 * (f - y) ** 3
    >>> loss = CustomLoss(quartic, quartic_slope, is_convex=True)
    >>> loss.value([2.0], [0.0]), loss.slope([2.0], [0.0])
    (array([16.]), array([32.]))
    """

    value_function: Scalar
    slope_function: Scalar
    kind: Kind = "regression"  # type: ignore[misc]
    is_convex: bool = False
    kinks: tuple[float, ...] = ()

    def __init__(
        self,
        value: Scalar,
        slope: Scalar,
        *,
        kind: Kind = "regression",
        is_convex: bool = False,
        kinks: tuple[float, ...] = (),
    ) -> None:
        for name, function in (("value", value), ("slope", slope)):
            if not callable(function):
                raise TypeError(f"{name} must be a function of (prediction, target)")
        if kind not in ("regression", "binary"):
            raise ValueError(f"kind must be 'regression' or 'binary', got {kind!r}")
        settings = {
            "value_function": value,
            "slope_function": slope,
            "kind": kind,
            "is_convex": is_convex,
            "kinks": tuple(kinks),
        }
        for name, setting in settings.items():  # the class is frozen
            object.__setattr__(self, name, setting)

    def _constants(self) -> tuple[float, ...]:
        value = address_of_loss(self.value_function, "CustomLoss.value")
        slope = address_of_loss(self.slope_function, "CustomLoss.slope")
        return (core.CUSTOM, value, slope)
