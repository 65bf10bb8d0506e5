"""The compiled COLK equals its reference, step by step."""

import numpy as np
import pytest

from colk import reference
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import LOSSES, CustomLoss, Huber, Logistic, Squared
from colk.risks import (
    AUC,
    CentralMoments,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.schedules import PowerDecay

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
]
QUARTIC = CustomLoss(lambda f, y: (f - y) ** 4, lambda f, y: 4.0 * (f - y) ** 3)
TRACKERS = ["momentum", "average"]
PAIRINGS = ["independent", "same", "overlap"]
KERNEL = Gaussian(0.1)
SETTINGS = {
    "step_size": 0.05,
    "tracking_rate": 0.05,
    "regularization": 1e-3,
    "gradient_bound": 5.0,
}
STEPS = 300


def stream(n, n_outputs=1, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    phases = 6 * X + np.arange(n_outputs)
    return X, 2 * X + 3 * np.sin(phases) + 0.1 * rng.normal(size=(n, n_outputs))


def roles(risk, pairing, t):
    """Places in the stream of θ and ξ of step t."""
    if risk.n_inner == 0 or pairing == "same":
        return t, t
    return (2 * t, 2 * t + 1) if pairing == "independent" else (t, t + 1)


def samples_of(risk, pairing, t):
    """The samples that complete step t, and none of the next."""
    theta, xi = roles(risk, pairing, t)
    if risk.n_inner > 0 and pairing == "overlap":
        return slice(0 if t == 0 else t + 1, t + 2)
    return slice(min(theta, xi), max(theta, xi) + 1)


def assert_same_path(
    risk,
    tracker="momentum",
    pairing="independent",
    loss=None,
    eps=0.05,
    n_outputs=1,
    steps=STEPS,
    weight=None,
    schedules=None,
    targets=None,
    **changed,
):
    """Feed both; compare atoms, weights, g and the error spent after every step."""
    loss = Squared() if loss is None else loss
    settings = SETTINGS | changed
    schedules = schedules or {}
    learner = COLK(
        KERNEL,
        loss,
        risk,
        compressor=KOMP(eps=eps),
        tracker=tracker,
        pairing=pairing,
        averaging=None,
        n_outputs=n_outputs,
        trace=True,
        **(settings | schedules),
    )
    twin = reference.COLK(
        KERNEL, loss, risk, 1, n_outputs, eps=eps, tracker=tracker, **(settings | schedules)
    )
    X, Y = stream(2 * steps + 1, n_outputs)
    Y = Y if targets is None else targets(X)
    weight = np.ones(len(X)) if weight is None else weight
    for t in range(steps):
        theta, xi = roles(risk, pairing, t)
        twin.step(X[theta], Y[theta], X[xi], Y[xi], weight[theta], weight[xi])
        fresh = samples_of(risk, pairing, t)
        learner.learn(X[fresh], Y[fresh], weight[fresh])
        f = learner.last_function
        assert learner.steps == t + 1
        mine, twins = np.argsort(f.atoms[:, 0]), np.argsort(twin.atoms[:, 0])
        np.testing.assert_array_equal(f.atoms[mine], twin.atoms[twins])
        assert np.abs(f.weights[mine] - twin.weights[twins]).max(initial=0.0) < 1e-8
        assert np.abs(learner.inner_estimate - twin.g).max(initial=0.0) < 1e-9
    trace = learner.trace
    assert abs(trace.error[-1] - twin.error) < 1e-7
    assert trace.dropped.sum() > 0
    assert f.n_atoms > 3
    return trace


@pytest.mark.each_pair
@pytest.mark.parametrize("risk", RISKS, ids=repr)
@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_every_risk_tracker_and_pairing(risk, tracker, pairing):
    assert_same_path(risk, tracker, pairing)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("risk", [Mean(), Variance(0.2), CVaR(0.2)], ids=repr)
def test_huber_loss_and_two_outputs(risk, pairing):
    assert_same_path(risk, "momentum", pairing, Huber(0.5), step_size=0.3, n_outputs=2)


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_bounds_that_bite(tracker, pairing):
    trace = assert_same_path(
        Variance(0.1), tracker, pairing, gradient_bound=1.5, norm_bound=2.0, steps=150
    )
    assert trace.clipped.sum() > 10
    assert (trace.norm == 2.0).sum() > 10
    assert trace.norm.max() == 2.0


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_sample_weights(tracker, pairing):
    weight = np.random.default_rng(3).choice([0.3, 1.0, 2.5], size=301)
    assert_same_path(Variance(0.1), tracker, pairing, weight=weight, steps=150)


def test_a_weight_that_fills_the_tracking_rate_forgets():
    weight = np.where(np.arange(301) % 20 == 1, 30.0, 1.0)
    assert_same_path(Variance(0.1), "momentum", "independent", weight=weight, steps=150)


@pytest.mark.parametrize("risk", [Mean(), Variance(0.1), Entropic(0.3)], ids=repr)
def test_decaying_rates(risk):
    schedules = {
        "step_size": PowerDecay(0.1, power=0.6, scale=20.0),
        "tracking_rate": PowerDecay(0.5, power=0.4, scale=5.0),
    }
    assert_same_path(risk, schedules=schedules, steps=150)


@pytest.mark.parametrize("risk", [Mean(), Variance(0.2)], ids=repr)
@pytest.mark.parametrize("loss", [*(loss() for loss in LOSSES.values()), QUARTIC], ids=repr)
def test_every_loss(loss, risk):
    rng = np.random.default_rng(4)
    targets = {
        "regression": None,
        "binary": lambda X: np.where(X + 0.1 * rng.normal(size=X.shape) > 0.5, 1.0, -1.0),
        "multiclass": lambda X: np.floor(3.0 * X),
    }
    assert_same_path(
        risk,
        loss=loss,
        targets=targets[loss.kind],
        n_outputs=3 if loss.kind == "multiclass" else 1,
        step_size=0.3,
        steps=100,
    )


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_pairs_of_classes(tracker, pairing):
    rng = np.random.default_rng(5)
    assert_same_path(
        AUC(),
        tracker,
        pairing,
        Logistic(),
        targets=lambda X: np.where(X + 0.1 * rng.normal(size=X.shape) > 0.8, 1.0, -1.0),
        step_size=0.1,
        steps=150,
    )
