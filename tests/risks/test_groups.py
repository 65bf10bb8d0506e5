"""The risk of groups: its value, the minimum by another solver, and the fit of a rare group."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import colk
from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.losses import Logistic, Squared
from colk.risks import GroupRisk
from colk.rkhs import KernelExpansion, polish
from colk.rkhs.polishing import polish_groups
from colk.tabular import TableModel


def draw(seed, n=1000):
    """A rare group whose targets depend on a feature that the others ignore."""
    rng = np.random.default_rng(seed)
    groups = np.where(rng.random(n) < 0.08, "rare", "rest")
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    y = np.sin(2.0 * X[:, 0]) + np.where(groups == "rare", X[:, 1], 0.0)
    return X, y + 0.2 * rng.normal(size=n), groups


def means_of(losses, groups, weight):
    labels = sorted(set(groups))
    return [np.average(losses[groups == g], weights=weight[groups == g]) for g in labels]


@pytest.mark.parametrize("seed", range(3))
def test_value_is_the_mean_of_the_worst_groups(seed):
    rng = np.random.default_rng(seed)
    losses, groups, weight = rng.normal(size=60), rng.integers(6, size=60), rng.uniform(size=60)
    means = means_of(losses, groups, weight)
    assert GroupRisk().value(losses, groups, weight) == pytest.approx(max(means))
    halves = [np.mean(some) for some in combinations(means, 3)]
    assert GroupRisk(0.5).value(losses, groups, weight) == pytest.approx(max(halves))
    assert GroupRisk(1.0).value(losses, groups, weight) == pytest.approx(np.mean(means))


@pytest.mark.parametrize("tail_fraction", [0.0, 0.4, 1.0])
def test_gradient_is_that_of_the_value(tail_fraction):
    rng = np.random.default_rng(4)
    losses, groups, weight = rng.normal(size=30), rng.integers(4, size=30), rng.uniform(size=30)
    risk, h = GroupRisk(tail_fraction), 1e-6
    up = [risk.value(losses + e, groups, weight) for e in h * np.eye(30)]
    down = [risk.value(losses - e, groups, weight) for e in h * np.eye(30)]
    slopes = (np.array(up) - down) / (2 * h)
    np.testing.assert_allclose(risk.gradient(losses, groups, weight), slopes, atol=1e-8)


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
@pytest.mark.parametrize("tail_fraction", [0.0, 0.7])
def test_minimum_equals_that_of_an_independent_solver(loss, tail_fraction):
    """The worst share as a linear programme over the groups: t + Σ (L_g − t)₊/(αG)."""
    X, y, _ = draw(5, 120)
    y = np.sign(y) if isinstance(loss, Logistic) else y
    groups = np.random.default_rng(5).integers(3, size=120)
    y[groups == 2] *= -1.0
    kernel, atoms, decay = Gaussian(1.0), X[:8], 1e-2
    f = KernelExpansion(kernel, atoms, np.zeros(8))
    risk = GroupRisk(tail_fraction)
    mean = polish(f, X, y, loss, regularization=decay)
    found = polish_groups(mean, X, y, loss, risk, groups, tolerance=1e-6)
    table, gram = kernel.gram(X, atoms), kernel.gram(atoms)
    share = max(3 * tail_fraction, 1.0)

    def objective(v):
        return v[8] + v[9:].sum() / share + 0.5 * decay * v[:8] @ gram @ v[:8]

    def slack(v):
        losses = loss.value(table @ v[:8], y)
        return v[9:] + v[8] - means_of(losses, groups, np.ones(120))

    best = minimize(
        objective,
        np.concatenate([mean.function.weights, [0.0], np.ones(3)]),
        method="SLSQP",
        bounds=[(None, None)] * 9 + [(0.0, None)] * 3,
        constraints={"type": "ineq", "fun": slack},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert best.success
    assert found.converged
    assert found.value == pytest.approx(best.fun, rel=1e-5)
    assert found.value < found.value_before
    assert found.value - found.gap <= best.fun * (1.0 + 1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("n_seeds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_worst_group_gains_on_new_samples(n_seeds):
    ratios = []
    for seed in range(n_seeds):
        X, y, groups = draw(seed)
        new, targets, new_groups = draw(100 + seed)
        models = (
            COLKRegressor(loss="squared", random_state=0).fit(X, y),
            COLKRegressor(loss="squared", risk="group", random_state=0).fit(X, y, groups=groups),
        )
        worst = [GroupRisk().value((m.predict(new) - targets) ** 2, new_groups) for m in models]
        ratios.append(worst[1] / worst[0])
    assert max(ratios) < 1.0
    assert np.mean(ratios) < 0.7


@pytest.mark.compiled
def test_classifier_takes_groups():
    X, y, groups = draw(3)
    labels = y > 0.0
    mean = COLKClassifier(random_state=0).fit(X, labels)
    fair = COLKClassifier(random_state=0, risk="group").fit(X, labels, groups=groups)

    def worst(model):
        losses = Logistic().value(model.decision_function(X), np.where(labels, 1.0, -1.0))
        return GroupRisk().value(losses, groups)

    assert worst(fair) < 0.8 * worst(mean)


@pytest.mark.compiled
def test_fitted_model_is_saved(tmp_path):
    X, y, groups = draw(0, 300)
    model = COLKRegressor(risk=GroupRisk(0.5), random_state=0).fit(X, y, groups=groups)
    colk.save(model, tmp_path / "model.colk")
    again = colk.load(tmp_path / "model.colk")
    assert again.risk_ == GroupRisk(0.5)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_groups_are_needed_and_checked():
    X, y, groups = draw(0, 100)
    model = COLKRegressor(risk="group")
    with pytest.raises(ValueError, match="needs the groups"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="needs the groups"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y, groups=groups[:-1])
    with pytest.raises(ValueError, match="needs the groups"):
        COLKRegressor(risk="group", polish=False).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="for the risk"):
        COLKRegressor().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"takes a risk of losses.*fit\(X, y, groups"):
        TableModel("y", ["a", "b"], risk="group")
    with pytest.raises(ValueError, match=r"takes a risk of losses.*COLKClassifier\(risk='auc'"):
        TableModel("y", ["a", "b"], risk="auc")


@pytest.mark.compiled
def test_fitted_model_does_not_go_on_under_the_mean():
    X, y, groups = draw(0, 200)
    model = COLKRegressor(risk="group").fit(X, y, groups=groups)
    before = model.predict(X)
    with pytest.raises(ValueError, match="needs the groups"):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)
