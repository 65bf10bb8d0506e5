"""A loss from two plain Python functions."""

from collections.abc import Callable
from typing import Any

from colk.functions.addresses import Signature
from colk.functions.base import OfNumbers
from colk.functions.pickling import reduce_functions
from colk.losses.base import Kind, Loss

__all__ = ["CustomLoss"]

Scalar = Callable[[float, float], float]

_SIGNATURE = Signature("numbers")


class CustomLoss(Loss):
    """A loss from two functions of a prediction and a target, summed over the outputs.

    With Numba installed, plain functions are compiled at the first use, once a process; without,
    they are called as they are, some 20 times as slowly: 0.4 µs for a value and a slope instead of
    0.03, and 0.01 of a built-in loss. What they raise reaches the caller. A `CustomLoss` pickles
    wherever its functions do: by their names, so they must be defined in a module. Certify it with
    `colk.testing.check_loss`.

    Parameters
    ----------
    value, slope : callable
        ℓ(f, y) and ∂ℓ/∂f of two numbers, written with numbers and NumPy functions; or functions of
        C, `double (double f, double y)`, from ctypes, as a scipy.LowLevelCallable or as Numba's
        cfunc.
    kind : {"regression", "binary"}
        What the targets are; those of a binary loss are −1 and +1.
    is_convex : bool
        Whether the loss is convex in the prediction.
    kinks : tuple of float
        Residuals f − y (margins y·f of a binary loss) where the slope jumps.

    Attributes
    ----------
    value_function, slope_function : callable
        The two functions.

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

    _value: OfNumbers
    _slope: OfNumbers
    _kind: Kind
    _is_convex: bool
    _kinks: tuple[float, ...]

    def __init__(
        self,
        value: Scalar,
        slope: Scalar,
        *,
        kind: Kind = "regression",
        is_convex: bool = False,
        kinks: tuple[float, ...] = (),
    ) -> None:
        self._value = OfNumbers(value, _SIGNATURE, "value")
        self._slope = OfNumbers(slope, _SIGNATURE, "slope")
        if kind not in ("regression", "binary"):
            raise ValueError(f"kind must be 'regression' or 'binary', got {kind!r}")
        self._kind, self._is_convex, self._kinks = kind, bool(is_convex), tuple(kinks)

    def _parameters(self) -> dict[str, Any]:
        return {
            "value": self.value_function,
            "slope": self.slope_function,
            "kind": self.kind,
            "is_convex": self.is_convex,
            "kinks": self.kinks,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_functions(self)

    def loss_at(self, f: float, y: float) -> float:
        """ℓ(f, y) of one output."""
        return self._value.at(f, y)

    def slope_at(self, f: float, y: float) -> float:
        """∂ℓ/∂f of one output."""
        return self._slope.at(f, y)

    @property
    def value_function(self) -> Scalar:
        """The function ℓ(f, y)."""
        function: Scalar = self._value.given
        return function

    @property
    def slope_function(self) -> Scalar:
        """The function ∂ℓ/∂f."""
        function: Scalar = self._slope.given
        return function

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the targets are."""
        return self._kind

    @property
    def is_convex(self) -> bool:
        """Whether the loss is convex in the prediction."""
        return self._is_convex

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the slope jumps."""
        return self._kinks
