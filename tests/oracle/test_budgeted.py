"""The budgeted methods equal NumPy versions and obey laws that relate them."""

import budgeted_twin as budgeted
import numpy as np
import pytest

from colk.compressors import KOMP
from colk.kernels import Gaussian, Matern, Polynomial
from colk.learners import BSGD, NORMA, NPBSGD, POLK, CompositionalBSGD
from colk.losses import EpsilonInsensitive, Hinge, Softmax, Squared
from colk.risks import Variance
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import PowerDecay

KERNEL = Gaussian(0.5)


def regression(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)


def assert_same_function(f, atoms, weights, kernel=KERNEL):
    twin = KernelExpansion(kernel, atoms, weights[:, 0])
    assert f.distance(twin) <= 1e-6 * (1.0 + twin.norm())


@pytest.mark.parametrize("rule", ["removal", "projection", "merging"])
@pytest.mark.parametrize("kernel", [KERNEL, 1.5 * Matern(1.0, 1.5)])
def test_bsgd_is_its_twin(rule, kernel):
    X, y = regression()
    loss = EpsilonInsensitive(0.05)
    learner = BSGD(kernel, loss, 10, rule, step_size=0.3, regularization=0.01, trace=True)
    learner.learn(X, y)
    twin = budgeted.kernel_sgd(kernel, loss, X, y, lambda t: 0.3, 0.01, 10, getattr(budgeted, rule))
    assert learner.n_atoms == 10
    assert_same_function(learner.function, *twin[:2], kernel)
    np.testing.assert_allclose(learner.trace.error, twin[2], atol=1e-6)
    assert learner.error_spent == pytest.approx(twin[2].sum(), rel=1e-6)


def test_norma_is_its_twin():
    X, y = regression()
    learner = NORMA(
        KERNEL, Squared(), 15, step_size=PowerDecay(0.2, 0.5), regularization=0.1
    ).learn(X, y)
    atoms, weights, _ = budgeted.kernel_sgd(
        KERNEL, Squared(), X, y, PowerDecay(0.2, 0.5).at, 0.1, 15, budgeted.truncation
    )
    np.testing.assert_array_equal(learner.function.atoms, X[-15:])
    assert_same_function(learner.function, atoms, weights)


def test_without_a_budget_all_are_kernel_sgd():
    X, y = regression()
    y = np.where(y > 0.0, 1.0, -1.0)
    common = {"step_size": "pegasos", "regularization": 0.02}
    bsgd = [
        BSGD(KERNEL, Hinge(), None, rule, **common).learn(X, y).function
        for rule in ("removal", "projection", "merging")
    ]
    nonparametric = NPBSGD(KERNEL, Hinge(), None, **common).learn(X, y).function
    decay = {"step_size": PowerDecay(50.0, 1.0), "regularization": 0.02}
    norma = NORMA(KERNEL, Hinge(), None, **decay).learn(X, y).function
    plain = budgeted.kernel_sgd(KERNEL, Hinge(), X, y, lambda t: 50.0 / (t + 1), 0.02)
    for f in (*bsgd, nonparametric, norma):
        assert_same_function(f, *plain[:2])


def test_fixed_coin_is_bsgd():
    X, y = regression()
    common = {"step_size": 0.2, "regularization": 0.02}
    for rule in ("removal", "projection"):
        fixed = NPBSGD(KERNEL, None, 12, 1.0, len(X), rule, **common).learn(X, y)
        bsgd = BSGD(KERNEL, None, 12, rule, **common).learn(X, y)
        np.testing.assert_array_equal(fixed.predict(X), bsgd.predict(X))


def test_the_coin_grows_the_budget_as_often_as_it_should():
    X, y = regression(n=2000)
    growth = 0.8
    learner = NPBSGD(
        Gaussian(0.05), Squared(), 10, growth, len(X), step_size=0.1, regularization=0.01
    )
    learner.learn(X, y)
    t = np.arange(11, len(X) + 1)
    chance = np.maximum(1.0 - growth * len(X) / t, 0.0)
    deviation = np.sqrt(np.sum(chance * (1.0 - chance)))
    assert abs(learner.n_atoms - 10 - chance.sum()) < 4.0 * deviation
    other = NPBSGD(
        Gaussian(0.05), Squared(), 10, growth, len(X), step_size=0.1, regularization=0.01, seed=1
    )
    assert other.learn(X, y).n_atoms != learner.n_atoms


def test_projection_never_loses_more_than_removal():
    X, y = regression(200)
    learner = BSGD(KERNEL, Squared(), 12, "projection", step_size=0.2, regularization=0.01)
    compared = 0
    for x, target in zip(X, y, strict=True):
        before, spent = learner.n_atoms, learner.error_spent
        f = learner.function if before else None
        learner.learn_one(x, target)
        if before == 12:
            slope = 2.0 * (f(x[None])[0] - target)
            atoms = np.vstack([f.atoms, x])
            weights = np.append((1.0 - 0.2 * 0.01) * f.weights, -0.2 * slope)
            removal = np.sqrt((weights**2 * KERNEL.diagonal(atoms)).min())
            assert learner.error_spent - spent <= removal * (1.0 + 1e-9)
            compared += 1
    assert compared > 100


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kernel", [Gaussian(0.7), 2.0 * Gaussian(0.5) + Matern(0.9)])
def test_merging_is_the_best_atom_on_the_line(seed, kernel):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2, 2)), rng.normal(size=2)
    common = {"step_size": 0.2, "regularization": 0.0}
    whole = BSGD(kernel, None, None, "removal", **common).learn(X, y).function
    learner = BSGD(kernel, None, 1, "merging", trace=True, **common).learn(X, y)
    p = int(np.argmin(np.abs(whole.weights)))
    lost, *_ = budgeted.best_merger(kernel, whole.atoms, whole.weights[:, None], p, 1 - p)
    assert learner.n_atoms == 1
    error = learner.function.distance(whole)
    assert error == pytest.approx(learner.trace.error[-1], abs=1e-7)
    assert error**2 <= lost + 1e-9


def test_merging_several_outputs_beats_a_grid():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2, 2))
    common = {"step_size": 0.5, "regularization": 0.0, "n_outputs": 3}
    whole = BSGD(KERNEL, Softmax(), None, "removal", **common).learn(X, [0, 2]).function
    merged = BSGD(KERNEL, Softmax(), 1, "merging", **common).learn(X, [0, 2]).function
    best = np.inf
    for h in np.linspace(-1.0, 1.0, 2001):
        z = h * whole.atoms[:1] + (1.0 - h) * whole.atoms[1:]
        one = KernelExpansion(KERNEL, z, KERNEL.gram(z, whole.atoms) @ whole.weights)
        best = min(best, one.distance(whole))
    assert merged.distance(whole) <= best + 1e-7


@pytest.mark.parametrize("rule", ["removal", "projection", "merging"])
def test_equal_points_share_an_atom(rule):
    X = np.array([[0.0, 1.0], [1.0, 0.0]] * 10)
    learner = BSGD(KERNEL, Squared(), 5, rule, step_size=0.1).learn(X, X[:, 0])
    assert learner.n_atoms == 2
    assert learner.error_spent <= 1e-4  # projection charges the novelty floor


def test_projection_is_komp_on_a_budget():
    X, y = regression()
    common = {"step_size": 0.2, "regularization": 0.01, "averaging": None}
    budget = BSGD(KERNEL, Squared(), 12, "projection", **common).learn(X, y)
    komp = POLK(KERNEL, Squared(), compressor=KOMP(max_atoms=12), **common).learn(X, y)
    np.testing.assert_allclose(budget.predict(X), komp.predict(X), atol=1e-10)


@pytest.mark.parametrize("tracker", ["momentum", "average"])
@pytest.mark.parametrize("rule", ["removal", "projection", "merging"])
def test_tracker_sees_the_exact_previous_function(rule, tracker):
    """With β = 0+ momentum follows inner(f_t) − inner(f_{t−1}): any error in f_{t−1} stays in g."""
    X, y = regression(60)
    learner = CompositionalBSGD(
        KERNEL,
        Squared(),
        Variance(0.2),
        8,
        rule,
        step_size=0.1,
        tracking_rate=0.25,
        regularization=0.01,
        tracker=tracker,
    )
    zero = KernelExpansion.zero(KERNEL, 2)
    previous = f = zero
    g = None
    for theta in range(0, len(X), 2):
        xi = theta + 1
        old, new = ((h(X[xi : xi + 1])[0] - y[xi]) ** 2 for h in (previous, f))
        if g is None:
            g = new
        elif tracker == "momentum":
            g = 0.75 * (g - old) + new
        else:
            g = 0.75 * g + 0.25 * new
        learner.learn(X[theta : xi + 1], y[theta : xi + 1])
        assert learner.inner_estimate[0] == pytest.approx(g, rel=1e-9)
        previous, f = f, learner.function


def test_merging_needs_a_radial_kernel():
    with pytest.raises(TypeError, match="merging needs a radial kernel; Polynomial is not one"):
        BSGD(Polynomial(2), maintenance="merging")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BSGD(KERNEL, max_atoms=0), ValueError, "max_atoms must be at least 1"),
        (lambda: BSGD(KERNEL, maintenance="none"), ValueError, "maintenance must be one of"),
        (lambda: NPBSGD(KERNEL, maintenance="merging"), ValueError, "maintenance must be one of"),
        (lambda: BSGD(KERNEL, step_size="fast"), ValueError, "a rate or 'pegasos'"),
        (
            lambda: BSGD(KERNEL, step_size="pegasos", regularization=0.0),
            ValueError,
            "set regularization > 0",
        ),
        (lambda: NORMA(KERNEL, step_size=0.5, regularization=3.0), ValueError, "must be below 1"),
        (lambda: NPBSGD(KERNEL, growth=0.0), ValueError, "growth must be"),
        (lambda: NPBSGD(KERNEL, horizon=0.5), TypeError, "horizon must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
