"""The specification of a step: mini-batches, pairings, weights and averages, by definition."""

from types import SimpleNamespace

import numpy as np
import pytest

from colk.kernels import Gaussian, Linear
from colk.losses import Huber, Softmax, Squared
from colk.reference import COLK, gram, losses, risks, trackers
from colk.risks import CentralMoments, CVaR, Entropic, Mean, MeanSemideviation, Variance
from colk.schedules import Exponential, PolyakRuppert, PowerDecay

KERNEL = Gaussian(0.1)
SETTINGS = {"step_size": 0.2, "tracking_rate": 0.1, "regularization": 0.01, "gradient_bound": 3.0}
PAIRINGS = ["independent", "overlap", "same"]
ALL = [Mean(), Variance(0.2), CentralMoments(4, 0.1), MeanSemideviation(), CVaR(0.3), Entropic(0.3)]


def stream(n, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.sin(6 * X + np.arange(n_outputs)) + 0.1 * rng.normal(size=(n, n_outputs))


def made(risk, n_outputs=1, loss=None, **settings):
    loss = Squared() if loss is None else loss
    return COLK(KERNEL, loss, risk, 1, n_outputs, **(SETTINGS | settings))


def roles(risk, pairing, n):
    """θ and ξ of every step with one pair."""
    if pairing == "same" or risks.n_inner(risk) == 0:
        return [(i, i) for i in range(n)]
    if pairing == "overlap":
        return [(i, i + 1) for i in range(n - 1)]
    return [(i, i + 1) for i in range(0, n - 1, 2)]


@pytest.mark.each_value
@pytest.mark.parametrize("risk", ALL, ids=repr)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_batches_of_one_are_steps(risk, pairing):
    X, Y = stream(31, n_outputs=2)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 31)
    learned = made(risk, 2, eps=0.02).learn(X, Y, pairing, 1, weight)
    stepped = made(risk, 2, eps=0.02)
    for i, j in roles(risk, pairing, 31):
        stepped.step(X[i], Y[i], X[j], Y[j], weight[i], weight[j])
    assert learned.steps == stepped.steps == len(roles(risk, pairing, 31))
    for name in ("atoms", "weights", "g", "average"):
        np.testing.assert_array_equal(getattr(learned, name), getattr(stepped, name))


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_way_a_stream_is_cut_means_nothing(pairing):
    X, Y = stream(60)
    whole = made(Variance(0.2)).learn(X, Y, pairing, 4)
    parts = made(Variance(0.2))
    for part in np.split(np.arange(60), [1, 2, 7, 30, 31]):
        parts.learn(X[part], Y[part], pairing, 4)
    np.testing.assert_array_equal(whole.weights, parts.weights)


def test_a_sample_of_weight_0_is_none():
    X, Y = stream(40)
    weight = np.where(np.arange(40) % 3 == 0, 0.0, 1.0)
    kept = weight > 0.0
    weighted = made(Variance(0.2)).learn(X, Y, "overlap", 2, weight)
    without = made(Variance(0.2)).learn(X[kept], Y[kept], "overlap", 2)
    np.testing.assert_array_equal(weighted.weights, without.weights)


@pytest.mark.parametrize("tracker", ["momentum", "average"])
@pytest.mark.parametrize("risk", ALL, ids=repr)
def test_a_batch_is_the_mean_of_its_pairs(risk, tracker):
    """Each pair alone, from the same f_t, f_{t−1} and g_{t+1}: the changes of f are averaged."""
    X, Y = stream(24)
    before = made(risk, tracker=tracker).learn(X[:16], Y[:16], "independent", 1)
    grid = np.linspace(0.0, 1.0, 50)[:, None]

    def f(learner, X=grid, previous=False):
        atoms, weights = learner.previous if previous else (learner.atoms, learner.weights)
        return gram(KERNEL, X, atoms) @ weights

    pairs = [(X[i], Y[i], X[i + 1], Y[i + 1]) for i in range(16, 24, 2)]
    losses_now, losses_before = (
        [losses.value(Squared(), f(before, x[None], previous)[0], y) for _, _, x, y in pairs]
        for previous in (False, True)
    )
    g = [
        trackers.track(tracker, risk, before.g, *both, 0.1)
        for both in zip(losses_before, losses_now, strict=True)
    ]
    changes = []
    for x, y, x_inner, y_inner in pairs:
        one = made(risk, tracker=tracker)
        one.atoms, one.weights, one.average = before.atoms, before.weights, before.average
        one.steps, one.g = before.steps, np.mean(g, axis=0)
        one._tracked = lambda before, now, rate, one=one: one.g
        one.step(x, y, x_inner, y_inner)
        changes.append(f(one) - f(before))
    expected = f(before) + np.mean(changes, axis=0)
    batch = made(risk, tracker=tracker).learn(X[:16], Y[:16], "independent", 1)
    batch.step_batch(*(np.array(each) for each in zip(*pairs, strict=True)), np.ones(4), np.ones(4))
    np.testing.assert_allclose(batch.g, np.mean(g, axis=0), rtol=1e-13)
    np.testing.assert_allclose(f(batch), expected, atol=1e-13)


def test_the_first_batch_starts_g_at_the_mean_of_its_starts():
    X, Y = stream(8)
    risk = MeanSemideviation()
    learner = made(risk).learn(X, Y, "independent", 4)
    starts = [trackers.start(risk, float(y[0] ** 2)) for y in Y[1::2]]
    np.testing.assert_allclose(learner.g, np.mean(starts, axis=0))


def test_equal_points_share_an_atom():
    X, Y = np.array([[0.1], [0.5], [0.1], [0.5]]), np.array([[1.0], [2.0], [3.0], [4.0]])
    learner = made(Mean(), gradient_bound=np.inf).learn(X, Y, batch_size=4)
    np.testing.assert_array_equal(learner.atoms, [[0.1], [0.5]])
    np.testing.assert_allclose(learner.weights, 0.2 * 2.0 / 4.0 * np.array([[4.0], [6.0]]))


def test_a_vanishing_point_is_no_atom():
    learner = COLK(Linear(), Squared(), Mean(), 1, 1, step_size=0.1)
    learner.learn(np.array([[0.0], [1e-150], [2.0]]), np.ones((3, 1)))
    np.testing.assert_array_equal(learner.atoms, [[2.0]])


def test_pairs_are_clipped_one_by_one():
    X, Y = np.array([[0.1], [0.9]]), np.array([[100.0], [0.5]])
    learner = made(Mean(), gradient_bound=2.0).learn(X, Y, batch_size=2)
    np.testing.assert_allclose(learner.weights, 0.2 / 2.0 * np.array([[2.0], [1.0]]))


def test_bounds_hold():
    X, Y = stream(80)
    learner = made(Variance(0.1), eps=1e-3, max_atoms=5, norm_bound=0.7, step_size=0.5)
    learner.learn(X, Y, "overlap", 2)
    K = gram(KERNEL, learner.atoms, learner.atoms)
    assert len(learner.atoms) == 5
    assert np.sqrt(np.sum(learner.weights * (K @ learner.weights))) == pytest.approx(0.7)


def test_parsimony_is_eps_by_the_step():
    X, Y = stream(60)
    rate = PowerDecay(0.5, power=0.5, scale=10.0)
    scaled = made(Mean(), step_size=rate, parsimony=0.5).learn(X, Y)
    twin = made(Mean(), step_size=rate)
    for x, y in zip(X, Y, strict=True):
        twin.eps = 0.5 * rate.at(twin.steps) ** 2
        twin.step(x, y, x, y)
    np.testing.assert_array_equal(scaled.weights, twin.weights)


@pytest.mark.parametrize(
    ("averaging", "weigh"),
    [
        (PolyakRuppert(), lambda k, n: 1.0 / n),
        (PolyakRuppert(burn_in=9), lambda k, n: (k >= 9) / (n - 9)),
        (PolyakRuppert(growth=1.0), lambda k, n: (k + 1.0) / (n * (n + 1.0) / 2.0)),
        (Exponential(0.2), lambda k, n: 0.2 * 0.8 ** (n - 1 - k)),
    ],
    ids=["mean", "burn-in", "growth", "exponential"],
)
def test_averages_are_sums_of_iterates(averaging, weigh):
    X, Y = stream(30)
    grid = np.linspace(0.0, 1.0, 20)[:, None]
    learner, iterates = made(Mean(), averaging=averaging), []
    for x, y in zip(X, Y, strict=True):
        learner.step(x, y, x, y)
        iterates.append(gram(KERNEL, grid, learner.atoms) @ learner.weights)
    expected = sum(weigh(k, 30) * iterate for k, iterate in enumerate(iterates))
    np.testing.assert_allclose(learner.predict(grid), expected, atol=1e-12)


def test_the_average_is_projected_with_the_atoms():
    """What a step loses of the average is orthogonal to the atoms that stay."""
    X, Y = stream(60)
    learner = made(Mean(), eps=0.1, averaging=PolyakRuppert())
    dropped = 0
    for x, y in zip(X, Y, strict=True):
        atoms, average = learner.atoms, learner.average
        learner.step(x, y, x, y)
        t, here = learner.steps, learner.atoms
        kept = (learner.average - learner.weights / t) * t / (t - 1.0) if t > 1 else 0.0 * here
        lost = gram(KERNEL, here, atoms) @ average - gram(KERNEL, here, here) @ kept
        np.testing.assert_allclose(lost, 0.0, atol=1e-10)
        dropped += len(atoms) + 1 - len(here)
    assert dropped > 20


class Composition(SimpleNamespace):
    """The contract of `colk.risks.Composition`: functions that return."""


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_a_composition_of_the_squared_loss_is_the_variance(pairing):
    weight = 0.3
    general = Composition(
        n_inner=1,
        inner=lambda f, y: (f[0] - y[0]) ** 2,
        inner_slope=lambda f, y: 2.0 * (f[0] - y[0]),
        outer=lambda f, y, g: (f[0] - y[0]) ** 2 + weight * ((f[0] - y[0]) ** 2 - g[0]) ** 2,
        outer_slope_prediction=lambda f, y, g: (
            2.0 * (f[0] - y[0]) * (1.0 + 2.0 * weight * ((f[0] - y[0]) ** 2 - g[0]))
        ),
        outer_slope_inner=lambda f, y, g: -2.0 * weight * ((f[0] - y[0]) ** 2 - g[0]),
    )
    X, Y = stream(60)
    one, other = (
        made(risk, eps=0.01).learn(X, Y, pairing, 3) for risk in (general, Variance(weight))
    )
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-12)
    np.testing.assert_allclose(one.g, other.g, atol=1e-12)


def test_softmax_learns_classes():
    rng = np.random.default_rng(0)
    X = rng.random((150, 1))
    Y = np.floor(3.0 * X)
    learner = made(Mean(), 3, Softmax(), step_size=1.0, eps=0.1, gradient_bound=np.inf)
    learner.learn(X, Y, batch_size=2)
    assert np.mean(np.argmax(learner.predict(X), axis=1) == Y[:, 0]) > 0.85


def test_several_outputs_are_several_learners_where_nothing_couples_them():
    X, Y = stream(40, n_outputs=3)
    together = made(Mean(), 3, Huber(0.5), gradient_bound=np.inf).learn(X, Y, batch_size=4)
    for c in range(3):
        alone = made(Mean(), 1, Huber(0.5), gradient_bound=np.inf)
        alone.learn(X, Y[:, c : c + 1], batch_size=4)
        np.testing.assert_allclose(together.predict(X)[:, [c]], alone.predict(X), atol=1e-13)
