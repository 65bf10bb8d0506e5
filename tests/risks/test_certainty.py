"""Certainty equivalents, shortfall and spectral risks: roots, closed forms, the specification."""

import math
import pickle

import numpy as np
import pytest

from colk import reference
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.reference import risks as specification
from colk.reference import trackers as specified
from colk.risks import (
    CertaintyEquivalent,
    CVaR,
    Entropic,
    ExpectileRisk,
    LossRisk,
    Mean,
    Shortfall,
    Spectral,
)
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish
from colk.testing import check_risk
from colk.trackers import MovingAverage


class Exponential(Shortfall):
    def disutility_at(self, u):
        return math.exp(min(u, 300.0))

    def disutility_slope_at(self, u):
        return math.exp(min(u, 300.0))


class Quadratic(Shortfall):
    def disutility_at(self, u):
        return max(u, 0.0) ** 2 + 0.1 * u

    def disutility_slope_at(self, u):
        return 2.0 * max(u, 0.0) + 0.1


class MeanVariance(CertaintyEquivalent):
    def disutility_at(self, u):
        return 0.5 * max(u + 1.0, 0.0) ** 2 - 0.5

    def disutility_slope_at(self, u):
        return max(u + 1.0, 0.0)


class Tilted(CertaintyEquivalent):
    def disutility_at(self, u):
        return math.expm1(min(u, 300.0))

    def disutility_slope_at(self, u):
        return math.exp(min(u, 300.0))


ALL = [
    Exponential(1.0),
    Quadratic(0.3),
    Quadratic(-0.2),
    MeanVariance(),
    Tilted(),
    ExpectileRisk(0.8),
    Spectral((0.1, 0.5, 1.0), (1.0, 2.0, 3.0), smoothing=0.1),
    Spectral((0.2, 0.7)),
    Spectral.extremile(3.0),
]
LOSSES = np.random.default_rng(0).exponential(size=300)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_obeys_the_laws(risk):
    check_risk(risk)
    assert pickle.loads(pickle.dumps(risk)) == risk
    assert risk.replace() == risk


@pytest.mark.parametrize("risk", [each for each in ALL if isinstance(each, Shortfall)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_shortfall_is_the_root_of_its_equation(risk, weighted):
    weight = np.random.default_rng(1).uniform(size=300) if weighted else np.ones(300)
    tau = risk.value(LOSSES, weight)
    values = [specification._disutility(risk, u)[0] for u in LOSSES - tau]
    assert np.average(values, weights=weight) == pytest.approx(risk.level, abs=1e-12)
    assert risk.estimate(LOSSES, weight)[0] == pytest.approx(tau, rel=1e-12)


class ByHand(LossRisk):
    """A shortfall as a user may write it: nothing says that g solves an equation."""

    n_inner = 1

    def inner_at(self, loss, g, i):
        return g[0] + 0.3 * (Quadratic(0.3).disutility_at(loss - g[0]) - 0.3)

    def inner_slope_at(self, loss, g, i):
        return 0.0

    def outer_at(self, loss, g):
        return g[0] + Quadratic(0.3).disutility_at(loss - g[0]) - 0.3

    def outer_slope_loss_at(self, loss, g):
        return Quadratic(0.3).disutility_slope_at(loss - g[0])

    def outer_slope_inner_at(self, loss, g, i):
        return 1.0 - self.outer_slope_loss_at(loss, g)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_shortfall_by_hand_is_its_root(weighted):
    """The mean of `inner` at another g is not the root: an audit had 1.956 for a root of 1.574."""
    weight = np.random.default_rng(1).uniform(size=300) if weighted else np.ones(300)
    root = Quadratic(0.3).value(LOSSES, weight)
    assert ByHand().estimate(LOSSES, weight)[0] == pytest.approx(root, rel=1e-12)
    assert ByHand().value(LOSSES, weight) == pytest.approx(root, rel=1e-12)
    mean = np.average(ByHand().inner(LOSSES, [0.0])[:, 0], weights=weight)
    assert abs(mean - root) > 0.1, "where the first g leads"


class EquivalentByHand(ByHand):
    """`MeanVariance` by hand; its outer expectation is stationary at the root."""

    def inner_at(self, loss, g, i):
        return g[0] + 0.3 * (MeanVariance().disutility_slope_at(loss - g[0]) - 1.0)

    def outer_at(self, loss, g):
        return g[0] + MeanVariance().disutility_at(loss - g[0])

    def outer_slope_loss_at(self, loss, g):
        return MeanVariance().disutility_slope_at(loss - g[0])


def test_the_check_asks_how_many_values_are_expectations():
    with pytest.raises(AssertionError, match="n_expectations counts those that are not stationary"):
        check_risk(EquivalentByHand())

    class Stationary(EquivalentByHand):
        n_expectations = 0

    check_risk(Stationary())
    assert Stationary().value(LOSSES) == pytest.approx(MeanVariance().value(LOSSES), rel=1e-12)


@pytest.mark.parametrize("risk", [MeanVariance(), Tilted()], ids=repr)
def test_a_certainty_equivalent_is_the_least_over_tau(risk):
    def at(tau):
        return tau + np.mean([risk.disutility_at(u) for u in LOSSES - tau])

    grid = np.linspace(LOSSES.min() - 1.0, LOSSES.max(), 4001)
    least = min(at(tau) for tau in grid)
    assert least - 1e-5 <= risk.value(LOSSES) <= least + 1e-12


def test_special_cases():
    assert Tilted().value(LOSSES) == pytest.approx(Entropic(1.0).value(LOSSES), rel=1e-10)
    assert Exponential(1.0).value(LOSSES) == pytest.approx(Entropic(1.0).value(LOSSES), rel=1e-10)
    np.testing.assert_allclose(
        Exponential(1.0).gradient(LOSSES), Entropic(1.0).gradient(LOSSES), rtol=1e-9
    )
    assert ExpectileRisk(0.5).value(LOSSES) == pytest.approx(LOSSES.mean(), rel=1e-10)
    assert Spectral((0.3,)).value(LOSSES) == pytest.approx(CVaR(0.3).value(LOSSES), rel=1e-12)
    np.testing.assert_allclose(Spectral((0.3,)).gradient(LOSSES), CVaR(0.3).gradient(LOSSES))
    assert Spectral((1.0,)).value(LOSSES) == pytest.approx(Mean().value(LOSSES), rel=1e-12)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_of_equal_losses_and_shifts(risk):
    value = risk.value(LOSSES)
    assert risk.value(LOSSES + 5.0) == pytest.approx(value + 5.0, rel=1e-9)
    one = risk.value([2.0, 2.0])
    assert one == pytest.approx(risk.value([2.0]), rel=1e-12)
    if isinstance(risk, (ExpectileRisk, Spectral)) and not getattr(risk, "smoothing", 0.0):
        assert one == pytest.approx(2.0, rel=1e-12), "coherent"
        assert risk.value(3.0 * LOSSES) == pytest.approx(3.0 * value, rel=1e-9)


def test_spectra_against_weights_of_ranks():
    ordered, ranks = np.sort(LOSSES), np.arange(301) / 300
    largest_of_three = ordered @ np.diff(ranks**3)
    assert Spectral.extremile(3.0).value(LOSSES) == pytest.approx(largest_of_three, rel=1e-3)
    exact = ordered @ np.diff(np.exp(5.0 * (ranks - 1.0))) / -math.expm1(-5.0)
    few, many = (abs(Spectral.exponential(5.0, n).value(LOSSES) - exact) for n in (8, 64))
    assert few < 2e-3 * exact
    assert many < 0.2 * few


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_the_tracked_values_approach_the_exact_ones(risk):
    losses = np.random.default_rng(2).gamma(9.0, 0.1, size=60_000)
    path = risk.follow(losses, rate=0.003)
    exact = risk.estimate(losses)
    counted = [i for i, a in enumerate(getattr(risk, "tail_fractions", (0, 0))) if a < 1.0]
    np.testing.assert_allclose(path[20_000:].mean(axis=0)[counted], exact[counted], rtol=0.06)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_formulas_equal_the_specification(risk):
    g, earlier = risk.estimate(LOSSES), 0.1
    for loss in LOSSES[:20]:
        found = specification.outer(risk, loss, g)
        assert risk.outer([loss], g)[0] == pytest.approx(found.value, rel=1e-12)
        assert risk.outer_slope_loss([loss], g)[0] == pytest.approx(found.slope_loss, rel=1e-12)
        np.testing.assert_allclose(
            risk.outer_slope_inner([loss], g)[0], found.slope_inner, rtol=1e-11, atol=1e-15
        )
        np.testing.assert_allclose(
            risk.inner([loss], g)[0], specification.inner(risk, loss, g), rtol=1e-12, atol=1e-14
        )
    path, g = risk.follow(LOSSES, LOSSES + earlier, rate=0.2), specified.start(risk, LOSSES[0])
    for t, loss in enumerate(LOSSES):
        if t > 0:
            g = specified.track("momentum", risk, g, loss + earlier, loss, 0.2)
        np.testing.assert_allclose(path[t], g, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_a_learner_equals_the_specification(risk):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(60, 1))
    y = np.sin(6.0 * X)
    settings = {"step_size": 0.05, "tracking_rate": 0.1, "gradient_bound": 1.0}
    learner = COLK(
        Gaussian(0.2), risk=risk, compressor=KOMP(eps=0.0), averaging=None, regularization=0.0,
        tracker=MovingAverage(), **settings,
    ).learn(X, y)  # fmt: skip
    twin = reference.COLK(
        Gaussian(0.2), Squared(), risk, n_features=1, n_outputs=1, tracker="average", **settings
    ).learn(X, y)
    np.testing.assert_allclose(learner.predict(X), twin.predict(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(learner.inner_estimate, twin.g, rtol=1e-7)


def test_the_batch_optimum_under_a_user_defined_shortfall():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, size=(200, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.3 * rng.exponential(size=200)
    start, risk = KernelExpansion(Gaussian(0.5), X[:20], np.zeros(20)), Quadratic(0.3)
    under = polish(start, X, y, Squared(), risk, 1e-4)
    mean = polish(start, X, y, Squared(), Mean(), 1e-4)
    by_mean = risk.value_at(Squared(), mean.function(X), y)
    assert under.value < by_mean + 0.5e-4 * mean.function.norm() ** 2
    assert under.gap < 1e-6


def test_what_they_refuse():
    class Flat(CertaintyEquivalent):
        def disutility_at(self, u):
            return 0.5 * u

        def disutility_slope_at(self, u):
            return 0.5

    with pytest.raises(ValueError, match="has no root"):
        Flat().value([1.0, 2.0])
    with pytest.raises(ValueError, match="level must lie in"):
        ExpectileRisk(0.3)
    with pytest.raises(ValueError, match="a tail fraction"):
        Spectral((0.0, 0.5))
    with pytest.raises(ValueError, match="order must be"):
        Spectral.extremile(1.0)


@pytest.mark.parametrize("size", [7.936383e-6, 1.0, 1e100])
@pytest.mark.parametrize("spread", [0.0, 8e-12, 1e-6, 1.0, 1e6])
def test_the_root_is_found_however_much_losses_differ(size, spread):
    """Rounding decides about the sign of E inner − g where losses hardly differ."""
    losses = size * (1.0 + spread * np.random.default_rng(0).random(40) ** 4)
    found = ExpectileRisk(0.9).value(losses)
    assert losses.min() * (1.0 - 1e-9) <= found <= losses.max() * (1.0 + 1e-9)
    above, below = np.maximum(losses - found, 0.0).sum(), np.maximum(found - losses, 0.0).sum()
    assert abs(0.9 * above - 0.1 * below) <= 1e-9 * losses.sum()
