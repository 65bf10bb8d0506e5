"""A risk on a stream: never much worse than the mean's model, and better where it pays."""

import numpy as np
import pytest

from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.learners import COLK, HedgedCOLK, HedgedNewtonCOLK, NewtonCOLK
from colk.losses import Huber
from colk.risks import Composition, CVaR, Semivariance

SOLVERS = ("gradient", "newton")


def skewed(rng, n):
    X = rng.normal(size=(n, 4))
    noise = (0.2 + 0.8 * (X[:, 0] > 0.0)) * (rng.exponential(size=n) - 1.0)
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + noise


def homoscedastic(rng, n):
    X = rng.random((n, 5))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3]
    return X, y + rng.normal(size=n)


def ratio(make, solver, risk, seed):
    """The risk on new rows, divided by that of the mean's model; the dictionary is full."""
    X, y = make(np.random.default_rng(seed), 7000)
    values = []
    for asked in (risk, "mean"):
        model = COLKRegressor(kernel="laplacian", max_atoms=60, solver=solver, risk=asked)
        for start in range(0, 4000, 500):
            model.partial_fit(X[start : start + 500], y[start : start + 500])
        assert model.n_atoms_ == 60
        losses = Huber(1.0).value(model.predict(X[4000:]) / y.std(), y[4000:] / y.std())
        values.append(risk.value(losses))
    return values[0] / values[1]


@pytest.mark.parametrize("risk", [CVaR(0.1), Semivariance(1.0)], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_it_pays_where_noise_is_skewed(solver, risk):
    assert np.mean([ratio(skewed, solver, risk, seed) for seed in range(3)]) < 0.97


@pytest.mark.parametrize("risk", [CVaR(0.1), Semivariance(1.0)], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_it_does_no_harm_where_nothing_is_to_gain(solver, risk):
    assert np.mean([ratio(homoscedastic, solver, risk, seed) for seed in range(3)]) < 1.02


@pytest.mark.parametrize("solver", SOLVERS)
def test_which_learner_a_risk_gets(solver):
    X, y = skewed(np.random.default_rng(0), 50)
    hedged, plain = (HedgedCOLK, COLK) if solver == "gradient" else (HedgedNewtonCOLK, NewtonCOLK)
    bias = Composition(
        lambda f, y: f - y, lambda f, y: 1.0, lambda f, y, g: (f - y) ** 2 + g[0] ** 2,
        lambda f, y, g: 2.0 * (f - y), lambda f, y, g: 2.0 * g,
    )  # fmt: skip
    kinds = {
        hedged: [{"risk": "cvar"}, {"risk": "variance"}],
        plain: [{}, {"risk": bias}, {"risk": "cvar", "hedged": False}],
    }
    for kind, settings in kinds.items():
        for each in settings:
            model = COLKRegressor(kernel="gaussian", solver=solver, **each).partial_fit(X, y)
            assert type(model.learner_) is kind


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pairing_never_chooses_the_algorithm(solver):
    X, y = skewed(np.random.default_rng(0), 50)
    settings = {"kernel": "gaussian", "solver": solver, "risk": "cvar", "pairing": "independent"}
    with pytest.raises(ValueError, match="pairing='independent' would be ignored beside hedged"):
        COLKRegressor(**settings).partial_fit(X, y)
    model = COLKRegressor(**settings, hedged=False).partial_fit(X, y)
    assert model.learner_.pairing == "independent"


def test_a_hedged_learner_refuses_a_risk_of_predictions():
    bias = Composition(
        lambda f, y: f - y, lambda f, y: 1.0, lambda f, y, g: g, lambda f, y, g: 0.0,
        lambda f, y, g: 1.0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="needs a risk of losses"):
        HedgedCOLK(Gaussian(1.0), risk=bias)


@pytest.mark.parametrize("solver", SOLVERS)
def test_classes_under_a_risk(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    labels = np.array(["low", "middle", "high"])[np.digitize(X.sum(axis=1), [-0.7, 0.7])]
    model = COLKClassifier(kernel="gaussian", max_atoms=60, risk="cvar", solver=solver)
    model.partial_fit(X[:2000], labels[:2000], classes=["high", "low", "middle"])
    assert model.score(X[2000:], labels[2000:]) > 0.9
    assert set(model.learner_.mixture) == {"mean", "risk", "risk_average", "mean_average"}
