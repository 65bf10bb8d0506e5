"""The second-order step is generalized Gauss–Newton, and for the squared loss least squares."""

import numpy as np
import pytest
from gauss_newton import extended
from newton_steps import KERNEL, POINTS, ROUGH, assert_same, make_oracle, move, stream

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Linear
from colk.learners import NewtonCOLK
from colk.losses import LOSSES, CustomLoss, Huber, Softmax, Squared
from colk.risks import (
    CentralMoments,
    Composition,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)

QUARTIC = CustomLoss(lambda f, y: (f - y) ** 4, lambda f, y: 4.0 * (f - y) ** 3)
RISKS = [
    Mean(),
    Variance(0.1),
    CentralMoments(4, 0.1),
    Semivariance(0.1, smoothing=0.05),
    Semideviations(),
    MeanSemideviation(),
    CVaR(0.2, 0.7),
    CVaR(0.3, smoothing=0.1),
    Entropic(0.3),
    Entropic(-0.5),
    CustomRisk(
        inner=lambda loss: (loss, loss**2),
        inner_slope=lambda loss: (1.0, 2.0 * loss),
        outer=lambda loss, g: loss + 0.1 * (g[1] - g[0] ** 2),
        outer_slope_loss=lambda loss, g: 1.0,
        outer_slope_inner=lambda loss, g: (-0.2 * g[0], 0.1),
        n_inner=2,
    ),
    Composition(
        inner=lambda f, y: f[0] - y[0],
        inner_slope=lambda f, y: 1.0,
        outer=lambda f, y, g: (f[0] - y[0]) ** 2 + g[0] ** 2,
        outer_slope_prediction=lambda f, y, g: 2.0 * (f[0] - y[0]),
        outer_slope_inner=lambda f, y, g: 2.0 * g[0],
    ),
]
NAMES = [type(risk).__name__ + f"-{i}" for i, risk in enumerate(RISKS)]
PAIRINGS = ["independent", "overlap", "same"]


def assert_gauss_newton(
    loss, risk, pairing="same", batch_size=1, n_outputs=1, weight=None, n=30,
    tracker="momentum", kernel=ROUGH, noise=0.1, outlier=1.0, **settings,
):  # fmt: skip
    """Feed a learner that compresses nothing, and the dense oracle; compare them at every step."""
    X, Y = stream(n, loss, n_outputs, noise=noise)
    Y[15] *= outlier
    settings = {"prior": 0.5, "tracking_rate": 0.1} | settings
    learner = NewtonCOLK(
        kernel, loss, risk, compressor=KOMP(eps=0.0), pairing=pairing, batch_size=batch_size,
        n_outputs=n_outputs, tracker=tracker, **settings,
    )  # fmt: skip
    oracle = make_oracle(learner)
    for sample in zip(X, Y, np.ones(n) if weight is None else weight, strict=True):
        x, y, w = (np.array([part]) for part in sample)
        learner.learn(x, y, w)
        oracle.learn(x, y, oracle.pairing, batch_size, w)
        if oracle.last is not None:
            move(oracle, learner.last_function.atoms)
            assert_same(learner, oracle, oracle.state)
    assert learner.steps == oracle.steps > 5
    assert learner.n_atoms > 5
    return learner


@pytest.mark.each_value
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_steps_are_gauss_newton_under_a_risk(risk, pairing):
    assert_gauss_newton(Huber(0.3), risk, pairing)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_a_step_that_raises_a_loss_has_its_curvature(pairing):
    """The outer slope 1 + 2η(ℓ − g) is negative if a loss is far below the mean."""
    assert_gauss_newton(Huber(0.3), Variance(5.0), pairing)


@pytest.mark.each_value
@pytest.mark.parametrize("pairing", ["same", "overlap"])
@pytest.mark.parametrize("name", [*LOSSES, "quartic"])
def test_steps_are_gauss_newton_for_a_loss(name, pairing):
    loss = QUARTIC if name == "quartic" else LOSSES[name]()
    n_outputs = 3 if isinstance(loss, Softmax) else 1
    risk = Mean() if pairing == "same" else Variance(0.1)
    assert_gauss_newton(loss, risk, pairing, n_outputs=n_outputs)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.3)], ids=repr)
def test_steps_are_gauss_newton_for_several_outputs(loss):
    assert_gauss_newton(loss, Variance(0.1), "overlap", n_outputs=2)


WEIGHTS = np.random.default_rng(1).uniform(0.0, 3.0, 60) * (np.arange(60) % 7 > 0)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("settings", [{}, {"forgetting": 0.8}, {"forgetting": "auto"}], ids=str)
def test_batches_of_weighted_samples_are_gauss_newton(pairing, settings):
    assert_gauss_newton(
        Huber(0.3), Variance(0.1), pairing, 3, weight=WEIGHTS, n=60, n_outputs=2, **settings
    )


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_batches_of_a_composition_are_gauss_newton(pairing):
    assert_gauss_newton(Huber(0.3), RISKS[-1], pairing, 2)


@pytest.mark.parametrize("tracker", ["momentum", "average"])
def test_g_follows_its_tracker(tracker):
    assert_gauss_newton(Squared(), Variance(0.1), "overlap", tracker=tracker, tracking_rate=0.4)


@pytest.mark.parametrize("forgetting", [0.9, "auto"])
def test_steps_are_gauss_newton_for_a_kernel_of_another_height(forgetting):
    assert_gauss_newton(Huber(0.3), Mean(), kernel=2.5 * ROUGH, forgetting=forgetting)


def test_noise_is_the_mean_of_residuals_of_an_exact_f():
    """A squared residual before the step exceeds the noise by 1 + bτ; later samples weigh more."""
    X, Y = stream(30, Squared())
    learner = NewtonCOLK(ROUGH, compressor=KOMP(eps=0.0), prior=0.5)
    oracle, noise = make_oracle(learner), 0.0
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        wide = extended(ROUGH, oracle.state, x, oracle.prior)
        k = ROUGH.gram(wide.atoms, x[None])[:, 0]
        gain = 1.0 / (1.0 + 2.0 * k @ np.linalg.solve(wide.precision, k))
        residual = oracle.state.values(ROUGH, x[None])[0, 0, 0] - y[0]
        noise += 4.0 / (t + 4.0) * (residual**2 * gain - noise)
        learner.learn(x[None], y[None])
        oracle.learn(x[None], y[None], oracle.pairing)
        move(oracle, learner.last_function.atoms)
        assert learner.stream.pack()["noise"] == pytest.approx([noise], rel=1e-7)


def test_the_mean_step_of_a_batch_is_that_of_its_samples():
    """A batch of three is three steps with a third of the weight, also in the mean step."""
    X, Y = stream(12, Squared())
    batches, singles = (
        NewtonCOLK(ROUGH, compressor=KOMP(fraction=1e-9), prior=0.5, batch_size=size)
        for size in (3, 1)
    )
    mean, before = 0.0, 0.0
    for t in range(4):
        for k in range(3 * t, 3 * t + 3):
            singles.learn(X[k : k + 1], Y[k : k + 1], [1.0 / 3.0])
            now = singles.step_length**2
            square = before + (k + 1) * (now - before)  # the mean of k + 1 steps, undone
            mean, before = mean + (square - mean) / (3 * (t + 1)), now
        batches.learn(X[3 * t : 3 * t + 3], Y[3 * t : 3 * t + 3])
        assert batches.step_length**2 == pytest.approx(mean, rel=1e-9)


def test_trust_bounds_how_far_a_sample_moves_its_prediction():
    """b is at least |a|/reach, also where the loss is flat."""
    assert_gauss_newton(Huber(0.3), Mean(), trust=0.02)


@pytest.mark.parametrize("prior", [0.5, 20.0])
@pytest.mark.parametrize("forgetting", [0.6, 0.9, 0.99])
def test_forgetting_raises_the_variance_at_the_sample_alone(forgetting, prior):
    """Directional forgetting: by 1/γ there, less for a flat sample, and never above the prior's.

    A prior of 20 samples is reached at once, one of 0.5 is not.
    """
    smooth = Laplacian(3.0)
    assert_gauss_newton(Huber(0.3), Mean(), forgetting=forgetting, kernel=smooth, n=60, prior=prior)


@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_it_forgets_under_a_risk(risk):
    assert_gauss_newton(Huber(0.3), risk, "same", forgetting=0.6)


@pytest.mark.each_value
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_experts_have_the_weights_of_fixed_share_under_a_risk(risk, pairing):
    assert_gauss_newton(Huber(0.3), risk, pairing, forgetting="auto")


@pytest.mark.parametrize("name", [*LOSSES, "quartic"])
def test_experts_have_the_weights_of_fixed_share_for_a_loss(name):
    loss = QUARTIC if name == "quartic" else LOSSES[name]()
    n_outputs = 3 if isinstance(loss, Softmax) else 1
    assert_gauss_newton(loss, Variance(0.1), "overlap", n_outputs=n_outputs, forgetting="auto")


def test_an_expert_loses_at_most_ten_mean_losses_at_a_sample():
    learner = assert_gauss_newton(Squared(), Mean(), forgetting="auto", outlier=50.0)
    assert min(learner.experts.values()) > 0.01


def ridge(K, K_points, y, penalty):
    return K_points @ np.linalg.solve(K + penalty * np.eye(len(K)), y)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_without_compression_it_is_kernel_ridge_regression(batch_size):
    """Σ (f − y)² + λ/2‖f‖², each sample of a batch by its share."""
    X, Y = stream(40, Squared())
    kernel = Gaussian(0.02)
    learner = NewtonCOLK(
        kernel, compressor=KOMP(eps=0.0), prior=0.6, batch_size=batch_size
    ).learn(X, Y)  # fmt: skip
    expected = ridge(kernel.gram(X), kernel(POINTS, X), Y, 0.3 * batch_size)
    assert learner.n_atoms == 40
    np.testing.assert_allclose(learner.predict(POINTS), expected, atol=1e-10)


@pytest.mark.parametrize("batch_size", [4, 8])
def test_points_of_a_batch_that_are_looked_at_together_see_each_other(batch_size):
    """From 128 atoms on, z of a whole batch is computed at once, and again if a sample enters."""
    X = np.random.default_rng(0).random((200, 3))
    y, K = np.sin(6.0 * X).sum(axis=1), Laplacian(1.0).gram(X)
    learner = NewtonCOLK(
        Laplacian(1.0), compressor=KOMP(eps=0.0), prior=0.6, batch_size=batch_size
    ).learn(X, y)  # fmt: skip
    assert learner.n_atoms == 200
    expected = ridge(K, K, y, 0.3 * batch_size)
    np.testing.assert_allclose(learner.predict(X), expected, atol=1e-10)


def test_weights_of_samples_are_those_of_ridge_regression():
    X, Y = stream(40, Squared())
    kernel, weight = Gaussian(0.02), np.random.default_rng(2).uniform(0.1, 3.0, 40)
    learner = NewtonCOLK(kernel, compressor=KOMP(eps=0.0), prior=0.6)
    expected = kernel(POINTS, X) @ np.linalg.solve(kernel.gram(X) + np.diag(0.3 / weight), Y)
    found = learner.learn(X, Y, weight).predict(POINTS)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_in_the_span_it_is_recursive_least_squares():
    """A linear kernel's span is full after p points: ridge regression on the features."""
    rng = np.random.default_rng(3)
    X, truth = rng.normal(size=(3000, 5)), rng.normal(size=5)
    y = X @ truth + 0.3 * rng.normal(size=3000)
    learner = NewtonCOLK(Linear(), compressor=KOMP(eps=0.0), prior=2.0).learn(X, y)
    expected = np.linalg.solve(X.T @ X + np.eye(5), X.T @ y)
    assert learner.n_atoms == 5
    np.testing.assert_allclose(learner.predict(np.eye(5)), expected, atol=1e-10)


def test_on_a_dictionary_that_stands_it_is_recursive_least_squares():
    """Once no atom enters, each step is least squares in their span."""
    X, Y = stream(4000, Squared(), seed=4)
    learner = NewtonCOLK(KERNEL, compressor=KOMP(eps=1e-3), prior=0.5).learn(X[:2000], Y[:2000])
    atoms, w = learner.function.atoms, learner.function.weights
    U = np.linalg.inv(np.linalg.cholesky(KERNEL.gram(atoms))).T
    Z = KERNEL(X[2000:], atoms) @ U
    P, theta = learner.covariance, np.linalg.solve(U, w)
    for z, y in zip(Z, Y[2000:], strict=True):
        h = P @ z
        theta = theta - 2.0 * (theta[:, 0] @ z - y) / (1.0 + 2.0 * z @ h) * h[:, None]
        P = P - 2.0 / (1.0 + 2.0 * z @ h) * np.outer(h, h)
    learner.learn(X[2000:], Y[2000:])
    np.testing.assert_array_equal(learner.function.atoms, atoms)
    np.testing.assert_allclose(learner.covariance, P, atol=1e-8 * np.abs(P).max(initial=0.0))
    np.testing.assert_allclose(
        learner.predict(POINTS), KERNEL(POINTS, atoms) @ U @ theta, atol=1e-8
    )
