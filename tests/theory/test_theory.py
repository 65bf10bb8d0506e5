"""Plans keep their accuracy and scale with it as the theorems state."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from colk.kernels import Gaussian
from colk.losses import Huber, Squared
from colk.risks import Composition, CVaR, Mean, Semivariance, Variance
from colk.rkhs.batch import minimize
from colk.theory import (
    Constants,
    bound_atoms,
    bound_distance,
    bound_gradient,
    plan_distance,
    plan_gradient,
)

CASES = [
    Constants(),
    Constants(kernel_bound=0.5, inner_slope=3.0, outer_slope=2.0, inner_deviation=0.1),
    Constants(outer_lipschitz=0.0, inner_lipschitz=0.0, inner_deviation=0.0),
    Constants(norm_bound=20.0, optimum_norm=10.0, outer_lipschitz=5.0, smoothness=30.0),
    Constants(inner_deviation=0.0, optimum_norm=0.0, norm_bound=0.0),
]
DELTAS = [10.0, 1.0, 1e-2, 1e-5]


def settings_of(plan):
    return plan.step_size, plan.tracking_rate, plan.eps, plan.steps


@pytest.mark.each_pair
@pytest.mark.parametrize("constants", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("strong_convexity", [0.01, 0.9])
def test_a_planned_distance_is_kept(constants, delta, strong_convexity):
    plan = plan_distance(constants, delta, strong_convexity)
    assert bound_distance(constants, *settings_of(plan), strong_convexity) <= delta * (1 + 1e-9)
    assert plan.step_size * strong_convexity < 1.0
    assert 0.0 < plan.tracking_rate <= 1.0
    assert plan.regularization >= strong_convexity
    assert plan.max_atoms >= 1.0


@pytest.mark.each_value
@pytest.mark.parametrize("constants", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("delta", DELTAS)
def test_a_planned_gradient_is_kept(constants, delta):
    plan = plan_gradient(constants, delta)
    assert bound_gradient(constants, *settings_of(plan)) <= delta * (1 + 1e-9)
    assert plan.step_size * constants.least_rate_ratio <= plan.tracking_rate * (1 + 1e-9)


def test_the_plan_is_the_printed_one():
    """α = δ/(5Z₁) and β = δ/(5√(Z₁Z₂)), with the Zs at the planned λ."""
    constants, delta, decay = Constants(), 1e-3, 0.5
    plan = plan_distance(constants, delta, decay)
    z1 = constants.step_variance(plan.regularization) * 3.0 / decay
    z2 = 2.0 / decay
    np.testing.assert_allclose(plan.step_size, delta / (5 * z1), rtol=1e-9)
    np.testing.assert_allclose(plan.tracking_rate, delta / (5 * np.sqrt(z1 * z2)), rtol=1e-9)
    ratio = plan.step_size / plan.tracking_rate
    np.testing.assert_allclose(plan.regularization, decay + ratio, rtol=1e-9)


@pytest.mark.parametrize("norm", [0.0, 2.5])
def test_the_printed_eps(norm):
    """ε is the smaller of δα/(5Z₃) and √(δα/(5Z₄)), of which the first is none where K + S = 0."""
    constants, share, decay = replace(UNEVEN, norm_bound=norm, optimum_norm=0.0), 1e-3 / 5.0, 0.5
    plan = plan_distance(constants, 5.0 * share, decay)
    z4 = (2.0 + 4.0 * 1.7**2 * 0.6 * 0.7) / decay
    by_z4 = np.sqrt(share * plan.step_size / z4)
    expected = share * plan.step_size * decay / (2.0 * norm) if norm else by_z4
    assert expected <= by_z4
    np.testing.assert_allclose(plan.eps, expected, rtol=1e-9)


def exponent(plans, name):
    """Log-log slope of a setting between the last two accuracies, a decade apart."""
    return np.log10(getattr(plans[-2], name) / getattr(plans[-1], name))


def test_the_exponents_of_theorem_2():
    plans = [plan_distance(Constants(), delta, 0.5) for delta in (1e-5, 1e-6)]
    assert abs(exponent(plans, "step_size") - 1.0) < 1e-3
    assert abs(exponent(plans, "tracking_rate") - 1.0) < 1e-3
    assert abs(exponent(plans, "eps") - 2.0) < 1e-3
    # (1/δ) log(1/δ): a decade and a bit.
    assert -1.2 < exponent(plans, "steps") < -1.0
    # (W/ε)^{2p} with p = 1, ε of order δ².
    assert abs(exponent(plans, "max_atoms") + 4.0) < 1e-2


def test_the_exponents_of_theorem_3():
    plans = [plan_gradient(Constants(), delta) for delta in (1e-5, 1e-6)]
    assert abs(exponent(plans, "step_size") - 1.0) < 1e-3
    assert abs(exponent(plans, "tracking_rate") - 1.0) < 1e-3
    assert abs(exponent(plans, "eps") - 1.5) < 1e-3
    assert abs(exponent(plans, "steps") + 2.0) < 1e-3
    assert abs(exponent(plans, "max_atoms") + 3.0) < 1e-2


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_exponent_of_theorem_1(p):
    constants = Constants(sides=(1.0,) * p)
    few, many = (bound_atoms(constants, 0.1, eps) for eps in (1e-5, 1e-6))
    assert abs(np.log10(many / few) - 2 * p) < 1e-3


def test_smaller_accuracies_ask_for_more():
    plans = [plan_distance(Constants(), delta, 0.5) for delta in (1.0, 0.1, 0.01)]
    for coarse, fine in pairwise(plans):
        assert fine.step_size < coarse.step_size
        assert fine.eps < coarse.eps
        assert fine.steps > coarse.steps
        assert fine.max_atoms > coarse.max_atoms


WORSE = [
    {"inner_slope": 2.0},
    {"outer_slope": 2.0},
    {"inner_deviation": 2.0},
    {"inner_lipschitz": 2.0},
    {"outer_lipschitz": 2.0},
    {"kernel_bound": 2.0},
]


@pytest.mark.parametrize("worse", [*WORSE, {"norm_bound": 2.0}, {"optimum_norm": 2.0}], ids=str)
def test_worse_constants_give_a_worse_distance(worse):
    settings = (1e-3, 1e-2, 1e-5, 1000, 0.5)
    better = bound_distance(Constants(), *settings)
    assert bound_distance(replace(Constants(), **worse), *settings) > better


@pytest.mark.parametrize(
    "worse", [*WORSE[:4], WORSE[5], {"smoothness": 2.0}, {"initial_gap": 2.0}], ids=str
)
def test_worse_constants_give_a_worse_gradient(worse):
    settings = (1e-4, 1e-1, 1e-5, 1000)
    better = bound_gradient(Constants(), *settings)
    assert bound_gradient(replace(Constants(), **worse), *settings) > better


def test_more_steps_buy_accuracy_down_to_the_noise():
    bounds = [bound_distance(Constants(), 1e-3, 1e-3, 1e-8, t, 0.5) for t in (10, 1000, 10**5)]
    assert bounds[0] > bounds[1] > bounds[2]
    floor = bound_distance(Constants(), 1e-3, 1e-3, 1e-8, 10**9, 0.5)
    assert 0.0 < floor < bounds[2] * (1 + 1e-12)


def test_theorem_3_asks_for_a_tracking_rate_in_proportion():
    """The condition is αL_ℓ²G_h²U² ≤ β/4, and nothing stricter."""
    least = 4.0 * 0.6**2 * 1.3**2 * 0.7**2 * 0.1
    assert np.isfinite(bound_gradient(UNEVEN, 0.1, 1.000001 * least, 0.0, 10))
    with pytest.raises(ValueError, match="lower step_size"):
        bound_gradient(UNEVEN, 0.1, 0.999999 * least, 0.0, 10)


def test_settings_that_the_theorems_exclude():
    with pytest.raises(ValueError, match="lower step_size"):
        bound_gradient(Constants(), 0.1, 0.1, 0.0, 10)
    with pytest.raises(ValueError, match="lower step_size"):
        bound_distance(Constants(), 2.0, 0.1, 0.0, 10, 0.5)
    with pytest.raises(ValueError, match="tracking_rate"):
        bound_distance(Constants(), 0.1, 1.1, 0.0, 10, 0.5)
    with pytest.raises(ValueError, match="accuracy"):
        plan_distance(Constants(), 0.0, 0.5)
    with pytest.raises(ValueError, match="kernel_bound"):
        Constants(kernel_bound=0.0)
    with pytest.raises(ValueError, match="sides"):
        Constants(sides=())
    assert bound_atoms(Constants(), 0.1, 0.0) == np.inf


# -- large constants ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e6, 1e12, 1e25, 1e35])
def test_plans_for_a_large_kernel_are_kept(size):
    """Step sizes far below the spacing of floats at 1: rates are taken by their logarithms."""
    constants = Constants(kernel_bound=size)
    plan = plan_distance(constants, 0.1, 0.5)
    assert plan.step_size < 1e-16
    assert bound_distance(constants, *settings_of(plan), 0.5) <= 0.1 * (1 + 1e-9)
    fewer = replace(plan, steps=plan.steps // 4)
    assert bound_distance(constants, *settings_of(fewer), 0.5) > 0.1
    plan = plan_gradient(constants, 0.1)
    assert bound_gradient(constants, *settings_of(plan)) <= 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("size", [1e100, 1e200, 1e308, 10**300])
def test_constants_that_are_too_large_are_named(size):
    constants = Constants(outer_slope=size)
    with pytest.raises(ValueError, match=r"largest is outer_slope=1e\+"):
        plan_distance(constants, 0.1, 0.5)
    with pytest.raises(ValueError, match=r"largest is outer_slope=1e\+"):
        plan_gradient(constants, 0.1)


def test_bounds_beyond_floats_are_infinite():
    constants = Constants(outer_slope=1e200)
    assert bound_distance(constants, 1e-3, 1e-2, 1e-5, 10, 0.5) == np.inf
    assert bound_gradient(constants, 1e-3, 1e-2, 1e-5, 10) == np.inf
    assert bound_atoms(Constants(gradient_bound=1e300), 0.1, 1e-5) == np.inf
    assert bound_atoms(Constants(sides=(1.0,) * 500), 0.1, 1.0) == np.inf
    assert bound_atoms(Constants(), 1e-200, 1e200) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="lower steps"):
        bound_gradient(Constants(), 1e-3, 1e-2, 1e-5, 10**400)


# -- estimates ----------------------------------------------------------------------------------


def data(n=150, p=1):
    rng = np.random.default_rng(0)
    X = rng.random((n, p))
    return X, np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    "risk", [Mean(), Variance(0.1), Semivariance(0.3, 0.1), CVaR(0.2, smoothing=0.1)], ids=repr
)
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5)], ids=repr)
def test_estimates_make_plans(loss, risk):
    X, y = data()
    terms = Gaussian(0.2), loss, risk
    optimum = minimize(X, y, *terms, regularization=1e-2).function
    constants = Constants.estimate(X, y, *terms, optimum, regularization=1e-2, gradient_bound=10.0)
    assert constants.kernel_bound == 1.0
    assert constants.gradient_bound <= 10.0
    assert (constants.outer_lipschitz == 0.0) == (risk.n_inner == 0)
    plan = plan_distance(constants, 0.1, 0.5)
    assert bound_distance(constants, *settings_of(plan), 0.5) <= 0.1 * (1 + 1e-9)


def test_estimates_against_closed_forms():
    X, y = data()
    terms = Gaussian(0.2), Squared(), Variance(0.1)
    optimum = minimize(X, y, *terms, regularization=1e-2).function
    constants = Constants.estimate(X, y, *terms, optimum)
    losses = y**2  # at f = 0, where the slopes are steepest
    slope = 1 + 0.2 * (losses - losses.mean())
    np.testing.assert_allclose(
        constants.outer_slope, np.sqrt(np.mean(slope**2 + (slope - 1) ** 2)), rtol=1e-9
    )
    np.testing.assert_allclose(constants.inner_slope, np.sqrt(2 * np.mean(4 * y**2)), rtol=1e-9)
    np.testing.assert_allclose(constants.inner_lipschitz, 2 * np.abs(y).max(), rtol=1e-9)
    np.testing.assert_allclose(constants.inner_deviation, losses.std(), rtol=1e-9)
    np.testing.assert_allclose(constants.outer_lipschitz, 0.2 * np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(constants.sides, np.ptp(X), rtol=1e-12)
    assert constants.optimum_norm == optimum.norm()
    assert constants.norm_bound == 2 * optimum.norm()
    # The Gaussian's steepest slope from its centre is exp(−1/2)/0.2 at most.
    assert 0.45 / 0.2 < constants.kernel_lipschitz < np.exp(-0.5) / 0.2


def test_a_composition_cannot_be_estimated():
    with pytest.raises(TypeError, match="risk of a loss"):
        Constants.estimate(*data(), Gaussian(0.2), Squared(), Composition, None)


UNEVEN = Constants(
    kernel_bound=0.7,
    inner_slope=1.3,
    outer_lipschitz=0.6,
    inner_lipschitz=1.7,
    inner_deviation=0.4,
    norm_bound=2.5,
    optimum_norm=1.1,
    smoothness=3.1,
)


def test_what_compression_adds_to_a_distance():
    """Z₃ε/α + Z₄ε²/α with Z₃ = 2(K + S)/λ₀ and Z₄ = (2 + 4L_h²L_ℓU)/λ₀."""
    alpha, eps, decay = 0.01, 0.3, 0.5
    with_eps, without = (bound_distance(UNEVEN, alpha, 0.1, e, 100, decay) for e in (eps, 0.0))
    z3 = 2.0 * (2.5 + 1.1) / decay
    z4 = (2.0 + 4.0 * 1.7**2 * 0.6 * 0.7) / decay
    np.testing.assert_allclose(with_eps - without, (z3 * eps + z4 * eps**2) / alpha, rtol=1e-9)


def test_what_compression_adds_to_a_gradient():
    """4[ε²/(2α²) + (L_R + 8L_h²)ε²/α]."""
    alpha, eps = 0.05, 0.3
    with_eps, without = (bound_gradient(UNEVEN, alpha, 0.9, e, 100) for e in (eps, 0.0))
    expected = 4.0 * (0.5 * (eps / alpha) ** 2 + (3.1 + 8.0 * 1.7**2) * eps**2 / alpha)
    np.testing.assert_allclose(with_eps - without, expected, rtol=1e-9)
