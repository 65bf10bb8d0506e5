"""Rates that fall with time, for step sizes and tracking rates."""

from colk._validation import check_number
from colk.terms import Term, check_overrides

__all__ = ["PowerDecay", "Rate", "as_decay"]


class PowerDecay(Term):
    """initial/(1 + t/scale)^power at step t.

    Powers in (1/2, 1] make the sum of squares finite and the sum infinite, which is what
    convergence to a point rather than to a neighbourhood asks for.

    Parameters
    ----------
    initial : float
        The rate at step 0.
    power : float
        How fast it falls; 0 keeps it.
    scale : float
        Steps after which it begins to fall.

    Examples
    --------
    >>> from colk.schedules import PowerDecay
    >>> PowerDecay(0.5, power=1.0, scale=100.0).at(100)
    0.25
    """

    _fields = ("initial", "power", "scale")
    _sealed = ("rate",)
    initial: float
    power: float
    scale: float

    def __init__(self, initial: float, power: float = 0.5, scale: float = 1.0) -> None:
        self.initial = check_number(initial, "initial", above=0.0)
        self.power = check_number(power, "power", at_least=0.0)
        self.scale = check_number(scale, "scale", above=0.0)

    def at(self, t: int) -> float:
        """Rate of step t."""
        return self.rate(t)

    def rate(self, t: int) -> float:
        """`at` for compiled code."""
        if self.power == 0.0:
            return self.initial
        return float(self.initial / (1.0 + t / self.scale) ** self.power)


Rate = float | PowerDecay


def as_decay(rate: Rate, name: str) -> PowerDecay:
    """Return a schedule as it is, a number as the schedule that never falls.

    Examples
    --------
    >>> from colk.schedules import as_decay
    >>> as_decay(0.1, "step_size").at(100)
    0.1
    """
    if isinstance(rate, PowerDecay):
        check_overrides(rate)
        return rate
    return PowerDecay(check_number(rate, name, above=0.0), power=0.0)
