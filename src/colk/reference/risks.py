"""Risks E_θ[outer(ℓ_θ, g)] with g = E_ξ[inner(ℓ_ξ, g)] ∈ R^m, by their values at one sample.

A sample is given by its loss ℓ. For a `Composition` or `AUC` it is given by a pair (f, y) of a
prediction and a target, and slopes in the loss are slopes in f. A component of g at which E outer
is stationary does not enter the gradient, by the envelope theorem; its inner slope is 0.

Examples
--------
>>> import numpy as np
>>> from colk.reference import risks
>>> from colk.risks import MeanSemideviation, Variance
>>> risks.outer(Variance(0.5), 3.0, np.array([1.0]))
Outer(value=5.0, slope_loss=3.0, slope_inner=array([-2.]))
>>> risk, g = MeanSemideviation(2.0), np.array([1.0, 5.0])
>>> risks.inner(risk, 3.0, g), risks.inner_slope(risk, 3.0, g)
(array([3., 4.]), array([1., 0.]))
"""

from typing import Any, NamedTuple

import numpy as np

from colk._validation import Array

__all__ = ["Outer", "inner", "inner_slope", "kind", "n_inner", "of_disutility", "outer"]

# exp(t(ℓ − c)) is continued linearly beyond this exponent.
EXPONENT_CAP = 30.0
# (ℓ − g₁)₊^p is continued linearly beyond this multiple of g₂.
POWER_CAP = 1e6

# An excess is continued linearly beyond this multiple of its root mean square.
RATIO_CAP = 1e3

_OF_USERS = ("CustomRisk", "Composition")


class Outer(NamedTuple):
    """outer(ℓ, g), ∂outer/∂ℓ (for a `Composition` ∂outer/∂f, of shape (q,)) and ∂outer/∂g (m,)."""

    value: float
    slope_loss: Any
    slope_inner: Array


def kind(risk: Any) -> str:
    """Return the name of the risk; "Mean" if its parameters make it the mean."""
    is_mean = getattr(risk, "weight", 1.0) == 0.0 or getattr(risk, "tail_fraction", 0.0) == 1.0
    is_mean = is_mean or getattr(risk, "radius", 1.0) == 0.0
    return "Mean" if is_mean else type(risk).__name__


def n_inner(risk: Any) -> int:
    """Return the size m of g."""
    if kind(risk) in _OF_USERS:
        return int(risk.n_inner)
    if kind(risk) == "AUC":
        return 3
    if kind(risk) == "Spectral":
        return len(risk.tail_fractions) + 1
    two = ("CVaR", "MeanSemideviation", "ChiSquareDRO", "KLDRO")
    if of_disutility(risk):
        return 2
    return 0 if kind(risk) == "Mean" else 2 if kind(risk) in two else 1


def inner(risk: Any, sample: Any, g: Array) -> Array:
    """Return inner(ℓ, g), of shape (m,); its expectation is g if g is exact."""
    name = kind(risk)
    if name in _OF_USERS:
        return _user(risk, "inner", sample)
    if name == "AUC":
        (f,), (y,) = sample
        return np.array([float(y > 0), f if y > 0 else g[1], f if y < 0 else g[2]])
    if name == "CVaR":
        step = 1.0 - _positive_part(sample - g[0], risk.smoothing)[1] / risk.tail_fraction
        return np.array([g[0] - np.sqrt(risk.tail_fraction) * g[1] * step, abs(sample - g[0])])
    if name == "Spectral":
        a, above = np.array(risk.tail_fractions), _spectral(risk, sample, g)[1]
        moved = g[:-1] - np.sqrt(a) * g[-1] * (1.0 - above / a)
        return np.append(moved, abs(sample - g[len(a) // 2]))
    if of_disutility(risk):
        value, slope = _disutility(risk, sample - g[0])
        if hasattr(risk, "level"):
            return np.array([g[0] + (value - risk.level) / g[1], slope])
        return np.array([g[0] + g[1] * (slope - 1.0), abs(sample - g[0])])
    if name == "ChiSquareDRO":
        excess = max(sample - g[0], 0.0)
        return np.array([g[0] + excess - np.sqrt(g[1] / (1.0 + 2.0 * risk.radius)), excess**2])
    if name == "KLDRO":
        _, tilted, (_, by_multiplier) = _worst_tilted(risk, sample, g)
        return np.array(
            [g[0] + g[1] * (tilted - 1.0), g[1] * (1 - by_multiplier / risk.radius / 2)]
        )
    if name == "MeanSemideviation":
        return np.array([sample, _positive_part(sample - g[0], risk.smoothing)[0] ** risk.order])
    if name == "Entropic":
        return np.array([_tilted(risk, sample, g[0]).value])
    return np.full(n_inner(risk), sample)


def inner_slope(risk: Any, sample: Any, g: Array) -> Array:
    """Return ∂inner/∂ℓ, of shape (m,); for a `Composition` ∂inner/∂f, of shape (m, q)."""
    name = kind(risk)
    if name in _OF_USERS:
        slopes = _user(risk, "inner_slope", sample)
        return slopes.reshape(risk.n_inner, -1) if name == "Composition" else slopes
    if name == "AUC":
        return np.zeros((3, 1))
    stationary = ("CVaR", "Entropic", "ChiSquareDRO", "KLDRO", "Spectral")
    if of_disutility(risk) or name == "Spectral":
        return np.zeros(n_inner(risk))
    return np.array([float(name not in stationary), 0.0])[: n_inner(risk)]


def outer(risk: Any, sample: Any, g: Array) -> Outer:
    """outer(ℓ, g) and its slopes."""
    name = kind(risk)
    if name == "Composition":
        value, by_f = (_user(risk, part, sample, g) for part in ("outer", "outer_slope_prediction"))
        return Outer(float(value[0]), by_f, _user(risk, "outer_slope_inner", sample, g))
    if name == "AUC":
        return _pairs(sample, g)
    if name == "CustomRisk":
        value, by_loss = (_user(risk, part, sample, g) for part in ("outer", "outer_slope_loss"))
        by_g = _user(risk, "outer_slope_inner", sample, g)
        return Outer(float(value[0]), float(by_loss[0]), by_g)
    if name == "Mean":
        return Outer(sample, 1.0, np.zeros(0))
    if name == "Entropic":
        return _tilted(risk, sample, g[0])
    if name == "Spectral":
        return _mixture(risk, sample, g)
    if of_disutility(risk):
        return _at_root(risk, sample, g)
    if name == "KLDRO":
        return _worst_tilted(risk, sample, g)
    if name == "ChiSquareDRO":
        factor, root = np.sqrt(1.0 + 2.0 * risk.radius), np.sqrt(g[1])
        ratio = min(max(sample - g[0], 0.0) / root, RATIO_CAP)
        beyond = max(sample - g[0] - RATIO_CAP * root, 0.0)
        spread = 0.5 * root * (ratio**2 + 1.0) + ratio * beyond
        by_g = np.array([1.0 - factor * ratio, 0.25 * factor * (1.0 - ratio**2) / root])
        return Outer(float(g[0] + factor * spread), float(factor * ratio), by_g)
    part, above = _dispersion(risk, sample - g[0]) if len(g) == 1 else (0.0, 0.0)
    by_g = np.array([-above])
    if name == "CVaR":
        part, above = _positive_part(sample - g[0], risk.smoothing)
        part, above = g[0] + part / risk.tail_fraction - sample, above / risk.tail_fraction - 1.0
        by_g = np.array([-above, 0.0])
    if name == "MeanSemideviation":
        excess, slope = _positive_part(sample - g[0], risk.smoothing)
        part, above, by_power = _root(risk.order, excess, g[1])
        above *= slope
        by_g = np.array([-above, by_power])
    weight = risk.weight
    return Outer(float(sample + weight * part), float(1.0 + weight * above), weight * by_g)


def of_disutility(risk: Any) -> bool:
    """Whether the risk is the root of an equation of a disutility."""
    return "Disutility" in [each.__name__ for each in type(risk).__mro__]


def _disutility(risk: Any, u: float) -> tuple[float, float]:
    """φ(u) and φ'(u)."""
    if kind(risk) == "ExpectileRisk":
        slope = risk.level if u > 0.0 else 1.0 - risk.level
        return risk.level + slope * u, slope
    return float(risk.disutility_at(u)), float(risk.disutility_slope_at(u))


def _at_root(risk: Any, loss: float, g: Array) -> Outer:
    """τ + φ(ℓ − τ), or τ + (φ(ℓ − τ) − level)/s for a shortfall."""
    value, slope = _disutility(risk, loss - g[0])
    if not hasattr(risk, "level"):
        return Outer(float(g[0] + value), slope, np.array([1.0 - slope, 0.0]))
    value, slope = (value - risk.level) / g[1], slope / g[1]
    return Outer(float(g[0] + value), slope, np.array([1.0 - slope, -value / g[1]]))


def _spectral(risk: Any, loss: float, g: Array) -> Array:
    """Return the excesses over the thresholds of a spectral risk, and their slopes."""
    return np.array([_positive_part(loss - tau, risk.smoothing) for tau in g[:-1]]).T


def _mixture(risk: Any, loss: float, g: Array) -> Outer:
    """Σ w (τ + (ℓ − τ)₊/a) with ℓ for a = 1."""
    a, w = np.array(risk.tail_fractions), np.array(risk.weights)
    part, above = _spectral(risk, loss, g)
    values = np.where(a < 1.0, g[:-1] + part / a, loss)
    slopes = np.where(a < 1.0, above / a, 1.0)
    return Outer(float(w @ values), float(w @ slopes), np.append(w * (1.0 - slopes), 0.0))


def _pairs(sample: Any, g: Array) -> Outer:
    """Return Var[f | +] + Var[f | −] + (1 − a + b)² by one sample, with g = (p, a, b)."""
    (f,), (y,) = sample
    share = g[0] if y > 0 else 1.0 - g[0]
    mean, gap = (g[1] if y > 0 else g[2]), 1.0 - g[1] + g[2]
    value = (f - mean) ** 2 / share + 2.0 * gap * (1.0 - np.sign(y) * f / share) - gap**2
    slope = 2.0 * (f - mean - np.sign(y) * gap) / share
    return Outer(float(value), np.array([slope]), np.zeros(3))


def _user(risk: Any, name: str, sample: Any, *g: Array) -> Array:
    """Return the value of a user-defined function at a sample, as one row."""
    if kind(risk) == "Composition":
        return np.ravel(getattr(risk, name)(*sample, *g)).astype(float)
    names = ("inner", "inner_slope", "outer", "outer_slope_loss", "outer_slope_inner")
    own = dict(zip(names, getattr(risk, "functions", ()), strict=False))
    arguments = g if risk.n_inner > 1 else [float(each[0]) for each in g]
    return np.ravel((own.get(name) or getattr(risk, name))(sample, *arguments)).astype(float)


def _positive_part(u: float, smoothing: float) -> tuple[float, float]:
    """s·log(1 + exp(u/s)) and its slope; for s = 0 u₊, with slope 0 at the kink."""
    if smoothing == 0.0:
        return max(u, 0.0), float(u > 0.0)
    scaled = u / smoothing
    return float(smoothing * np.logaddexp(0.0, scaled)), float(np.exp(-np.logaddexp(0.0, -scaled)))


def _dispersion(risk: Any, u: float) -> tuple[float, float]:
    """Σ_{p=2..P} v^p and its slope in u, where v is u or its positive part."""
    is_semi = kind(risk) in ("Semivariance", "Semideviations")
    v, slope = _positive_part(u, risk.smoothing) if is_semi else (u, 1.0)
    powers = range(2, int(getattr(risk, "order", 2)) + 1)
    return sum(v**p for p in powers), slope * sum(p * v ** (p - 1) for p in powers)


def _root(p: float, e: float, r: float) -> tuple[float, float, float]:
    """(1/p) e^p r^(1/p − 1) + (1 − 1/p) r^(1/p) of an excess e, and its slopes in e and r."""
    root, cap = r ** (1.0 / p), POWER_CAP ** (1.0 / p)
    ratio = min(e / root, cap) if root > 0.0 else cap * (e > 0.0)
    beyond = max(e - cap * root, 0.0)
    value = root * ratio**p / p + ratio ** (p - 1.0) * beyond + (1.0 - 1.0 / p) * root
    with np.errstate(divide="ignore", invalid="ignore"):
        by_r = (1.0 - 1.0 / p) / p * (1.0 - ratio**p) * np.float64(r) ** (1.0 / p - 1.0)
    return value, ratio ** (p - 1.0) if e > 0.0 else 0.0, by_r


def _worst_tilted(risk: Any, loss: float, g: Array) -> Outer:
    """λρ + c + λ(exp((ℓ − c)/λ) − 1), continued linearly beyond the cap, for g = (c, λ)."""
    exponent = (loss - g[0]) / g[1]
    near = min(exponent, EXPONENT_CAP)
    slope = float(np.exp(near))
    value = risk.radius * g[1] + g[0] + g[1] * (slope - 1.0 + slope * (exponent - near))
    return Outer(
        float(value), slope, np.array([1.0 - slope, risk.radius + slope - 1.0 - near * slope])
    )


def _tilted(risk: Any, loss: float, c: float) -> Outer:
    """c + (exp(t(ℓ − c)) − 1)/t, continued linearly beyond the cap."""  # noqa: D403, a symbol
    exponent = risk.tilt * (loss - c)
    near = min(exponent, EXPONENT_CAP)
    slope = float(np.exp(near))
    value = c + (float(np.expm1(near)) + slope * (exponent - near)) / risk.tilt
    return Outer(float(value), slope, np.array([-np.expm1(near)]))
