"""Distributionally robust risks: against the worst distribution, found by a solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from colk import COLKRegressor
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import KLDRO, ChiSquareDRO, Mean
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish

DIVERGENCES = {
    ChiSquareDRO: lambda q, p: 0.5 * np.sum((q - p) ** 2 / p),
    KLDRO: lambda q, p: np.sum(q * np.log(q / p)),
}


def worst(kind, radius, losses, p):
    """The largest mean loss over distributions within the radius, and that distribution."""
    found = minimize(
        lambda q: -q @ losses,
        p,
        jac=lambda q: -losses,
        bounds=[(1e-12, 1.0)] * len(p),
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1.0},
            {"type": "ineq", "fun": lambda q: radius - DIVERGENCES[kind](q, p)},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return -found.fun, found.x


@pytest.mark.parametrize("kind", DIVERGENCES)
@pytest.mark.parametrize("radius", [0.01, 0.1, 0.5, 2.0])
def test_the_risk_is_the_worst_mean(kind, radius):
    rng = np.random.default_rng(3)
    losses, weights = rng.exponential(size=12), rng.random(12) + 0.2
    value, distribution = worst(kind, radius, losses, weights / weights.sum())
    risk = kind(radius)
    assert risk.value(losses, weights) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(risk.gradient(losses, weights), distribution, atol=1e-4)


def test_a_small_radius_adds_a_multiple_of_the_deviation():
    losses = np.random.default_rng(0).uniform(1.0, 2.0, 500)
    expected = losses.mean() + np.sqrt(0.02) * losses.std()
    assert ChiSquareDRO(0.01).value(losses) == pytest.approx(expected, rel=1e-12)
    assert KLDRO(0.01).value(losses) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("risk", [ChiSquareDRO(9.0), KLDRO(9.0)], ids=repr)
def test_a_large_radius_is_the_largest_loss(risk):
    assert risk.value([1.0, 5.0, 2.0]) == 5.0
    np.testing.assert_array_equal(risk.gradient([1.0, 5.0, 2.0]), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_a_radius_of_0_is_the_mean(kind):
    assert kind(0.0).value([1.0, 3.0]) == 2.0
    assert kind(0.0).n_inner == 0


@pytest.mark.parametrize("risk", [ChiSquareDRO(0.5), KLDRO(0.2)], ids=repr)
def test_g_of_a_stream_approaches_the_exact_one(risk):
    losses = 1.0 + np.random.default_rng(1).exponential(size=20_000)
    path = risk.follow(losses, rate=0.01)
    np.testing.assert_allclose(path[-10_000:].mean(axis=0), risk.estimate(losses), rtol=0.1)


def small_problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(300, 1))
    y = np.sin(3.0 * X[:, 0]) + np.where(rng.random(300) < 0.15, 2.0, 0.0)
    return X, y + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize("risk", [ChiSquareDRO(0.5), KLDRO(0.2)], ids=repr)
def test_the_polish_finds_the_minimum(risk):
    X, y = small_problem()
    atoms = np.linspace(-1.0, 1.0, 6)[:, None]
    kernel, decay = Gaussian(0.6), 1e-3
    K, gram = kernel.gram(X, atoms), kernel.gram(atoms)

    def objective(w):
        return risk.value((K @ w - y) ** 2) + 0.5 * decay * w @ gram @ w

    start = KernelExpansion(kernel, atoms, np.zeros(6))
    found = polish(start, X, y, Squared(), risk, decay, tolerance=1e-6)
    by_search = minimize(objective, found.function.weights, method="BFGS")
    assert objective(found.function.weights) <= by_search.fun * (1.0 + 1e-4)
    from_zero = minimize(objective, np.zeros(6), method="BFGS")
    assert objective(found.function.weights) <= from_zero.fun * (1.0 + 1e-4)


@pytest.mark.compiled
@pytest.mark.parametrize("risk", [ChiSquareDRO(0.5), KLDRO(0.2)], ids=repr)
def test_steps_approach_the_minimum(risk):
    X, y = small_problem()
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 300, 40_000)
    settings = {"step_size": 0.01, "tracking_rate": 0.01, "regularization": 1e-4}
    learner = COLK(Gaussian(0.6), Squared(), risk, **settings).learn(X[rows], y[rows])
    found = polish(learner.function, X, y, Squared(), risk, 1e-4).function
    reached, least = (risk.value((f(X) - y) ** 2) for f in (learner.function, found))
    mean = polish(learner.function, X, y, Squared(), Mean(), 1e-4).function
    assert reached < least + 0.1 * (risk.value((mean(X) - y) ** 2) - least)


@pytest.mark.parametrize(
    "risk", [ChiSquareDRO(1.0), KLDRO(0.5), "chi_square_dro", "kl_dro"], ids=str
)
def test_it_pays_if_the_test_set_is_shifted(risk):
    """15 % of the training samples and half of the test samples belong to another group."""
    X, y = small_problem()
    robust = COLKRegressor(kernel="gaussian", loss="squared", risk=risk, random_state=0).fit(X, y)
    mean = COLKRegressor(kernel="gaussian", loss="squared", random_state=0).fit(X, y)
    rng = np.random.default_rng(9)
    X_test = rng.uniform(-1.0, 1.0, size=(1000, 1))
    y_test = np.sin(3.0 * X_test[:, 0]) + np.where(np.arange(1000) % 2 == 0, 2.0, 0.0)
    errors = [np.mean((model.predict(X_test) - y_test) ** 2) for model in (robust, mean)]
    assert errors[0] < 0.9 * errors[1]
