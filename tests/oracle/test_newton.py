"""The second-order step equals its twin, recursive least squares, and kernel ridge regression."""

from types import SimpleNamespace

import numpy as np
import pytest

from colk import reference
from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Linear
from colk.learners import NewtonCOLK
from colk.losses import LOSSES, CustomLoss, Huber, Softmax, Squared
from colk.losses.scale import loss_scale
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

KERNEL = Gaussian(0.2)
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
POINTS = np.linspace(0.0, 1.0, 30)[:, None]


def stream(n, loss, n_outputs=1, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    if isinstance(loss, Softmax):
        return X, (3.0 * X).astype(int).astype(float)
    phases = 6.0 * X + np.arange(n_outputs)
    Y = np.sin(phases) + noise * rng.normal(size=(n, n_outputs))
    return X, np.where(Y > 0.0, 1.0, -1.0) if loss.kind == "binary" else Y


def assert_equal_paths(
    loss, risk, pairing="same", batch_size=1, n_outputs=1, weight=None, n=60,
    compressor=None, tracker="momentum", kernel=KERNEL, noise=0.1, **settings,
):  # fmt: skip
    """Feed both; compare atoms, f, its covariance and the error spent after every window."""
    compressor = KOMP(eps=0.05) if compressor is None else compressor
    X, Y = stream(n, loss, n_outputs, noise=noise)
    settings = {"prior": 0.5, "tracking_rate": 0.1} | settings
    limits = {
        "eps": compressor.eps or 0.0,
        "fraction": compressor.fraction or 0.0,
        "max_atoms": compressor.max_atoms or np.inf,
    }
    read = risk
    if isinstance(risk, Composition):  # the twin reads functions by their names
        read = type("Composition", (SimpleNamespace,), {})(**risk._parameters())
    expected, kind = dict(settings), reference.NewtonCOLK
    if settings.get("forgetting") == "auto":
        kind, expected["first_step"] = reference.Experts, 1.0 / loss_scale(loss)
        del expected["forgetting"]
    if settings["prior"] == "auto":
        kind, expected["prior"] = reference.ChosenPrior, 0.3 * loss_scale(loss)
    twin = kind(kernel, loss, read, 1, n_outputs, tracker=tracker, **limits, **expected)
    learner = NewtonCOLK(
        kernel, loss, risk, compressor=compressor, pairing=pairing, batch_size=batch_size,
        n_outputs=n_outputs, tracker=tracker, trace=True, **settings,
    )  # fmt: skip
    weight = np.ones(n) if weight is None else weight
    size = 1.0
    for t in range(n):
        one = slice(t, t + 1)
        twin.learn(X[one], Y[one], pairing, batch_size, weight[one])
        learner.learn(X[one], Y[one], weight[one])
        if learner.steps == 0:
            continue
        f = learner.last_function
        np.testing.assert_array_equal(np.sort(f.atoms, axis=0), np.sort(twin.atoms, axis=0))
        size = max(size, np.abs(twin.predict(POINTS)).max())
        found = f(POINTS).reshape(30, n_outputs)
        np.testing.assert_allclose(found, twin.predict(POINTS), atol=2e-7 * size)
        np.testing.assert_allclose(learner.inner_estimate, twin.g, rtol=1e-6, atol=1e-8)
        # by brute force a squared norm is known to 1e-9 where the experts' atoms are crowded
        hidden = 5e-5 if kind is reference.Experts else 1e-7
        assert learner.trace.error[-1] == pytest.approx(twin.error, rel=1e-4, abs=hidden)
        if kind is reference.Experts:
            np.testing.assert_allclose(list(learner.experts.values()), twin.p, rtol=1e-6)
        assert learner.current_prior == pytest.approx(twin.prior, rel=1e-14)
    assert learner.steps == twin.steps > 5
    assert len(learner.function.atoms) > 2
    return learner


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_equals_its_twin_under_a_risk(risk, pairing):
    assert_equal_paths(Huber(0.3), risk, pairing)


@pytest.mark.parametrize("pairing", ["same", "overlap"])
@pytest.mark.parametrize("name", [*LOSSES, "quartic"])
def test_equals_its_twin_for_a_loss(name, pairing):
    loss = QUARTIC if name == "quartic" else LOSSES[name]()
    n_outputs = 3 if isinstance(loss, Softmax) else 1
    risk = Mean() if pairing == "same" else Variance(0.1)
    assert_equal_paths(loss, risk, pairing, n_outputs=n_outputs)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.3)], ids=repr)
def test_equals_its_twin_for_several_outputs(loss):
    """A kernel whose atoms stay apart: novelties are then known well enough to compare errors."""
    assert_equal_paths(loss, Variance(0.1), "overlap", n_outputs=2, kernel=Laplacian(0.5))


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_equals_its_twin_in_batches_of_weighted_samples(pairing):
    weight = np.random.default_rng(1).uniform(0.0, 3.0, 60)
    weight[::7] = 0.0
    assert_equal_paths(Huber(0.3), Variance(0.1), pairing, batch_size=3, weight=weight)


@pytest.mark.parametrize(
    "compressor", [KOMP(eps=0.01, max_atoms=6), KOMP(fraction=0.1), KOMP(max_atoms=4)], ids=repr
)
def test_equals_its_twin_within_other_limits(compressor):
    assert_equal_paths(Huber(0.3), Mean(), compressor=compressor, n=150)


@pytest.mark.parametrize("forgetting", [0.9, 0.99])
def test_equals_its_twin_while_it_forgets(forgetting):
    assert_equal_paths(Huber(0.3), Mean(), forgetting=forgetting, trust=0.2, n=100)


@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_equals_its_twin_while_it_forgets_under_a_risk(risk):
    assert_equal_paths(Huber(0.3), risk, "same", forgetting=0.6)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", RISKS, ids=NAMES)
def test_experts_equal_their_twin_under_a_risk(risk, pairing):
    assert_equal_paths(Huber(0.3), risk, pairing, forgetting="auto", n=40)


@pytest.mark.parametrize("name", [*LOSSES, "quartic"])
def test_experts_equal_their_twin_for_a_loss(name):
    loss = QUARTIC if name == "quartic" else LOSSES[name]()
    n_outputs = 3 if isinstance(loss, Softmax) else 1
    assert_equal_paths(loss, Variance(0.1), "overlap", n_outputs=n_outputs, forgetting="auto", n=40)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_experts_equal_their_twin_in_batches_of_weighted_samples(pairing):
    weight = np.random.default_rng(1).uniform(0.0, 3.0, 60)
    weight[::7] = 0.0
    assert_equal_paths(
        Squared(), Variance(0.1), pairing, batch_size=3, weight=weight, n_outputs=2,
        forgetting="auto",
    )  # fmt: skip


@pytest.mark.parametrize(
    "compressor", [KOMP(eps=0.01, max_atoms=6), KOMP(fraction=0.1), KOMP(max_atoms=4)], ids=repr
)
def test_experts_equal_their_twin_within_other_limits(compressor):
    assert_equal_paths(Huber(0.3), Mean(), compressor=compressor, n=150, forgetting="auto")


@pytest.mark.parametrize(
    ("loss", "risk", "settings"),
    [
        (Softmax(), Mean(), {"n_outputs": 3}),
        (Squared(), Variance(0.1), {"pairing": "overlap", "noise": 0.01}),
        (Squared(), CVaR(0.3), {"pairing": "independent", "n": 820, "noise": 0.6}),
        (Huber(0.3), Mean(), {"batch_size": 2, "noise": 0.6, "weight": np.tile([0.5, 2.0], 410)}),
        (Squared(), Mean(), {"n_outputs": 2, "forgetting": 0.9999, "noise": 0.01}),
    ],
    ids=["softmax", "overlap", "independent", "batches", "outputs"],
)
def test_a_prior_that_is_chosen_is_that_of_its_twin(loss, risk, settings):
    """λ changes after 400 steps; all else stays equal there."""
    limits = {"kernel": Laplacian(0.05), "compressor": KOMP(eps=0.05, max_atoms=15)}
    settings["n"] = len(settings.get("weight", ())) or settings.get("n", 410)
    learner = assert_equal_paths(loss, risk, prior="auto", **limits, **settings)
    assert learner.steps > 400
    assert learner.current_prior != 0.3 * loss_scale(loss)


def test_another_prior_is_as_if_it_had_been_there_from_the_first_sample():
    X, Y = stream(400, Squared(), seed=5, noise=1.0)
    kernel = Laplacian(0.05)
    learner = NewtonCOLK(kernel, compressor=KOMP(eps=0.0), prior="auto").learn(X, Y)
    assert learner.current_prior != 0.6
    expected = ridge(kernel.gram(X), kernel(POINTS, X), Y, learner.current_prior / 2.0)
    np.testing.assert_allclose(learner.predict(POINTS), expected, atol=1e-8)


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
    """From 128 atoms on z of a whole batch is found at once, and anew where one of it enters."""
    X = np.random.default_rng(0).random((200, 3))
    y, K = np.sin(6.0 * X).sum(axis=1), Laplacian(1.0).gram(X)
    learner = NewtonCOLK(
        Laplacian(1.0), compressor=KOMP(eps=0.0), prior=0.6, batch_size=batch_size
    ).learn(X, y)  # fmt: skip
    assert learner.n_atoms == 200
    expected = ridge(K, K, y, 0.3 * batch_size)
    np.testing.assert_allclose(learner.predict(X), expected, atol=1e-10)


def test_an_atom_too_many_leaves_the_best_fit_on_the_others():
    """Σ (f − y)² + λ/2‖f‖² over the span that is left; what is late in it has the prior 2λ."""
    X, Y = stream(21, Squared())
    Y[20] += 3.0
    kernel = Gaussian(0.02)
    learner = NewtonCOLK(kernel, compressor=KOMP(max_atoms=20), prior="auto", trace=True)
    learner.learn(X, Y)
    assert learner.current_prior == 0.6
    atoms = learner.function.atoms
    late = (atoms == X[20]).astype(float)
    assert len(atoms) == 20
    assert late.sum() == 1
    K, k = kernel.gram(X[:20]), kernel(X[:20], X[20:])
    novelty = (1.0 - k.T @ np.linalg.solve(K, k)).item()
    at_X = kernel(X, atoms)
    curvature = 2.0 * at_X.T @ at_X + 0.6 * kernel.gram(atoms) + 0.6 * novelty * np.diag(late[:, 0])
    expected = kernel(POINTS, atoms) @ np.linalg.solve(curvature, 2.0 * at_X.T @ Y)
    np.testing.assert_allclose(learner.predict(POINTS), expected, atol=1e-8)
    before = kernel(POINTS, X) @ np.linalg.solve(
        2.0 * kernel.gram(X) @ kernel.gram(X) + 0.6 * kernel.gram(X)
        + 0.6 * novelty * np.diag(np.arange(21) == 20), 2.0 * kernel.gram(X) @ Y
    )  # fmt: skip
    assert learner.trace.error[-1] >= np.abs(before - expected).max() > 0.0


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
    """Where no atom enters any more, it is least squares in their span, sample by sample."""
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
    np.testing.assert_allclose(learner.covariance, P, atol=1e-8 * np.abs(P).max())
    np.testing.assert_allclose(
        learner.predict(POINTS), KERNEL(POINTS, atoms) @ U @ theta, atol=1e-8
    )
