"""Invariances of COLK, most of them exact to the bit."""

import pickle

import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian
from colk.learners import COLK, POLK
from colk.losses import Huber, Squared
from colk.risks import (
    CentralMoments,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import Exponential, PolyakRuppert

PAIRINGS = ["independent", "same", "overlap"]
TRACKERS = ["momentum", "average"]
RISKS = [Mean(), Variance(0.1), MeanSemideviation(), CVaR(0.2), Entropic(0.3)]
SETTINGS = {
    "step_size": 0.1,
    "tracking_rate": 0.1,
    "regularization": 1e-3,
    "compressor": KOMP(eps=0.02),
}


def stream(n=200, n_features=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    return X, 2 * X[:, 0] + 3 * np.sin(6 * X[:, -1]) + 0.1 * rng.normal(size=n)


def make(risk=None, kernel=None, loss=None, **changed):
    return COLK(kernel or Gaussian(0.1), loss, risk, **(SETTINGS | changed))


def assert_equal_to_the_bit(first, second):
    assert first.steps == second.steps
    assert first.last_function == second.last_function
    assert first.function == second.function
    np.testing.assert_array_equal(first.inner_estimate, second.inner_estimate)
    assert first.error_spent == second.error_spent


# -- special cases ------------------------------------------------------------------------------


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("tracker", TRACKERS)
def test_colk_with_mean_is_polk(pairing, tracker):
    X, y = stream()
    polk = POLK(Gaussian(0.1), **{k: v for k, v in SETTINGS.items() if k != "tracking_rate"})
    colk = make(Mean(), pairing=pairing, tracker=tracker)
    assert_equal_to_the_bit(colk.learn(X, y), polk.learn(X, y))
    assert colk.n_atoms > 5


@pytest.mark.parametrize(
    "risk",
    [
        Variance(0.0),
        CentralMoments(4, 0.0),
        Semivariance(0.0),
        Semideviations(3, 0.0),
        MeanSemideviation(2.0, 0.0),
        CVaR(0.1, 0.0),
        CVaR(1.0, 1.0),
    ],
    ids=repr,
)
def test_a_dispersion_of_weight_0_is_the_mean(risk):
    X, y = stream()
    assert_equal_to_the_bit(make(risk).learn(X, y), make(Mean()).learn(X, y))


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_a_tracking_rate_of_1_has_no_memory(pairing):
    X, y = stream()
    settings = {"tracking_rate": 1.0, "pairing": pairing}
    momentum = make(Variance(0.1), tracker="momentum", **settings).learn(X, y)
    average = make(Variance(0.1), tracker="average", **settings)
    new = 2 if pairing == "independent" else 1
    before = average.learn(X[:-new], y[:-new]).last_function
    assert_equal_to_the_bit(momentum, average.learn(X[-new:], y[-new:]))
    loss = (before(X[[-1]]) - y[-1]) ** 2
    np.testing.assert_allclose(average.inner_estimate, loss, rtol=1e-12)


# -- how the stream is cut ----------------------------------------------------------------------


def cuts(n, seed):
    return np.sort(np.random.default_rng(seed).integers(0, n, size=20))


@pytest.mark.each_pair
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("tracker", TRACKERS)
def test_chunks_do_not_matter(pairing, batch_size, tracker):
    X, y = stream()
    weight = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.0], size=len(X))
    settings = {"pairing": pairing, "batch_size": batch_size, "tracker": tracker}
    whole = make(Variance(0.1), **settings).learn(X, y, weight)
    pieces, ones = make(Variance(0.1), **settings), make(Variance(0.1), **settings)
    for rows in np.split(np.arange(len(X)), cuts(len(X), seed=1)):
        pieces.learn(X[rows], y[rows], weight[rows])
    for x, target, w in zip(X, y, weight, strict=True):
        ones.learn_one(x, target, w)
    assert_equal_to_the_bit(whole, pieces)
    assert_equal_to_the_bit(whole, ones)
    assert whole.prequential_loss == pieces.prequential_loss


@pytest.mark.parametrize("risk", RISKS, ids=repr)
def test_weight_0_is_skipping(risk):
    X, y = stream()
    kept = np.random.default_rng(2).random(len(X)) < 0.7
    weighted = make(risk).learn(X, y, kept.astype(float))
    assert_equal_to_the_bit(weighted, make(risk).learn(X[kept], y[kept]))


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("batch_size", [1, 2])
def test_a_pickled_learner_goes_on_to_the_bit(pairing, batch_size):
    X, y = stream()
    learner = make(Variance(0.1), pairing=pairing, batch_size=batch_size).learn(X[:101], y[:101])
    copy = pickle.loads(pickle.dumps(learner))
    assert_equal_to_the_bit(learner, copy)
    assert_equal_to_the_bit(learner.learn(X[101:], y[101:]), copy.learn(X[101:], y[101:]))


# -- symmetries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(0.4), Laplacian(1.0)], ids=repr)
def test_the_order_of_features_does_not_matter(kernel):
    X, y = stream(n_features=4)
    permuted = make(Variance(0.1), kernel).learn(X[:, [2, 0, 3, 1]], y)
    learner = make(Variance(0.1), kernel).learn(X, y)
    np.testing.assert_array_equal(permuted.function.atoms, learner.function.atoms[:, [2, 0, 3, 1]])
    np.testing.assert_allclose(permuted.function.weights, learner.function.weights, atol=1e-9)


def test_the_unit_of_x_does_not_matter():
    X, y = stream()
    learner = make(Variance(0.1)).learn(X, y)
    scaled = make(Variance(0.1), Gaussian(0.4)).learn(4 * X, y)
    np.testing.assert_array_equal(scaled.function.weights, learner.function.weights)


# With y in a unit s times smaller, f, eps, the thresholds of losses and the bounds are s times
# larger, losses s². So what is measured in losses (smoothing) grows by s², and what is measured
# in 1/losses (the weight of a variance, the tilt) falls by s². Rates and λ have no unit of y. A
# power of 2 makes it exact.
S = 4.0
SCALED = [
    (Mean(), Mean()),
    (Variance(0.1), Variance(0.1 / S**2)),
    (Semivariance(0.1, smoothing=0.5), Semivariance(0.1 / S**2, smoothing=0.5 * S**2)),
    (MeanSemideviation(2.0, 0.5), MeanSemideviation(2.0, 0.5)),
    (CVaR(0.2, 0.5, smoothing=0.1), CVaR(0.2, 0.5, smoothing=0.1 * S**2)),
    (Entropic(0.5), Entropic(0.5 / S**2)),
    (Entropic(-0.5), Entropic(-0.5 / S**2)),
]


@pytest.mark.parametrize(("risk", "scaled_risk"), SCALED, ids=lambda risk: repr(risk))
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5)], ids=repr)
def test_the_unit_of_y_scales_f(risk, scaled_risk, loss):
    X, y = stream()
    scaled_loss = loss.replace(threshold=S * loss.threshold) if isinstance(loss, Huber) else loss
    learner = make(risk, loss=loss, gradient_bound=3.0, norm_bound=4.0).learn(X, y)
    scaled = make(
        scaled_risk,
        loss=scaled_loss,
        gradient_bound=3.0 * S,
        norm_bound=4.0 * S,
        compressor=KOMP(eps=0.02 * S),
    ).learn(X, S * y)
    np.testing.assert_array_equal(scaled.function.atoms, learner.function.atoms)
    np.testing.assert_array_equal(scaled.function.weights, S * learner.function.weights)
    np.testing.assert_array_equal(scaled.last_function.weights, S * learner.last_function.weights)


# -- compression --------------------------------------------------------------------------------


def uncompressed(X, y, weight, steps, step=0.1, rate=0.1, decay=1e-3):
    """Predictions at X of f after `steps` of momentum COLK with Variance, never compressed."""
    K = Gaussian(0.1).gram(X)
    f = previous = np.zeros(len(X))  # f at all of X
    g = 0.0
    for t in range(steps):
        a, b = 2 * t, 2 * t + 1
        loss, inner, old = (f[a] - y[a]) ** 2, (f[b] - y[b]) ** 2, (previous[b] - y[b]) ** 2
        g = inner if t == 0 else (1 - rate) * (g - old) + inner
        m = 2 * weight * (loss - g)
        c, c_inner = 2 * (f[a] - y[a]) * (1 + m), -2 * (f[b] - y[b]) * m
        previous, f = f, (1 - step * decay) * f - step * (c * K[a] + c_inner * K[b])
    return f


def test_as_eps_vanishes_nothing_is_compressed():
    X, y = stream(n=200)
    y = y / 4
    exact = uncompressed(X, y, 0.1, 100)
    errors = []
    for eps in (1e-2, 1e-4, 1e-6, 0.0):
        learner = make(Variance(0.1), compressor=KOMP(eps=eps), gradient_bound=np.inf)
        errors.append(np.abs(learner.learn(X, y).last_function(X) - exact).max())
        # A perturbation of at most eps a step, carried along by a map that hardly expands.
        assert errors[-1] <= 300 * eps + 1e-6
    assert errors[-1] < 1e-6
    assert errors[-1] < errors[0] / 100


def test_a_budget_is_never_exceeded():
    X, y = stream(n=400)
    learner = make(Variance(0.1), compressor=KOMP(max_atoms=6), trace=True).learn(X, y)
    assert learner.trace.n_atoms.max() == 6


# -- the tracker and the averages ---------------------------------------------------------------


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_previous_function_is_exact(pairing):
    """g follows eq. (track1) with f_{t−1} and f_t as they were, dropped atoms included."""
    X, y = stream(n=401)
    settings = {"compressor": KOMP(eps=0.05), "averaging": None, "trace": True}
    learner = make(Variance(0.1), pairing=pairing, **settings)
    stride = 2 if pairing == "independent" else 1
    window = 1 if pairing == "same" else 2
    learner.learn(X[:window], y[:window])
    f_previous, g = KernelExpansion.zero(Gaussian(0.1), 1), learner.inner_estimate
    for first in range(window, 400, stride):
        rows = slice(first, first + stride)
        xi = first + stride - 1
        f = learner.last_function
        old, new = ((h(X[[xi]]) - y[xi]) ** 2 for h in (f_previous, f))
        learner.learn(X[rows], y[rows])
        expected = 0.9 * (g - old) + new
        np.testing.assert_allclose(learner.inner_estimate, expected, rtol=1e-10, atol=1e-10)
        f_previous, g = f, learner.inner_estimate
    assert learner.trace.dropped.sum() > 5


@pytest.mark.parametrize(
    "averaging", [PolyakRuppert(), PolyakRuppert(20, 2.0), Exponential(0.1)], ids=repr
)
def test_the_average_is_the_average_of_the_iterates(averaging):
    X, y = stream(n=120)
    learner = make(Variance(0.1), Laplacian(0.05), averaging=averaging, compressor=KOMP(eps=0.0))
    iterates = []
    for t in range(60):
        learner.learn(X[2 * t : 2 * t + 2], y[2 * t : 2 * t + 2])
        iterates.append(learner.last_function(X))
    if isinstance(averaging, Exponential):
        shares = 0.1 * 0.9 ** np.arange(59.0, -1.0, -1.0)
    else:
        # Weights of the iterates by the recursion f̄ ← f̄ + ρ_k(f − f̄).
        shares = np.zeros(60)
        for t in range(60):
            k = max(t + 1 - averaging.burn_in, 1)
            rho = (1 + averaging.growth) / (k + averaging.growth)
            shares *= 1 - rho
            shares[t] += rho
        assert abs(shares.sum() - 1) < 1e-12
    np.testing.assert_allclose(learner.predict(X), shares @ np.array(iterates), atol=1e-10)


def test_the_plain_average_weighs_all_iterates_equally():
    X, y = stream(n=120)
    learner = make(
        Variance(0.1), Laplacian(0.05), averaging=PolyakRuppert(), compressor=KOMP(eps=0.0)
    )
    total = np.zeros(len(X))
    for t in range(60):
        learner.learn(X[2 * t : 2 * t + 2], y[2 * t : 2 * t + 2])
        total += learner.last_function(X)
    np.testing.assert_allclose(learner.predict(X), total / 60, atol=1e-10)
