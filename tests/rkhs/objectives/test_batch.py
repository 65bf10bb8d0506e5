"""The batch minimiser against closed forms, direct minimisation and duality."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from colk.kernels import Gaussian, Laplacian, Linear
from colk.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    SmoothHinge,
    Softmax,
    Squared,
    SquaredHinge,
)
from colk.risks import (
    Composition,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.rkhs.batch import minimize
from colk.rkhs.objectives import objective

SMOOTH = [
    Mean(),
    Variance(0.1),
    Semivariance(0.3, 0.1),
    Semideviations(3, 0.05),
    MeanSemideviation(2.0, 0.8),
    CVaR(0.2, smoothing=0.1),
    CVaR(0.3, 0.5, 0.05),
    Entropic(0.5),
    Entropic(-0.5),
]


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(6 * X[:, 0]) + 0.3 * rng.standard_t(3, size=n)


def test_kernel_ridge_in_closed_form():
    X, y = data()
    kernel, decay = Laplacian(0.3), 0.01
    solution = minimize(X, y, kernel, Squared(), Mean(), decay)
    # The gradient 2K(Kw − y)/n + λKw is 0.
    weights = np.linalg.solve(kernel.gram(X) + 0.5 * decay * len(X) * np.eye(len(X)), y)
    assert solution.converged
    np.testing.assert_allclose(solution.function.weights, weights, rtol=1e-8)
    assert solution.inner_estimate.shape == (0,)


def test_several_outputs_are_solved_as_one_by_one():
    X, y = data()
    Y = np.column_stack([y, np.cos(3 * X[:, 0]), y**2])
    both = minimize(X, Y, Laplacian(0.3), Huber(0.5), Mean(), 0.01)
    for c in range(3):
        single = minimize(X, Y[:, c], Laplacian(0.3), Huber(0.5), Mean(), 0.01)
        np.testing.assert_allclose(both.function.weights[:, c], single.function.weights, rtol=1e-6)


@pytest.mark.each_value
@pytest.mark.parametrize("risk", SMOOTH, ids=repr)
@pytest.mark.parametrize("loss", [Squared(), LogCosh(0.5), Expectile(0.8)], ids=repr)
def test_smooth_terms_are_solved_to_the_last_digits(loss, risk):
    X, y = data()
    solution = minimize(X, y, Gaussian(0.2), loss, risk, 0.01)
    assert solution.converged
    at_zero = risk.gradient_at(loss, np.zeros(40), y)
    assert solution.gradient_norm < 1e-8 * np.sqrt(at_zero @ Gaussian(0.2).gram(X) @ at_zero)
    found = objective(solution.function, X, y, loss, risk, 0.01)
    assert found.total == pytest.approx(solution.value, rel=1e-9)
    g = risk.estimate_at(loss, solution.function(X), y)
    np.testing.assert_allclose(solution.inner_estimate, g, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("risk", SMOOTH, ids=repr)
def test_no_better_weights_are_found_without_gradients(risk):
    """Nelder and Mead know neither the slopes nor the chain rule."""
    X, y = data(30)
    atoms, decay, loss = X[:2], 0.05, Huber(0.5)
    kernel = Gaussian(0.3)
    solution = minimize(X, y, kernel, loss, risk, decay, atoms=atoms)
    K, gram = kernel.gram(X, atoms), kernel.gram(atoms)

    def total(w):
        return risk.value_at(loss, K @ w, y) + 0.5 * decay * w @ gram @ w

    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000}
    direct = scipy_minimize(total, np.zeros(2), method="Nelder-Mead", options=options)
    assert solution.value == pytest.approx(direct.fun, rel=1e-9)
    np.testing.assert_allclose(solution.function.weights, direct.x, rtol=1e-4, atol=1e-5)


def test_kinks_end_within_the_duality_gap():
    X, y = data(80)
    n, decay, tube = 80, 1e-2, 0.1
    kernel = Gaussian(0.2)
    K = kernel.gram(X)
    solution = minimize(X, y, kernel, EpsilonInsensitive(tube), Mean(), decay)

    def dual(z):
        a = z[:n] - z[n:]
        slope = K @ a - y
        return 0.5 * a @ K @ a - a @ y + tube * z.sum(), np.concatenate([slope, -slope]) + tube

    bounds = [(0.0, 1.0 / (n * decay))] * (2 * n)
    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12}
    found = scipy_minimize(
        dual, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    bound = -decay * found.fun  # no function does better
    assert bound <= solution.value <= bound * (1 + 1e-4)
    assert solution.converged


def test_exact_cvar_is_near_its_smooth_relative():
    X, y = data()
    exact = minimize(X, y, Gaussian(0.2), Squared(), CVaR(0.2), 0.01)
    smooth = minimize(X, y, Gaussian(0.2), Squared(), CVaR(0.2, smoothing=1e-3), 0.01)
    assert exact.converged
    assert exact.value <= CVaR(0.2).value_at(
        Squared(), smooth.function(X), y
    ) + 0.005 * smooth.function.norm() ** 2 * (1 + 1e-9)
    assert exact.value == pytest.approx(smooth.value, rel=0.01)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), SmoothHinge(0.5)], ids=repr)
def test_two_classes(loss):
    X, y = data()
    signs = np.where(y > 0, 1.0, -1.0)
    solution = minimize(X, signs, Gaussian(0.3), loss, CVaR(0.5, 0.5, 0.1), 0.01)
    assert solution.converged
    assert (np.sign(solution.function(X)) == signs).mean() > 0.8
    assert minimize(X, signs, Gaussian(0.3), Hinge(), Mean(), 0.01).converged


def test_softmax_of_two_classes_is_logistic():
    X, y = data()
    labels = (y > 0).astype(int)
    two = minimize(X, labels, Gaussian(0.3), Softmax(), Entropic(0.5), 0.02)
    # Scores (−f/2, f/2) halve the squared norm: ‖f/2‖² + ‖f/2‖² = ‖f‖²/2.
    one = minimize(X, 2 * labels - 1, Gaussian(0.3), Logistic(), Entropic(0.5), 0.01)
    scores = two.function(X)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], one.function(X), rtol=1e-6, atol=1e-8)
    three = minimize(X, labels, Gaussian(0.3), Softmax(), Mean(), 0.02, n_outputs=3)
    assert three.function.n_outputs == 3


def test_weights_count_samples():
    X, y = data(20)
    counts = np.random.default_rng(1).integers(0, 3, size=20)
    repeated = np.repeat(np.arange(20), counts)
    kernel, risk = Gaussian(0.3), MeanSemideviation(2.0, 0.5)
    weighted = minimize(X, y, kernel, Squared(), risk, 0.01, sample_weight=counts)
    plain = minimize(X[repeated], y[repeated], kernel, Squared(), risk, 0.01)
    assert weighted.value == pytest.approx(plain.value, rel=1e-9)
    assert weighted.function.distance(plain.function) < 1e-4


def test_atoms_restrict_and_all_of_them_do_not():
    X, y = data()
    arguments = (X, y, Gaussian(0.2), Squared(), Variance(0.2), 0.01)
    full = minimize(*arguments)
    same = minimize(*arguments, atoms=X[::-1])
    few = minimize(*arguments, atoms=X[:3])
    assert same.value == pytest.approx(full.value, rel=1e-9)
    assert few.value > full.value
    assert few.function.n_atoms == 3


def test_many_samples_on_few_atoms():
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(3000, 1))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=3000)
    atoms = np.linspace(0.0, 1.0, 30)[:, None]
    risk = CVaR(0.1, smoothing=0.05)
    solution = minimize(X, y, Gaussian(0.1), Huber(1.0), risk, 1e-4, atoms=atoms)
    assert solution.converged
    assert np.mean((solution.function(X) - np.sin(6 * X[:, 0])) ** 2) < 5e-3


def bias(f, y):
    return f[0] - y[0]


def bias_slope(f, y):
    return 1.0


def squared_and_bias(f, y, g):
    return (f[0] - y[0]) ** 2 + 10.0 * g[0] ** 2


def by_prediction(f, y, g):
    return 2.0 * (f[0] - y[0])


def by_inner(f, y, g):
    return 20.0 * g[0]


def test_a_composition_in_closed_form():
    X, y = data()
    n, decay, kernel = 40, 0.05, Laplacian(0.3)
    risk = Composition(bias, bias_slope, squared_and_bias, by_prediction, by_inner)
    solution = minimize(X, y, kernel, Squared(), risk, decay)
    assert solution.converged
    # (2/n)(r + 10·1·mean r) + λw = 0 with r = Kw − y.
    mixing = (2 / n) * (np.eye(n) + 10.0 * np.ones((n, n)) / n)
    weights = np.linalg.solve(mixing @ kernel.gram(X) + decay * np.eye(n), mixing @ y)
    np.testing.assert_allclose(solution.function.weights, weights, rtol=1e-6, atol=1e-7)
    residual = solution.function(X) - y
    assert solution.inner_estimate[0] == pytest.approx(residual.mean(), rel=1e-6)


def test_a_singular_gram_matrix_is_no_obstacle():
    X, y = data()
    twice = np.concatenate([X, X])
    solution = minimize(twice, np.concatenate([y, y]), Linear(), Squared(), Mean(), 0.1)
    slope = 2 * (X[:, 0] @ y) / (2 * (X[:, 0] @ X[:, 0]) + 0.1 * 40)
    assert solution.converged
    assert solution.function([[1.0]])[0] == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"regularization": 0.0}, "regularization must be finite and greater than 0"),
        ({"n_outputs": 2}, "n_outputs is 2, the targets have 1 outputs"),
        ({"atoms": [[1.0, 2.0]]}, "atoms has 2 features, expected 1"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"tolerance": 0.0}, "tolerance must be"),
    ],
)
def test_bad_input_meets_one_clear_error(settings, message):
    X, y = data(5)
    with pytest.raises(ValueError, match=message):
        minimize(X, y, Gaussian(0.3), Squared(), **settings)


def test_too_few_iterations_are_reported():
    X, y = data()
    solution = minimize(X, y, Gaussian(0.1), EpsilonInsensitive(), Mean(), 1e-4, max_iterations=2)
    assert not solution.converged
