"""The methods on features against exact solutions and their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from colk.kernels import Constant, Gaussian, Laplacian, Linear, RationalQuadratic
from colk.learners import NASA, SCGD, AcceleratedSCGD, DoublySGD, RandomFeatureSGD
from colk.losses import Huber, Squared
from colk.risks import Mean, Variance
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork
from colk.schedules import PolyakRuppert, PowerDecay

SPECTRAL = {
    "gaussian": Gaussian(0.7),
    "rational": RationalQuadratic(0.8, 1.7),
    "sum": 0.5 * Gaussian(0.4) + 2.0 * Laplacian(1.0) + Constant(0.3),
}


def test_a_kernel_without_a_spectrum_is_refused():
    with pytest.raises(TypeError, match="Linear is not one"):
        DoublySGD(Linear())


@pytest.mark.parametrize(
    "transformer",
    [
        Nystroem(gamma=2.0, n_components=20, random_state=0),
        PolynomialFeatures(2),
        SplineTransformer(sparse_output=True),
    ],
)
def test_any_fitted_transformer_gives_features(transformer):
    rng = np.random.default_rng(0)
    X = rng.random((2500, 2))
    y = X[:, 0] - X[:, 1] ** 2
    transformer.fit(X)
    learner = SCGD(transformer, Squared(), step_size=0.2).learn(X, y)
    shown = transformer.transform(X)
    shown = shown.toarray() if hasattr(shown, "toarray") else shown
    assert learner.n_components == shown.shape[1]
    np.testing.assert_allclose(learner.predict(X), shown @ learner.weights, atol=1e-12)
    assert np.abs(learner.predict(X) - y).mean() < 0.1


# -- the methods against exact solutions ---------------------------------------------------------

NETWORK = RBFNetwork(6, 0.4)
LAMBDA = 0.01


def skewed_sample():
    rng = np.random.default_rng(5)
    X = rng.random((300, 1))
    noise = (0.2 + X[:, 0]) * (rng.exponential(size=300) - 1.0)
    return X, np.sin(5.0 * X[:, 0]) + 0.5 * noise


def exact_predictions(X, y, loss, risk):
    F = NETWORK.transform(X)

    def objective(w):
        value, slope = risk.value_and_gradient_at(loss, F @ w, y)
        return value + 0.5 * LAMBDA * w @ w, F.T @ slope + LAMBDA * w

    found = minimize(objective, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-9})
    return F @ found.x


METHODS = {
    "scgd": lambda risk: SCGD(
        NETWORK,
        Huber(0.5),
        risk,
        step_size=PowerDecay(0.5, 0.5, 500.0),
        tracking_rate=PowerDecay(0.5, 0.25, 500.0),
        regularization=LAMBDA,
        gradient_bound=np.inf,
        averaging=PolyakRuppert(growth=3.0),
    ),
    "accelerated": lambda risk: AcceleratedSCGD(
        NETWORK,
        Huber(0.5),
        risk,
        step_size=PowerDecay(0.5, 0.5, 500.0),
        tracking_rate=PowerDecay(0.5, 0.25, 500.0),
        regularization=LAMBDA,
        gradient_bound=np.inf,
        averaging=PolyakRuppert(growth=3.0),
    ),
    "nasa": lambda risk: NASA(
        NETWORK,
        Huber(0.5),
        risk,
        step_size=PowerDecay(0.5, 0.5, 500.0),
        proximity=2.0,
        gradient_gain=2.0,
        tracking_gain=1.0,
        regularization=LAMBDA,
        gradient_bound=np.inf,
        averaging=PolyakRuppert(growth=3.0),
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_convergence_to_the_exact_solutions(name):
    """The mean and the risk-averse solution of the same features are told apart and both found."""
    X, y = skewed_sample()
    order = np.random.default_rng(7).integers(len(X), size=300_000)
    exact = {risk: exact_predictions(X, y, Huber(0.5), risk) for risk in (Mean(), Variance(2.0))}
    apart = np.abs(exact[Mean()] - exact[Variance(2.0)]).max()
    for risk, solution in exact.items():
        learner = METHODS[name](risk).learn(X[order], y[order])
        assert np.abs(learner.predict(X) - solution).max() < 0.2 * apart
    assert apart > 0.05


def test_least_squares_is_the_solution_of_normal_equations():
    X, y = skewed_sample()
    F = NETWORK.transform(X)
    w = np.linalg.solve(F.T @ F * 2.0 / len(X) + LAMBDA * np.eye(6), F.T @ y * 2.0 / len(X))
    order = np.random.default_rng(8).integers(len(X), size=200_000)
    for learner in (
        SCGD(
            NETWORK,
            Squared(),
            step_size=PowerDecay(0.2, 0.5, 500.0),
            regularization=LAMBDA,
            averaging=PolyakRuppert(growth=3.0),
        ),
        NASA(
            NETWORK,
            Squared(),
            step_size=PowerDecay(0.2, 0.5, 500.0),
            regularization=LAMBDA,
            averaging=PolyakRuppert(growth=3.0),
        ),
    ):
        learner.learn(X[order], y[order])
        assert np.abs(learner.predict(X) - F @ w).max() < 0.03


def test_scgd_is_its_definition():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 1)), rng.normal(size=40)
    for method in (SCGD, AcceleratedSCGD):
        learner = method(
            NETWORK,
            Squared(),
            Variance(0.3),
            step_size=0.05,
            tracking_rate=0.2,
            regularization=LAMBDA,
            gradient_bound=np.inf,
        ).learn(X, y)
        w = previous = np.zeros(6)
        g = None
        for theta in range(0, 40, 2):
            a, b = NETWORK.transform(X[theta : theta + 2])
            tracked = w if method is SCGD else previous + (w - previous) / 0.2
            seen = (tracked @ b - y[theta + 1]) ** 2
            g = seen if g is None else 0.8 * g + 0.2 * seen
            loss = (w @ a - y[theta]) ** 2
            m = 2.0 * 0.3 * (loss - g)
            c = (1.0 + m) * 2.0 * (w @ a - y[theta])
            c_xi = -m * 2.0 * (w @ b - y[theta + 1])
            previous, w = w, (1.0 - 0.05 * LAMBDA) * w - 0.05 * (c * a + c_xi * b)
        np.testing.assert_allclose(learner.weights, w, rtol=1e-10)
        np.testing.assert_allclose(learner.inner_estimate, g, rtol=1e-10)


def test_nasa_is_its_definition():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 1)), rng.normal(size=40)
    tau = PowerDecay(0.2, 0.5).at
    learner = NASA(
        NETWORK,
        Squared(),
        Variance(0.3),
        step_size=PowerDecay(0.2, 0.5),
        proximity=2.0,
        gradient_gain=3.0,
        tracking_gain=4.0,
        regularization=LAMBDA,
        gradient_bound=np.inf,
    ).learn(X, y)
    w, z, g = np.zeros(6), np.zeros(6), None
    for k, theta in enumerate(range(0, 40, 2)):
        a, b = NETWORK.transform(X[theta : theta + 2])
        w = w + tau(k) * ((w - z / 2.0) - w)
        seen = (w @ b - y[theta + 1]) ** 2
        if g is None:
            g = seen
        m = 2.0 * 0.3 * ((w @ a - y[theta]) ** 2 - g)
        c = (1.0 + m) * 2.0 * (w @ a - y[theta])
        c_xi = -m * 2.0 * (w @ b - y[theta + 1])
        z = (1.0 - 3.0 * tau(k)) * z + 3.0 * tau(k) * (c * a + c_xi * b + LAMBDA * w)
        if k > 0:
            g = (1.0 - 4.0 * tau(k)) * g + 4.0 * tau(k) * seen
    w = w - tau(20) * z / 2.0  # the learner has already made the move that opens the next step
    np.testing.assert_allclose(learner.weights, w, rtol=1e-10)
    np.testing.assert_allclose(learner.inner_estimate, g, rtol=1e-10)


@pytest.mark.parametrize("name", ["gaussian", "sum", "rational"])
def test_doubly_redraws_the_features_that_it_learned_with(name):
    kernel, step = SPECTRAL[name], PowerDecay(0.1, 1.0, 20.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    learner = DoublySGD(
        kernel, Squared(), step_size=step, regularization=0.1, seed=5, gradient_bound=np.inf
    ).learn(X, y)
    F = RandomFourierFeatures(kernel, 80, seed=5).transform(X) * np.sqrt(80)
    weights = np.zeros(80)
    for t in range(80):
        slope = 2.0 * (F[t, :t] @ weights[:t] - y[t])
        weights[:t] *= 1.0 - step.at(t) * 0.1
        weights[t] = -step.at(t) * slope * F[t, t]
    np.testing.assert_allclose(learner.predict(X), F @ weights, rtol=1e-9, atol=1e-10)
    assert learner.n_components == 80


def test_random_feature_sgd_is_scgd_on_its_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    kernel = Gaussian(0.7)
    first = RandomFeatureSGD(
        kernel,
        Squared(),
        50,
        step_size=0.1,
        regularization=0.01,
        seed=2,
        averaging=None,
    )
    second = SCGD(
        RandomFourierFeatures(kernel, 50, 2), Squared(), step_size=0.1, regularization=0.01
    )
    np.testing.assert_array_equal(first.learn(X, y).predict(X), second.learn(X, y).predict(X))
