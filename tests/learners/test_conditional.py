"""Conditional inner expectations: the recursion by brute force, and what the method needs."""

import pickle

import numpy as np
import pytest

from colk._engine.user_functions import compilation
from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian
from colk.learners import ConditionalCOLK
from colk.risks import Composition


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(compilation, "_has_numba", lambda: False)


def moment(f, y):
    return f[0] * y[0] + y[2], f[1] - y[1]


def moment_slope(f, y):
    return (y[0], 0.0), (0.0, 1.0)


def squares(f, y, g):
    return 0.5 * (g[0] ** 2 + g[1] ** 2)


def nothing(f, y, g):
    return 0.0, 0.0


def identity(f, y, g):
    return g


def near(f, y, g):
    return 0.5 * ((f[0] - g[0]) ** 2 + (f[1] - g[1] + y[2]) ** 2)


def near_by_f(f, y, g):
    return f[0] - g[0], f[1] - g[1] + y[2]


def near_by_g(f, y, g):
    return g[0] - f[0], g[1] - f[1] - y[2]


SIZES = {"n_inner": 2, "n_outputs": 2, "n_targets": 3}
INSTRUMENT = Composition(moment, moment_slope, squares, nothing, identity, **SIZES)
BELLMAN = Composition(moment, moment_slope, near, near_by_f, near_by_g, **SIZES)


@pytest.mark.parametrize("risk", [INSTRUMENT, BELLMAN], ids=["instrument", "bellman"])
def test_equals_the_recursion_by_brute_force(risk):
    """f = Σ a κ(u, ·) and z = Σ b κ_θ(θ, ·), with every sample kept."""
    rng, n, alpha, beta, decay = np.random.default_rng(0), 40, 0.1, 0.3, 0.01
    thetas, X, Y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), rng.normal(size=(n, 3))
    apart = risk is INSTRUMENT
    kernel, other = Laplacian(0.7), Laplacian(0.5) if apart else None  # no point is redundant
    learner = ConditionalCOLK(
        kernel, risk, other, step_size=alpha, tracking_rate=beta, regularization=decay,
        compressor=KOMP(eps=0.0), averaging=None,
    ).learn(thetas, X, Y)  # fmt: skip
    places, a, b = np.empty((0, 1)), np.empty((0, 2)), np.empty((0, 2))
    of_z = other or kernel
    for t, (theta, x, y) in enumerate(zip(thetas[:, None], X[:, None], Y, strict=True)):
        g = (of_z.gram(theta, thetas[:t]) @ b)[0]
        f, at_theta = (kernel.gram(point, places) @ a for point in (x, theta))
        inner = np.array(moment(f[0], y))
        outer = np.array(risk.functions[4](at_theta[0], y, g))
        here = np.array(risk.functions[3](at_theta[0], y, g))
        places = np.vstack([places, x, theta])
        step = [-alpha * outer @ np.array(moment_slope(f[0], y)), -alpha * here]
        a = np.vstack([(1.0 - alpha * decay) * a, *step])
        b = np.vstack([b, beta * (inner - g)])
    points = rng.normal(size=(20, 1))
    np.testing.assert_allclose(learner.predict(points), kernel.gram(points, places) @ a, atol=1e-8)
    np.testing.assert_allclose(learner.tracked(points), of_z.gram(points, thetas) @ b, atol=1e-8)
    assert learner.steps == n


def test_copies_continue():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 1)), rng.normal(size=(60, 1)), rng.normal(size=(60, 3))
    whole = ConditionalCOLK(Gaussian(0.7), BELLMAN).learn(*data)
    half = ConditionalCOLK(Gaussian(0.7), BELLMAN).learn(*(each[:30] for each in data))
    again = pickle.loads(pickle.dumps(half)).learn(*(each[30:] for each in data))
    np.testing.assert_array_equal(again.predict(data[1]), whole.predict(data[1]))


def test_what_it_needs():
    one, two, y = np.zeros((3, 1)), np.zeros((3, 2)), np.ones((3, 3))
    with pytest.raises(ValueError, match="a condition is not a point of f: leave the"):
        ConditionalCOLK(Gaussian(1.0), BELLMAN, Gaussian(1.0)).learn(one, one, y)
    with pytest.raises(ValueError, match="pass a condition_kernel"):
        ConditionalCOLK(Gaussian(1.0), BELLMAN).learn(two, one, y)
    with pytest.raises(ValueError, match="conditions has 2 rows, X has 3"):
        ConditionalCOLK(Gaussian(1.0), BELLMAN).learn(one[:2], one, y)
    with pytest.raises(ValueError, match="tracking_rate must lie in"):
        ConditionalCOLK(Gaussian(1.0), BELLMAN, tracking_rate=2.0)
