"""The objective of one sample in the core, and the objective of a function on data."""

import numpy as np
import pytest

from colk._core.objective import gradient, inner_track, sample_loss, sample_value
from colk._objective import Objective, objective
from colk.expansion import KernelExpansion
from colk.kernels import Gaussian
from colk.losses import Hinge, Huber, Logistic, Pinball, Softmax, Squared
from colk.risks import (
    RISKS,
    Composition,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Variance,
)

TERMS = [
    *((Huber(0.5), risk()) for risk in RISKS.values()),
    (Squared(), CVaR(0.2, 0.5, 0.3)),
    (Logistic(), Variance(0.5)),
    (Hinge(), Entropic(-1.0)),
    (Softmax(), MeanSemideviation(2.0, 0.7)),
]


def draw(loss, rng, n):
    """Predictions (n, q) and targets (n, r) that suit the loss."""
    if loss.kind == "multiclass":
        return rng.normal(size=(n, 3)), rng.integers(3, size=(n, 1)).astype(float)
    if loss.kind == "binary":
        return rng.normal(size=(n, 1)), rng.choice([-1.0, 1.0], (n, 1))
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


def pair_gradient(loss, risk, g, F, Y, theta, xi):
    c_theta, c_xi = np.full((2, F.shape[1]), np.nan)
    work = np.empty(risk.n_inner * (F.shape[1] + 1))
    programs = loss.program(), risk.program()
    gradient(*programs, g, F[theta], Y[theta], F[xi], Y[xi], c_theta, c_xi, work)
    return c_theta, c_xi


@pytest.mark.parametrize(("loss", "risk"), TERMS, ids=repr)
def test_the_mean_over_pairs_is_the_gradient(loss, risk):
    n = 15
    F, Y = draw(loss, np.random.default_rng(0), n)
    g = risk.estimate_at(loss, F, Y)
    expected = np.zeros_like(F)
    for theta in range(n):
        for xi in range(n):
            c_theta, c_xi = pair_gradient(loss, risk, g, F, Y, theta, xi)
            expected[theta] += c_theta / n**2
            expected[xi] += c_xi / n**2
    if risk.is_smooth:
        np.testing.assert_allclose(expected, risk.gradient_at(loss, F, Y), atol=1e-14, rtol=1e-9)
    values = [sample_value(loss.program(), risk.program(), g, F[i], Y[i]) for i in range(n)]
    assert np.mean(values) == pytest.approx(risk.value_at(loss, F, Y), rel=1e-13)
    losses = [sample_loss(loss.program(), F[i], Y[i]) for i in range(n)]
    np.testing.assert_array_equal(losses, loss.value(F, Y))


@pytest.mark.parametrize("momentum", [True, False])
def test_inner_track_of_a_loss(momentum):
    loss, risk, g = Squared(), Variance(0.1), np.zeros(1)
    programs, work = (loss.program(), risk.program()), np.empty(0)
    f, previous, y = np.array([1.0]), np.array([0.5]), np.array([3.0])
    inner_track(*programs, g, previous, f, y, 0.25, momentum, True, work)
    assert g[0] == 4.0
    inner_track(*programs, g, previous, f, y, 0.25, momentum, False, work)
    assert g[0] == (0.75 * (4.0 - 6.25) + 4.0 if momentum else 4.0)


def square(f, y, out):
    out[0] = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2


def square_slope(f, y, out):
    for c in range(2):
        out[0, c] = 2.0 * (f[c] - y[c])


def outer(f, y, g):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    return loss + 0.5 * (loss - g[0]) ** 2


def outer_slope_prediction(f, y, g, out):
    loss = (f[0] - y[0]) ** 2 + (f[1] - y[1]) ** 2
    for c in range(2):
        out[c] = 2.0 * (f[c] - y[c]) * (1.0 + (loss - g[0]))


def outer_slope_inner(f, y, g, out):
    out[0] = g[0] - (f[0] - y[0]) ** 2 - (f[1] - y[1]) ** 2


AS_COMPOSITION = Composition(
    square, square_slope, outer, outer_slope_prediction, outer_slope_inner, 1, 2, 2
)
AS_CUSTOM = CustomRisk(
    inner=lambda loss: loss,
    inner_slope=lambda loss: 1.0,
    outer=lambda loss, g: loss + 0.5 * (loss - g) ** 2,
    outer_slope_loss=lambda loss, g: 1.0 + (loss - g),
    outer_slope_inner=lambda loss, g: g - loss,
)


@pytest.mark.parametrize("written", [AS_COMPOSITION, AS_CUSTOM], ids=["composition", "custom"])
@pytest.mark.parametrize("momentum", [True, False])
def test_three_ways_to_write_the_variance_agree(written, momentum):
    rng = np.random.default_rng(1)
    loss, built_in = Squared(), Variance(0.5)
    F, Y = rng.normal(size=(2, 40, 2))
    paths = []
    for risk in (built_in, written):
        programs, g, work = (loss.program(), risk.program()), np.zeros(1), np.empty(3)
        path = []
        for t in range(1, 39):
            old = (F[t - 1], F[t], Y[t])
            inner_track(*programs, g, *old, 0.2, momentum, t == 1, work)
            c_theta, c_xi = pair_gradient(loss, risk, g, F, Y, t + 1, t)
            value = sample_value(*programs, g, F[t], Y[t])
            path.append([g[0], value, *c_theta, *c_xi])
        paths.append(path)
    np.testing.assert_allclose(paths[1], paths[0], rtol=1e-12, atol=1e-13)


def test_a_composition_writes_no_further_than_it_may():
    rng = np.random.default_rng(2)
    F, Y = rng.normal(size=(2, 2, 2))
    guard = np.full(20, 7.0)
    g, work = guard[:1].copy(), np.full(9, 7.0)
    programs = Squared().program(), AS_COMPOSITION.program()
    c_theta, c_xi = np.full((2, 5), 7.0)
    gradient(*programs, g, F[0], Y[0], F[1], Y[1], c_theta, c_xi, work)
    assert (work[3:] == 7.0).all()
    assert (c_theta[2:] == 7.0).all()
    assert (c_xi[2:] == 7.0).all()


def test_without_expectations_the_second_sample_has_no_part():
    rng = np.random.default_rng(3)
    F, Y = rng.normal(size=(2, 2, 2))
    for risk in (Mean(), CVaR(0.2), Entropic(0.5)):
        g = np.full(risk.n_inner, 0.5)
        assert (pair_gradient(Squared(), risk, g, F, Y, 0, 1)[1] == 0.0).all()
    c_theta, _ = pair_gradient(Squared(), Mean(), np.zeros(0), F, Y, 0, 1)
    np.testing.assert_array_equal(c_theta, Squared().slope(F, Y)[0])


def test_a_label_out_of_range_is_not_a_number():
    f = np.zeros(3)
    for label in (-1.0, 3.0):
        assert np.isnan(sample_loss(Softmax().program(), f, np.array([label])))
        c = pair_gradient(Softmax(), Mean(), np.zeros(0), f[None], np.array([[label]]), 0, 0)[0]
        assert np.isnan(c).all()


def test_objective_of_an_expansion():
    rng = np.random.default_rng(4)
    X, y = rng.uniform(size=(200, 1)), rng.normal(size=200)
    f = KernelExpansion(Gaussian(0.5), X[:3], [1.0, -2.0, 0.5])
    found = objective(f, X, y, Squared(), Variance(0.3), 0.1)
    losses = (f(X) - y) ** 2
    assert found.mean == pytest.approx(losses.mean(), rel=1e-13)
    assert found.dispersion == pytest.approx(0.3 * losses.var(), rel=1e-10)
    assert found.penalty == pytest.approx(0.05 * f.norm() ** 2, rel=1e-13)
    assert found.total == pytest.approx(found.mean + found.dispersion + found.penalty, rel=1e-13)
    for level, value in found.quantiles.items():
        exact = np.quantile(losses, level, method="inverted_cdf")
        assert value == pytest.approx(exact, rel=1e-13)
    assert found.cvar == pytest.approx(np.sort(losses)[-10:].mean(), rel=1e-13)
    assert "mean of worst 0.05" in str(found)


def test_weights_of_objective_count_samples():
    rng = np.random.default_rng(5)
    X, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    counts = rng.integers(0, 4, size=30)
    repeated = np.repeat(np.arange(30), counts)

    def f(points):
        return points[:, 0]

    weighted = objective(f, X, y, Pinball(0.7), CVaR(0.3), sample_weight=counts)
    plain = objective(f, X[repeated], y[repeated], Pinball(0.7), CVaR(0.3))
    assert weighted.n_samples == 30
    for name in ("mean", "dispersion", "total", "cvar"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    assert weighted.quantiles == pytest.approx(plain.quantiles)


def test_objective_of_a_composition_and_of_classes():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    found = objective(lambda points: points, X, Y, Squared(), AS_COMPOSITION)
    same = objective(lambda points: points, X, Y, Squared(), Variance(0.5))
    assert found.total == pytest.approx(same.total, rel=1e-13)
    scores = objective(lambda points: points, X, rng.integers(2, size=20), Softmax())
    assert isinstance(scores, Objective)


def test_a_penalty_needs_a_norm():
    with pytest.raises(TypeError, match="regularization needs a function that has a norm"):
        objective(lambda X: X[:, 0], [[1.0]], [1.0], Squared(), regularization=0.1)
