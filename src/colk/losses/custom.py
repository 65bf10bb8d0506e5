"""A loss from two plain Python functions."""

from collections.abc import Callable
from typing import Any

from colk._engine.c_types import Readonly
from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import OfNumbers
from colk._engine.user_functions.pickling import reduce_functions
from colk.losses.base import Kind, Loss

Scalar = Callable[[float, float], float]


def claimed(name: str) -> Any:
    """Return a property whose value the user states in the constructor."""
    return property(lambda term: term._given[name])


class CustomLoss(Loss):
    """A loss from two functions of a prediction and a target, summed over the outputs.

    With Numba installed, plain functions are compiled at their first use in a process. Without it
    they run in plain Python, which takes about 15 times as long: 0.4 µs for a value and a slope
    instead of 0.03, where a built-in loss needs 0.01. Exceptions that they raise reach the caller.
    The loss can be pickled if its functions can. Functions are pickled by name, so define them in a
    module. Check a loss of your own with `colk.testing.check_loss`.

    Parameters
    ----------
    value, slope : callable
        ℓ(f, y) and ∂ℓ/∂f as functions of two numbers, written with numbers and NumPy functions;
        both are required. They may be C functions, `double (double f, double y)`, given by ctypes,
        as a scipy.LowLevelCallable or as a cfunc of Numba. The attributes `value_function` and
        `slope_function` hold them.
    kind : {"regression", "binary"}
        Type of the targets: real numbers (the default), or −1 and +1.
    is_convex, kinks
        Properties of the loss, see `Loss`. Default: not convex, no kinks. colk relies on them and
        does not check them.

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

    __reduce__ = reduce_functions
    kind, is_convex, kinks = claimed("kind"), claimed("is_convex"), claimed("kinks")

    _value: OfNumbers
    _slope: OfNumbers
    value_function: Readonly[Any]
    slope_function: Readonly[Any]
    _given: Readonly[dict[str, Any]]

    def __init__(
        self,
        value: Scalar,
        slope: Scalar | None = None,
        *,
        kind: Kind = "regression",
        is_convex: bool = False,
        kinks: tuple[float, ...] = (),
    ) -> None:
        if kind not in ("regression", "binary"):
            raise ValueError(f"kind must be 'regression' or 'binary', got {kind!r}")
        if slope is None:
            raise TypeError(
                "CustomLoss needs two functions, value(f, y) and its slope in f: "
                "CustomLoss(value, slope)"
            )
        self.value_function, self.slope_function = value, slope
        self._value = OfNumbers(value, Signature("numbers"), "value")
        self._slope = OfNumbers(slope, Signature("numbers"), "slope")
        self._given = {"kind": kind, "is_convex": bool(is_convex), "kinks": tuple(kinks)}

    def _parameters(self) -> dict[str, Any]:
        return {"value": self.value_function, "slope": self.slope_function, **self._given}

    def loss_at(self, f: float, y: float) -> float:
        return self._value.at(f, y)

    def slope_at(self, f: float, y: float) -> float:
        return self._slope.at(f, y)
