"""The paper's theorems as functions: bound the error for given settings, or plan the settings.

The symbols are the paper's. The inequalities are derived again from its Lemmas 1, 2 and 3. They
differ from the printed ones as follows:

- Theorem 1 takes the atoms to be χ = ε/(αC) apart in H. This is false for COLK: a step adds two
  points, which share the budget ε, and a new point may replace atoms that are farther away.
  `bound_atoms` has another proof, and a bound of order (W/ε)^{2p} with the largest weight W.
- Assumption 2 bounds second moments by G_h and G_ℓ; the rest of the paper uses G_h² and G_ℓ². Here
  G_h and G_ℓ are root mean squares, as in the proofs.
- The general update has one kernel, κ(ξ, ·). Where h depends on θ too, as in Example 1 and in
  Section V, the gradient has a second part with κ(θ, ·).
- σ_f² = 4(U²G_h²G_ℓ² + λ²K²). The paper multiplies λ²K² by U² as well.
- Lemma 2 needs ‖κ(ξ, ·)‖ ≤ U; the paper prints U². The lemma also drops a term 2ε². With both,
  Z₄ = (2 + 4L_h²L_ℓU)/λ₀ and λ = L_ℓUG_h²α/β + λ₀.
- Theorem 2 prints Z₁α + Z₂β²/α twice; the derivation gives it once. Its ε ≤ δZ₄^{1/2}/Z₁^{3/2}
  does not follow: Z₄ε²/α ≤ δ/5 gives ε ≤ δ/(5√(Z₁Z₄)).
- Theorem 2 asks for M ≥ Y'(Z₁/Z₄)^p. The ratio is inverted: the same inequality gives (Z₄/Z₁)^p.
- Table I prints Ω((1/δ)^p) atoms for strongly convex objectives; Theorem 2 says (1/δ)^{2p}.
- The tracker starts with an error: the first g is a single sample with variance σ_δ². This error
  decays like (1 − β)^{2t}; the transient here includes it. The paper sets g₀ = 0 and δ₋₁ = 0
  (Appendix C), so its g₁ is the same sample, but its proof counts no error for it.
- Theorem 3 drops the terms in ε² from ‖f_{t+1} − f_t‖² ≤ α²σ_f² + 2ε²; they are kept here.
- Section II says that the semivariance yields a convex formulation. It does not: the mean plus a
  multiple η of the semivariance of a squared loss l is not convex in f. Where 2ηE(l − El)₊ > 1,
  the risk falls if a loss below the mean rises, so the convexity of l does not carry over.

The bounds are worst cases. The planned settings are safe, but slow by orders of magnitude. Use them
to see how the settings scale with the accuracy.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from colk._validation import check_count, check_number
from colk.theory.atoms import bound_atoms
from colk.theory.estimation import Constants, square

__all__ = [
    "Constants",
    "Plan",
    "bound_atoms",
    "bound_distance",
    "bound_gradient",
    "plan_distance",
    "plan_gradient",
]

# Smallest setting of a plan: its square is still a normal number.
_LEAST = 1e-150
_MOST_STEPS = 10**300
# Allowance for rounding in the bound of a plan, relative to the accuracy.
_SLACK = 1.0 + 1e-9


@dataclass(frozen=True)
class Plan:
    """Settings that reach a given accuracy.

    Attributes
    ----------
    step_size : float
        α.
    tracking_rate : float
        β.
    eps : float
        ε, the compression budget of a step.
    regularization : float
        λ = λ₀ + L_ℓUG_h²α/β; 0 for a plan of Theorem 3.
    steps : int
        T, the number of steps. A step takes two samples if θ and ξ are independent.
    max_atoms : float
        The result of `bound_atoms` for α and ε.

    Examples
    --------
    >>> from colk.theory import Constants, plan_gradient
    >>> plan = plan_gradient(Constants(), 0.1)
    >>> 0.0 < plan.step_size < plan.tracking_rate < 1.0
    True
    """

    step_size: float
    tracking_rate: float
    eps: float
    regularization: float
    steps: int
    max_atoms: float


@dataclass(frozen=True)
class _Convex:
    """The constants of Theorem 2 for given α and β."""

    constants: Constants
    strong_convexity: float
    step_size: float
    tracking_rate: float

    @property
    def coupling(self) -> float:
        return self.constants.outer_lipschitz * self.constants.kernel_bound  # L_ℓU

    @property
    def regularization(self) -> float:
        slope = self.constants.inner_slope
        ratio = self.step_size / self.tracking_rate
        return self.strong_convexity + self.coupling * square(slope) * ratio

    @property
    def z1(self) -> float:
        growth = 1.0 + 2.0 * square(self.constants.inner_lipschitz) * self.coupling
        return self.constants.step_variance(self.regularization) * growth / self.strong_convexity

    @property
    def z2(self) -> float:
        return 2.0 * self.coupling * square(self.constants.inner_deviation) / self.strong_convexity

    @property
    def z3(self) -> float:
        widest = self.constants.norm_bound + self.constants.optimum_norm
        return 2.0 * widest / self.strong_convexity

    @property
    def z4(self) -> float:
        growth = 2.0 + 4.0 * square(self.constants.inner_lipschitz) * self.coupling
        return growth / self.strong_convexity

    def transient(self, steps: int) -> float:
        """(1 − αλ₀)^T S² plus the remainder of the tracker's first error.

        The remainder is Σ_i a^i b^{T−1−i} with a = 1 − αλ₀ and b = (1 − β)². It is computed from
        logarithms, because a and b may round to 1.
        """
        log_a = math.log1p(-self.step_size * self.strong_convexity)
        log_b = 2.0 * math.log1p(-self.tracking_rate) if self.tracking_rate < 1.0 else -math.inf
        apart = abs(log_a - log_b)
        terms = math.expm1(-steps * apart) / math.expm1(-apart) if apart > 0.0 else steps
        left = math.exp((steps - 1) * max(log_a, log_b)) * terms
        start = square(self.constants.optimum_norm)
        return math.exp(steps * log_a) * start + self._first_error * left

    @property
    def _first_error(self) -> float:
        return self.coupling * self.tracking_rate * square(self.constants.inner_deviation)

    def steps_for(self, share: float) -> float:
        """Return T for which a geometric bound on the transient is at most `share`."""
        forgotten = self.step_size * self.strong_convexity  # 1 − a
        tracked = self.tracking_rate * (2.0 - self.tracking_rate)  # 1 − b
        if abs(tracked - forgotten) < 0.5 * forgotten:
            forgotten *= 0.5  # nearly equal rates: slow one down a little
        slower = min(forgotten, tracked)
        if slower == 0.0:
            return math.inf
        start = square(self.constants.optimum_norm)
        size = start + self._first_error / abs(tracked - forgotten)
        if size <= share:
            return 1.0
        return (math.log(share) - math.log(size)) / math.log1p(-slower)


def bound_distance(
    constants: Constants,
    step_size: float,
    tracking_rate: float,
    eps: float,
    steps: int,
    strong_convexity: float,
) -> float:
    """Theorem 2: bound E‖f_T − f*‖²_H for a strongly convex objective.

    The bound is (1 − αλ₀)^T S² + Z₁α + Z₂β²/α + Z₃ε/α + Z₄ε²/α plus the tracker's transient.

    Parameters
    ----------
    constants : Constants
        The paper's constants.
    step_size, tracking_rate, eps : float
        α, β and ε.
    steps : int
        T.
    strong_convexity : float
        λ₀, with αλ₀ < 1. The regularization is λ = λ₀ + L_ℓUG_h²α/β.

    Examples
    --------
    >>> from colk.theory import Constants, bound_distance
    >>> bound_distance(Constants(), 1e-3, 1e-3, 1e-7, steps=10000, strong_convexity=1.0) < 0.1
    True
    """
    alpha = check_number(step_size, "step_size", above=0.0)
    beta = _check_rate(tracking_rate)
    budget = check_number(eps, "eps", at_least=0.0)
    count = _check_steps(steps)
    convexity = check_number(strong_convexity, "strong_convexity", above=0.0)
    if convexity * alpha >= 1.0:
        raise ValueError("step_size·strong_convexity must be below 1; lower step_size")
    terms = _Convex(constants, convexity, alpha, beta)
    bound = (
        terms.transient(count)
        + terms.z1 * alpha
        + terms.z2 * beta**2 / alpha
        + terms.z3 * budget / alpha
        + terms.z4 * square(budget) / alpha
    )
    return math.inf if math.isnan(bound) else bound


def plan_distance(constants: Constants, accuracy: float, strong_convexity: float) -> Plan:
    """Invert Theorem 2: return settings for which E‖f_T − f*‖²_H ≤ δ.

    Each of the five terms gets δ/5: α = δ/(5Z₁), β = δ/(5√(Z₁Z₂)), ε = min(δα/(5Z₃), √(δα/(5Z₄))),
    and T is of order (1/δ) log(1/δ). Z₁ grows with α/β through λ, so α is the root of
    Z₁(α)α = δ/5. Raises ValueError if a setting would be too small for accurate arithmetic.

    Examples
    --------
    >>> from colk.theory import Constants, bound_distance, plan_distance
    >>> constants, delta = Constants(), 0.1
    >>> plan = plan_distance(constants, delta, strong_convexity=0.5)
    >>> settings = plan.step_size, plan.tracking_rate, plan.eps, plan.steps
    >>> bound_distance(constants, *settings, strong_convexity=0.5) <= delta
    True
    """
    delta = check_number(accuracy, "accuracy", above=0.0)
    convexity = check_number(strong_convexity, "strong_convexity", above=0.0)
    share = max(delta / 5.0, sys.float_info.min)

    def terms_at(alpha: float) -> _Convex:
        z2 = _Convex(constants, convexity, alpha, 1.0).z2
        beta = min(1.0, math.sqrt(share * alpha / z2)) if z2 > 0.0 else 1.0
        return _Convex(constants, convexity, alpha, max(beta, _LEAST))

    def bound(alpha: float, beta: float, eps: float, steps: int) -> float:
        return bound_distance(constants, alpha, beta, eps, steps, convexity)

    alpha = _largest(lambda a: terms_at(a).z1 * a <= share, min(0.5 / convexity, 1.0 / _LEAST))
    terms = terms_at(alpha)
    eps = math.sqrt(share * alpha / terms.z4)
    if terms.z3 > 0.0:
        eps = min(eps, share * alpha / terms.z3)
    settings = alpha, terms.tracking_rate, eps
    return _confirm(constants, delta, settings, terms.regularization, terms.steps_for(share), bound)


def bound_gradient(
    constants: Constants, step_size: float, tracking_rate: float, eps: float, steps: int
) -> float:
    """Theorem 3: bound the least E‖∇R(f_t)‖²_H over t ≤ T for a smooth objective.

    The bound is 4[C₁/(αT) + 4σ_δ²β²/α + σ_f²(L_R/2 + 4L_h²)α + ε²/(2α²) + (L_R + 8L_h²)ε²/α] with
    C₁ = R(f_0) − R* + σ_δ². It requires αL_ℓ²G_h²U² ≤ β/4.

    Examples
    --------
    >>> from colk.theory import Constants, bound_gradient
    >>> bound_gradient(Constants(), 1e-3, 4e-3, 1e-6, steps=10**6) < 0.5
    True
    """
    alpha = check_number(step_size, "step_size", above=0.0)
    beta = _check_rate(tracking_rate)
    budget = check_number(eps, "eps", at_least=0.0)
    count = _check_steps(steps)
    if not _may_step(constants, alpha, beta):
        raise ValueError(
            "Theorem 3 needs step_size·L_ℓ²G_h²U² ≤ tracking_rate/4: "
            f"got {constants.least_rate_ratio * alpha / 4:g} and {beta / 4:g}; lower step_size"
        )
    c = constants
    noise = c.step_variance(0.0) * (0.5 * c.smoothness + 4.0 * square(c.inner_lipschitz))
    drift = (c.smoothness + 8.0 * square(c.inner_lipschitz)) * square(budget) / alpha
    bound = 4.0 * (
        (c.initial_gap + square(c.inner_deviation)) / (alpha * count)
        + 4.0 * square(c.inner_deviation) * beta**2 / alpha
        + noise * alpha
        + 0.5 * square(budget / alpha)
        + drift
    )
    return math.inf if math.isnan(bound) else bound


def plan_gradient(constants: Constants, accuracy: float) -> Plan:
    """Invert Theorem 3: return settings for which E‖∇R(f_t)‖²_H ≤ δ at some t ≤ T.

    α and β are of order δ, ε of order δ^{3/2}, T of order 1/δ². Raises ValueError if a setting
    would be too small for accurate arithmetic.

    Examples
    --------
    >>> from colk.theory import Constants, bound_gradient, plan_gradient
    >>> constants, delta = Constants(), 0.1
    >>> plan = plan_gradient(constants, delta)
    >>> settings = plan.step_size, plan.tracking_rate, plan.eps, plan.steps
    >>> bound_gradient(constants, *settings) <= delta
    True
    """
    delta = check_number(accuracy, "accuracy", above=0.0)
    share = delta / 20.0  # a fifth of δ/4
    c = constants
    noise = c.step_variance(0.0) * (0.5 * c.smoothness + 4.0 * square(c.inner_lipschitz))
    variance, ratio = 4.0 * square(c.inner_deviation), c.least_rate_ratio
    alpha = 1.0 if noise == 0.0 else min(share / noise, 1.0 / _LEAST)
    if ratio > 0.0:  # leaves room for ratio·α ≤ β ≤ 1
        alpha = min(alpha, 1.0 / ratio)
        cost = variance * square(ratio)
        if cost > 0.0:
            alpha = min(alpha, share / cost)
    beta = min(1.0, math.sqrt(share * alpha / variance)) if variance > 0.0 else 1.0
    drift = c.smoothness + 8.0 * square(c.inner_lipschitz)
    eps = alpha * math.sqrt(2.0 * share)
    if drift > 0.0:
        eps = min(eps, math.sqrt(share * alpha / drift))
    gap, progress = c.initial_gap + square(c.inner_deviation), alpha * share
    length = gap / progress if progress > 0.0 else math.inf

    def bound(alpha: float, beta: float, eps: float, steps: int) -> float:
        allowed = _may_step(c, alpha, beta)
        return bound_gradient(c, alpha, beta, eps, steps) if allowed else math.inf

    return _confirm(constants, delta, (alpha, beta, eps), 0.0, length, bound)


def _may_step(constants: Constants, alpha: float, beta: float) -> bool:
    """Return whether α and β meet the condition of Theorem 3, up to rounding."""
    return constants.least_rate_ratio * alpha <= beta * (1.0 + 1e-12)


def _confirm(
    constants: Constants,
    delta: float,
    settings: tuple[float, float, float],
    regularization: float,
    length: float,
    bound: Callable[[float, float, float, int], float],
) -> Plan:
    """Return a plan if its bound holds; raise if the constants are too large."""
    alpha, beta, eps = settings
    if all(_LEAST <= value < math.inf for value in settings) and length <= _MOST_STEPS:
        steps = max(1, math.ceil(length))
        if bound(alpha, beta, eps, steps) / _SLACK <= delta:
            atoms = bound_atoms(constants, alpha, eps)
            return Plan(alpha, beta, eps, regularization, steps, atoms)
    given = {name: value for name, value in vars(constants).items() if name != "sides"}
    largest = max(given, key=lambda name: given[name])
    raise ValueError(
        f"no plan for accuracy={delta:g} and these constants; the largest is "
        f"{largest}={given[largest]:g}: α, β or ε would be below {_LEAST:g}, or T too large; scale "
        "targets, loss or kernel so that the constants are closer to 1, or raise accuracy"
    )


def _check_steps(steps: int) -> int:
    if check_count(steps, "steps") > _MOST_STEPS:
        raise ValueError("steps must be at most 1e300; lower steps")
    return int(steps)


def _check_rate(tracking_rate: float) -> float:
    if not 0.0 < check_number(tracking_rate, "tracking_rate") <= 1.0:
        raise ValueError(f"tracking_rate must lie in (0, 1], got {tracking_rate!r}")
    return float(tracking_rate)


def _largest(holds: Callable[[float], bool], most: float) -> float:
    """Return the largest number up to `most` for which a monotone condition holds."""
    if holds(most):
        return most
    low, high = math.log(most) - 200.0, math.log(most)
    while low > math.log(_LEAST) and not holds(math.exp(low)):
        low, high = low - 200.0, low
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
    return math.exp(low)
