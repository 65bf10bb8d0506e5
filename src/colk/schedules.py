"""Rates that fall with time, for step sizes and tracking rates."""

from dataclasses import dataclass

from colk._validation import check_number

__all__ = ["PowerDecay", "Rate", "as_decay"]


@dataclass(frozen=True)
class PowerDecay:
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

    initial: float
    power: float = 0.5
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.initial, "initial", above=0.0)
        check_number(self.power, "power", at_least=0.0)
        check_number(self.scale, "scale", above=0.0)

    def at(self, t: int) -> float:
        """Rate of step t."""
        return float(self.initial / (1.0 + t / self.scale) ** self.power)


Rate = float | PowerDecay


def as_decay(rate: Rate, name: str) -> PowerDecay:
    """Return a schedule as it is, a number as the schedule that never falls."""
    if isinstance(rate, PowerDecay):
        return rate
    return PowerDecay(check_number(rate, name, above=0.0), power=0.0)
