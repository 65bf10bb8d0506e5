"""Functions of one number that risks share; none of them overflows to an exception."""

import math

# exp overflows beyond this.
_LARGEST_EXPONENT: float = 709.0


def positive_part(u: float, smoothing: float) -> float:  # cdef noexcept
    """Return softplus s·log(1 + exp(u/s)); the exact positive part for smoothing 0."""
    if smoothing == 0.0:
        return max(u, 0.0)
    return max(u, 0.0) + smoothing * math.log1p(math.exp(-abs(u) / smoothing))


def positive_part_slope(u: float, smoothing: float) -> float:  # cdef noexcept
    """Return the slope of `positive_part`, a logistic function; 0 at the kink."""
    if smoothing == 0.0:
        return 1.0 if u > 0.0 else 0.0
    tail = math.exp(-abs(u) / smoothing)
    return (1.0 if u > 0.0 else tail) / (1.0 + tail)


def power(base: float, exponent: float) -> float:  # cdef noexcept
    """Return base^exponent for a base of at least 0."""
    if base == 0.0 and exponent < 0.0:
        return math.inf
    if base > 0.0 and exponent * math.log(base) > _LARGEST_EXPONENT:
        return math.inf
    return math.pow(base, exponent)


def growth(exponent: float) -> float:  # cdef noexcept
    """exp(exponent) − 1."""
    return math.expm1(exponent) if exponent < _LARGEST_EXPONENT else math.inf


def powers(u: float, order: int) -> float:  # cdef noexcept
    """u² + u³ + … + u^order."""
    total = 1.0
    for _ in range(order - 2):
        total = 1.0 + u * total
    return u * u * total


def powers_slope(u: float, order: int) -> float:  # cdef noexcept
    """2u + 3u² + … + order·u^(order − 1)."""
    total = 0.0
    for k in range(order - 1):
        total = (order - k) + u * total
    return u * total
