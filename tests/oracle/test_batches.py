"""Mini-batches equal their specification: every step, its certificate, and short paths."""

from itertools import pairwise

import numpy as np
import pytest

from colk import reference
from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Matern, Polynomial
from colk.learners import COLK
from colk.losses import EpsilonInsensitive, Huber, Squared
from colk.reference import gram
from colk.risks import CVaR, Entropic, Mean, MeanSemideviation, Variance
from colk.schedules import Exponential, PolyakRuppert

BATCHES = [2, 4, 8, 32, pytest.param(64, marks=pytest.mark.compiled)]
PAIRINGS = ["independent", "overlap", "same"]
TRACKERS = ["momentum", "average"]
# The last two have a Gram matrix without inverse from some ten and from five points on.
KERNELS = [Laplacian(0.5), Matern(0.4, 1.5), Gaussian(0.2), Polynomial(3)]
SETTINGS = {"step_size": 0.1, "tracking_rate": 0.1, "regularization": 1e-3, "gradient_bound": 5.0}


def stream(n, n_features=1, n_outputs=2, seed=0):
    """Points of [0, 1]^p, targets, and sample weights of which one in ten is 0."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    Y = np.sin(6.0 * X[:, :1] + np.arange(n_outputs)) + 0.1 * rng.normal(size=(n, n_outputs))
    weight = rng.choice([0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], size=n)
    return X, Y, weight


def pair_of(kernel, risk, n_features, n_outputs, eps, loss=None, max_atoms=None, **settings):
    """A learner, its twin, and how the twin learns."""
    loss = Huber(1.0) if loss is None else loss
    settings = SETTINGS | {"tracker": "momentum", "averaging": None} | settings
    twin_settings = dict(settings)
    pairing, batch = twin_settings.pop("pairing"), twin_settings.pop("batch_size")
    twin = reference.COLK(kernel, loss, risk, n_features, n_outputs, eps=eps, **twin_settings)
    twin.max_atoms = np.inf if max_atoms is None else max_atoms
    compressor = KOMP(eps=eps, max_atoms=max_atoms)
    learner = COLK(kernel, loss, risk, compressor=compressor, trace=True, **settings)
    return learner, twin, lambda *samples: twin.learn(*samples[:2], pairing, batch, samples[2])


def parts(function, n_outputs):
    return function.atoms, function.weights.reshape(-1, n_outputs)


def distance(kernel, f, g):
    """‖f − g‖ and what rounding may add to it."""
    points, weights = np.vstack([f[0], g[0]]), np.vstack([f[1], -g[1]])
    K = gram(kernel, points, points)
    slack = 1e-7 * np.sqrt(K.max(initial=0.0)) * (1.0 + np.abs(weights).sum())
    return np.sqrt(max(0.0, np.sum(weights * (K @ weights)))), slack


def windows(size, first, n):
    """Slices of a stream that complete one window each."""
    edges = [0, *range(first, n + 1, size)]
    return [slice(*both) for both in pairwise(edges)]


def assert_every_step(kernel, risk, batch_size, pairing, tracker, eps, steps=25, n_outputs=2):
    """Each step from the learner's own state: g, f~, and ‖f − f~‖ as it is reported."""
    learner, twin, learn = pair_of(
        kernel, risk, 1, n_outputs, eps, pairing=pairing, batch_size=batch_size, tracker=tracker
    )
    twin.eps = 0.0
    gained = 2 * batch_size if pairing == "independent" else batch_size
    X, Y, weight = stream(5 * (steps + 2) * gained // 4, n_outputs=n_outputs)
    there = weight > 0.0
    X, Y, weight = X[there], Y[there], weight[there]
    first = gained + (pairing == "overlap")
    for part in windows(gained, first, len(X))[:steps]:
        samples = X[part], Y[part], weight[part]
        learn(*samples)  # f~: nothing is forgotten
        learner.learn(*samples)
        assert learner.steps == twin.steps
        np.testing.assert_allclose(learner.inner_estimate, twin.g, rtol=1e-7, atol=1e-7)
        f, moved = parts(learner.last_function, n_outputs), (twin.atoms, twin.weights)
        lost, slack = distance(kernel, f, moved)
        reported = learner.trace.error[-1]
        assert np.isfinite(f[1]).all()
        assert lost <= reported + slack
        # Floors under the novelty of a point are charged to the certificate.
        assert reported <= lost + 1e-4
        assert reported <= max(eps, 1e-3)
        twin.atoms, twin.weights = f
        twin.average = np.zeros_like(f[1])
        twin.g = learner.inner_estimate
    assert learner.steps == steps


@pytest.mark.each_pair
@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", BATCHES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_step_and_its_certificate(kernel, batch_size, pairing, tracker):
    assert_every_step(kernel, Variance(0.2), batch_size, pairing, tracker, eps=0.01)


@pytest.mark.each_pair
@pytest.mark.parametrize("batch_size", [4, 32])
@pytest.mark.parametrize("risk", [MeanSemideviation(), CVaR(0.3), Entropic(0.3)], ids=repr)
@pytest.mark.parametrize("tracker", TRACKERS)
def test_every_step_of_other_risks(risk, batch_size, tracker):
    assert_every_step(Matern(0.4, 1.5), risk, batch_size, "overlap", tracker, eps=0.01)


@pytest.mark.each_value
@pytest.mark.parametrize("batch_size", BATCHES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_step_where_nothing_may_be_forgotten(kernel, batch_size):
    assert_every_step(kernel, Variance(0.2), batch_size, "overlap", "momentum", eps=0.0, steps=6)


@pytest.mark.each_pair
@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", BATCHES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_paths_without_forgetting(kernel, batch_size, pairing, tracker):
    """With ε = 0 a step loses only what its floors charge, and errors of this size do not grow."""
    learner, twin, learn = pair_of(
        kernel, Variance(0.1), 1, 2, 0.0, pairing=pairing, batch_size=batch_size, tracker=tracker
    )
    samples = stream(6 * batch_size + 20)
    learn(*samples)
    learner.learn(*samples)
    assert learner.steps == twin.steps >= 2
    apart, slack = distance(kernel, parts(learner.function, 2), (twin.atoms, twin.weights))
    assert learner.error_spent <= 1e-3
    assert apart <= 3.0 * learner.error_spent + slack
    grid = np.linspace(0.0, 1.0, 101)[:, None]
    largest = np.sqrt(np.diag(gram(kernel, grid, grid)).max())
    wrong = np.abs(learner.predict(grid) - twin.predict(grid)).max()
    assert wrong <= largest * (3.0 * learner.error_spent + slack)
    np.testing.assert_allclose(learner.inner_estimate, twin.g, atol=0.01)


def assert_same_path(kernel, risk, n_outputs=1, n_features=3, samples=64, eps=0.1, **settings):
    """Atoms, weights, averages, g and the error after a stream of well separated points.

    Costs differ by far more than rounding, so that both drop the same atoms.
    """
    settings = {"pairing": "independent", "step_size": 0.1 * settings["batch_size"]} | settings
    learner, twin, learn = pair_of(kernel, risk, n_features, n_outputs, eps, **settings)
    data = stream(samples, n_features, n_outputs, seed=5)
    learn(*data)
    learner.learn(*data)
    f = learner.last_function
    mine, twins = np.lexsort(f.atoms.T), np.lexsort(twin.atoms.T)
    np.testing.assert_array_equal(f.atoms[mine], twin.atoms[twins])
    weights = f.weights.reshape(-1, n_outputs)
    np.testing.assert_allclose(weights[mine], twin.weights[twins], atol=1e-9)
    np.testing.assert_allclose(learner.inner_estimate, twin.g, atol=1e-10)
    assert learner.trace.error[-1] == pytest.approx(twin.error, abs=1e-8)
    grid = np.random.default_rng(9).random((40, n_features))
    predicted = learner.predict(grid).reshape(-1, n_outputs)
    np.testing.assert_allclose(predicted, twin.predict(grid), atol=1e-9)
    assert 3 < f.n_atoms < 0.7 * samples
    assert learner.error_spent > 0.0


SEPARATED = [Gaussian(0.15), Laplacian(0.5), Matern(0.3, 1.5), Matern(0.2, 2.5)]


@pytest.mark.each_pair
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", [2, 4, 8])
@pytest.mark.parametrize("kernel", SEPARATED, ids=repr)
def test_paths_with_forgetting(kernel, batch_size, pairing):
    assert_same_path(kernel, Variance(0.2), batch_size=batch_size, pairing=pairing)


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize(
    "risk", [Mean(), MeanSemideviation(), CVaR(0.3, 0.3), Entropic(0.3)], ids=repr
)
def test_paths_of_other_risks_with_several_outputs(risk, tracker):
    assert_same_path(
        Matern(0.3, 1.5), risk, 3, eps=0.2, batch_size=4, pairing="overlap", tracker=tracker
    )


@pytest.mark.parametrize("batch_size", [32, 64])
def test_paths_of_large_batches(batch_size):
    assert_same_path(
        Laplacian(0.4),
        Variance(0.2),
        samples=2 * batch_size + 20,
        eps=0.02,
        pairing="same",
        batch_size=batch_size,
        step_size=0.5,
    )


@pytest.mark.parametrize(
    "averaging", [PolyakRuppert(), PolyakRuppert(5, 3.0), Exponential(0.2)], ids=repr
)
def test_averages(averaging):
    assert_same_path(
        Matern(0.3, 1.5), Variance(0.2), 2, batch_size=4, pairing="same", averaging=averaging
    )


def test_bounds_that_bite():
    assert_same_path(
        Matern(0.3, 1.5),
        Mean(),
        2,
        loss=Squared(),
        batch_size=4,
        gradient_bound=1.0,
        norm_bound=0.5,
        step_size=0.5,
    )


@pytest.mark.parametrize("batch_size", [2, 8])
def test_a_bound_on_the_atoms(batch_size):
    assert_same_path(Matern(0.3, 1.5), Variance(0.2), eps=0.02, max_atoms=7, batch_size=batch_size)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", [2, 4])
def test_samples_that_do_not_move_f_leave_the_batch(batch_size, pairing):
    """Some slopes of a window are 0; the points with a slope move to the front."""
    assert_same_path(
        Matern(0.3, 1.5),
        Variance(0.2),
        loss=EpsilonInsensitive(0.5),
        eps=0.05,
        batch_size=batch_size,
        pairing=pairing,
    )
