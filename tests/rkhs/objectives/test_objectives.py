"""The objective of a pair of samples, and the objective of a function on data."""

import subprocess
import sys

import numpy as np
import pytest
from variance_cases import AS_COMPOSITION, AS_CUSTOM

from colk.kernels import Gaussian
from colk.losses import Hinge, Huber, Logistic, Pinball, Softmax, Squared
from colk.risks import (
    RISKS,
    CVaR,
    Entropic,
    MeanSemideviation,
    Variance,
)
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.objectives import Objective, objective

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


@pytest.mark.parametrize(("loss", "risk"), TERMS, ids=repr)
def test_the_mean_over_pairs_is_the_gradient(loss, risk):
    n = 15
    F, Y = draw(loss, np.random.default_rng(0), n)
    g = risk.estimate_at(loss, F, Y)
    losses, slopes = loss.value(F, Y), loss.slope(F, Y)
    by_loss = risk.outer_slope_loss(losses, g)
    through = risk.outer_slope_inner(losses, g) @ risk.inner_slope(losses, g).T
    expected = (slopes.T * (by_loss + through.mean(axis=0))).T / n
    if risk.is_smooth:
        np.testing.assert_allclose(expected, risk.gradient_at(loss, F, Y), atol=1e-14, rtol=1e-9)
    values = risk.outer(losses, g)
    assert np.mean(values) == pytest.approx(risk.value_at(loss, F, Y), rel=1e-13)


@pytest.mark.parametrize("written", [AS_COMPOSITION, AS_CUSTOM], ids=["composition", "custom"])
def test_three_ways_to_write_the_variance_agree(written):
    F, Y = np.random.default_rng(1).normal(size=(2, 40, 2))
    built_in, loss = Variance(0.5), Squared()
    for name in ("estimate_at", "value_at", "gradient_at"):
        expected = getattr(built_in, name)(loss, F, Y)
        np.testing.assert_allclose(getattr(written, name)(loss, F, Y), expected, rtol=1e-12)


def test_the_function_is_there_in_every_order_of_imports():
    orders = [
        "import colk.rkhs.objectives; from colk import objective",
        "from colk import objective; import colk.rkhs.objectives",
        "import colk; objective = colk.objective; import colk.rkhs.objectives",
        "import colk, colk.rkhs.objectives; objective = colk.objective",
        "from colk.rkhs.objectives import objective",
    ]
    use = """
from colk.losses import Squared
import colk
for f in (objective, colk.objective):
    assert f(lambda X: X[:, 0], [[1.0]], [3.0], Squared()).total == 4.0
"""
    for order in orders:
        subprocess.run([sys.executable, "-c", order + use], check=True)


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
