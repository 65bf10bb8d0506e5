"""The polish against closed forms, other solvers and its own certificate."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import LinearSVC, LinearSVR

from colk.kernels import Gaussian, Laplacian, Linear
from colk.losses import (
    CustomLoss,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Pinball,
    Quantiles,
    Softmax,
    Squared,
)
from colk.risks import (
    CentralMoments,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semivariance,
    Variance,
)
from colk.rkhs.batch import minimize
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish, predict_left_out, span
from colk.rkhs.polishing.row_losses import RowLosses

RISKS = [
    Mean(),
    Variance(0.1),
    Semivariance(0.3),
    CentralMoments(4, 0.05),
    MeanSemideviation(2.0, 0.5),
    Entropic(0.5),
    CVaR(0.2),
]
LOSSES = [
    Squared(),
    Huber(0.5),
    Pinball(0.8),
    EpsilonInsensitive(0.1),
    Logistic(),
    Hinge(),
    Softmax(),
]
DECAY = 1e-3


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(3, size=n)


def targets(loss, y):
    if loss.kind == "binary":
        return np.where(y > 0.0, 1.0, -1.0)
    return np.digitize(y, [-0.5, 0.5]).astype(float) if loss.kind == "multiclass" else y


def zero(X, loss, n_atoms=15, kernel=None):
    shape = (n_atoms, 3) if loss.kind == "multiclass" else n_atoms
    return KernelExpansion(kernel or Gaussian(1.0), X[:n_atoms], np.zeros(shape))


@pytest.mark.each_value
@pytest.mark.parametrize("risk", RISKS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_polished_function_is_stationary(loss, risk):
    """No random direction leads below it, on the exact objective."""
    X, y = data()
    y = targets(loss, y)
    found = polish(zero(X, loss), X, y, loss, risk, DECAY, tolerance=1e-4, max_steps=200)
    f = found.function
    assert found.converged
    assert found.value <= found.value_before

    def objective(g):
        return risk.value_at(loss, g(X), y) + 0.5 * DECAY * g.norm() ** 2

    assert objective(f) == pytest.approx(found.value, rel=1e-6)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1):
        for _ in range(10):
            other = KernelExpansion(f.kernel, f.atoms, rng.normal(size=f.weights.shape))
            moved = f + size / other.norm() * other
            assert objective(moved) >= found.value * (1.0 - 2e-4)
    if np.isfinite(found.gap):
        assert found.gap <= 1e-3 * found.value


def test_ridge_in_closed_form_with_weights_and_several_outputs():
    X, y = data()
    Y = np.column_stack([y, y**2])
    weight = np.random.default_rng(2).integers(0, 4, size=len(X)).astype(float)
    f = KernelExpansion(Laplacian(1.0), X[:20], np.zeros((20, 2)))
    found = polish(f, X, Y, Squared(), regularization=DECAY, sample_weight=weight)
    K, D = f.kernel.gram(X, f.atoms), np.diag(weight / weight.sum())
    A = 2.0 * K.T @ D @ K + DECAY * f.kernel.gram(f.atoms)
    np.testing.assert_allclose(
        found.function.weights, np.linalg.solve(A, 2.0 * K.T @ D @ Y), rtol=1e-6, atol=1e-8
    )
    assert found.converged


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_hinge_and_tube_reach_the_optimum_of_liblinear(C):
    X, y = data(120)
    sign, n = targets(Hinge(), y), 120
    machine = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=10**6)
    w = machine.fit(X, sign).coef_[0]
    value = np.maximum(1.0 - sign * (X @ w), 0.0).mean() + w @ w / (2.0 * C * n)
    ours = minimize(X, sign, Linear(), Hinge(), Mean(), 1.0 / (C * n))
    assert ours.value == pytest.approx(value, rel=1e-4)
    regression = LinearSVR(epsilon=0.1, C=C, fit_intercept=False, tol=1e-8, max_iter=10**6)
    w = regression.fit(X, y).coef_
    value = np.maximum(np.abs(y - X @ w) - 0.1, 0.0).mean() + w @ w / (2.0 * C * n)
    tube = minimize(X, y, Linear(), EpsilonInsensitive(0.1), Mean(), 1.0 / (C * n))
    assert tube.value == pytest.approx(value, rel=1e-4)
    for solution in (ours, tube):
        assert solution.converged
        assert solution.gap <= 1e-5 * solution.value


def test_quantiles_equal_a_linear_programme():
    """With λ next to nothing, the pinball loss is least where a linear programme finds it."""
    X, y = data(80)
    f = KernelExpansion(Gaussian(1.0), X[:5], np.zeros(5))
    K, level = f.kernel.gram(X, f.atoms), 0.8
    cost = np.concatenate([np.zeros(5), np.full(80, level), np.full(80, 1.0 - level)]) / 80
    equal = np.hstack([K, np.eye(80), -np.eye(80)])
    bounds = [(None, None)] * 5 + [(0.0, None)] * 160
    least = linprog(cost, A_eq=equal, b_eq=y, bounds=bounds).fun
    found = polish(f, X, y, Pinball(level), regularization=1e-9, tolerance=1e-6)
    assert found.value == pytest.approx(least, rel=1e-5)
    several = polish(
        KernelExpansion(f.kernel, f.atoms, np.zeros((5, 2))),
        X,
        y,
        Quantiles((0.2, level)),
        regularization=1e-9,
        tolerance=1e-6,
    )
    np.testing.assert_allclose(several.function(X)[:, 1], found.function(X), atol=1e-2)


def bent(f, y):
    return abs(f - y) + 0.5 * (f - y) ** 2


def bent_slope(f, y):
    return (f > y) - (f < y) + (f - y)


@pytest.mark.slow
def test_a_users_loss_with_a_kink_and_curvature():
    X, y = data()
    loss = CustomLoss(bent, bent_slope, is_convex=True, kinks=(0.0,))
    found = polish(zero(X, loss), X, y, loss, regularization=DECAY, max_steps=300)
    assert found.converged
    # Between its own bound and itself lies the optimum: nothing near is below.
    f, rng = found.function, np.random.default_rng(1)
    for _ in range(20):
        moved = f + KernelExpansion(f.kernel, f.atoms, 1e-2 * rng.normal(size=f.n_atoms))
        value = loss.value(moved(X), y).mean() + 0.5 * DECAY * moved.norm() ** 2
        assert value >= found.value - found.gap


def test_the_objective_never_rises():
    X, y = data()
    best = polish(zero(X, Squared()), X, y, Huber(0.5), CVaR(0.2), DECAY, tolerance=1e-6)
    again = polish(best.function, X, y, Huber(0.5), CVaR(0.2), DECAY, max_steps=1)
    assert again.value <= best.value * (1.0 + 1e-12)


def test_rows_that_are_not_kept_change_nothing(monkeypatch):
    X, y = data()
    kept = polish(zero(X, Huber()), X, y, Huber(), Variance(0.1), DECAY)
    monkeypatch.setattr(span, "_KEPT", 0)
    monkeypatch.setattr(span, "_BLOCK", 64)
    formed_anew = polish(zero(X, Huber()), X, y, Huber(), Variance(0.1), DECAY)
    np.testing.assert_allclose(formed_anew.function(X), kept.function(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic()], ids=repr)
def test_samples_left_out_one_by_one(loss):
    X, y = data(60)
    y = targets(loss, y)
    f = polish(zero(X, loss), X, y, loss, regularization=DECAY, tolerance=1e-9).function
    quick = predict_left_out(f, X, y, loss, DECAY)
    slow = np.empty(60)
    for i in range(60):
        others = np.arange(60) != i
        decay = DECAY * 60 / 59  # what one sample weighs stays the same
        without = polish(f, X[others], y[others], loss, regularization=decay, tolerance=1e-9)
        slow[i] = without.function(X[i : i + 1])[0]
    moved = np.abs(slow - f(X)).max()
    tolerance = 1e-6 if loss == Squared() else 0.15
    assert np.abs(quick - slow).max() <= tolerance * moved


def test_noise_is_regularised_more_than_a_signal():
    X, y = data(300)
    noise = np.random.default_rng(3).normal(size=300)
    chosen = [
        polish(zero(X, Squared(), 100), X, values, Squared(), choose=True)
        for values in (np.sin(2 * X[:, 0]), noise)
    ]
    assert chosen[1].regularization > 100.0 * chosen[0].regularization
    floor = polish(zero(X, Squared(), 100), X, y, Squared(), regularization=0.1, choose=True)
    assert floor.regularization >= 0.1


@pytest.mark.parametrize("loss", [Huber(0.5), Logistic(), Softmax()], ids=repr)
def test_what_few_samples_chose_is_solved_on_all(loss):
    """λ and its factor come from a part of the samples; the optimum is that of all of them."""
    X, y = data(1500)
    y = targets(loss, y)
    found = polish(zero(X, loss, 60), X, y, loss, choose=True, tolerance=1e-6)
    anew = polish(zero(X, loss, 60), X, y, loss, None, found.regularization, tolerance=1e-6)
    assert found.converged
    assert found.value == pytest.approx(anew.value, rel=1e-8)
    np.testing.assert_allclose(found.function(X), anew.function(X), atol=1e-2)


def test_a_loss_in_other_units_is_the_same_problem():
    X, y = data(300)

    def polished(factor):
        loss = CustomLoss(
            lambda f, t: factor * (f - t) ** 2, lambda f, t: 2.0 * factor * (f - t), is_convex=True
        )
        found = polish(zero(X, loss, 50), X, y, loss, regularization=1e-12, choose=True)
        return found.function(X)

    np.testing.assert_allclose(polished(1e3), polished(1e-3), rtol=1e-4, atol=1e-5)


def test_bad_input_meets_one_clear_error():
    X, y = data(20)
    f = zero(X, Squared(), 5)
    with pytest.raises(ValueError, match="regularization must be"):
        polish(f, X, y, Squared(), regularization=0.0)
    with pytest.raises(ValueError, match="max_steps must be at least 1"):
        polish(f, X, y, Squared(), max_steps=0)
    with pytest.raises(ValueError, match="X has 1 features, expected 2"):
        polish(f, X[:, :1], y, Squared())
    nothing = polish(KernelExpansion.zero(Gaussian(1.0), 2), X, y, Squared())
    assert nothing.function.n_atoms == 0
    assert not nothing.converged


@pytest.mark.parametrize("loss", [Hinge(), Pinball(0.3), EpsilonInsensitive(0.5)], ids=repr)
def test_rounded_slopes_are_derivatives_on_kinks_too(loss):
    y = targets(loss, np.array([0.7, -0.4, 0.2, 0.9]))
    losses = RowLosses(loss, y, 1, width=0.3)
    F = np.stack([losses.kinks[0][0], losses.kinks[-1][1], y[2:3] + 0.1, y[3:] - 2.0])
    rise = (losses.values(F + 1e-6) - losses.values(F - 1e-6)) / 2e-6
    np.testing.assert_allclose(losses.slopes(F)[:, 0], rise, atol=1e-7)


def test_the_second_derivative_of_softmax_is_that_of_its_slopes():
    rng = np.random.default_rng(3)
    F, y, change = rng.normal(size=(20, 4)), rng.integers(4, size=20), rng.normal(size=(20, 4))
    losses, h = RowLosses(Softmax(), y.astype(float), 4), 1e-5
    slopes = losses.slopes(F)
    difference = losses.slopes(F + h * change) - losses.slopes(F - h * change)
    found = losses.product(F, slopes, change)
    np.testing.assert_allclose(found, difference / (2.0 * h), atol=1e-9)
    single = h * np.eye(4)
    diagonal = np.stack(
        [(losses.slopes(F + e) - losses.slopes(F - e))[:, c] for c, e in enumerate(single)],
        axis=1,
    )
    found = losses.curvature(F, slopes, shared=False)
    np.testing.assert_allclose(found, diagonal / (2.0 * h), atol=1e-9)
