"""NewtonCOLK: standard deviations, forgetting, and a valid P."""

from itertools import pairwise

import numpy as np
import pytest

from colk.compressors import KOMP, Removal
from colk.errors import DivergenceError
from colk.kernels import Gaussian
from colk.learners import COLK, POLK, NewtonCOLK
from colk.losses import Huber, LogCosh, Logistic, Pinball, Quantiles, Softmax, Squared
from colk.risks import Composition, Semivariance, Variance

KERNEL = Gaussian(0.2)


def truth(X):
    return np.sin(6.0 * X[:, 0])


def samples(n, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, truth(X) + noise * rng.normal(size=n)


def orthonormal(learner, X):
    """The coordinates that `covariance` has, one row for each point."""
    atoms = learner.function.atoms
    L = np.linalg.cholesky(learner.kernel.gram(atoms))
    return np.linalg.solve(L, learner.kernel.gram(atoms, X)).T


@pytest.mark.parametrize("loss", [Squared(), Huber(2.0), LogCosh(1.0)], ids=repr)
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_intervals_cover_what_they_claim(loss, noise):
    X, y = samples(8000, noise)
    learner = NewtonCOLK(KERNEL, loss).learn(X[:3000], y[:3000])
    values, deviations = learner.predict(X[3000:], return_std=True)
    assert np.mean(np.abs(values - y[3000:]) < 1.645 * deviations) == pytest.approx(0.9, abs=0.02)


def test_intervals_are_wide_where_there_was_no_data():
    """Far away they have the prior's variance 1/λ, in units of twice that of the noise."""
    learner = NewtonCOLK(KERNEL, prior=0.05).learn(*samples(3000))
    near, far = learner.predict([[0.5], [9.0]], return_std=True)[1]
    assert near == pytest.approx(0.1, rel=0.1)
    assert far**2 == pytest.approx(near**2 * (1.0 + 2.0 / 0.05), rel=0.1)


def test_deviations_have_the_shape_of_the_values():
    X, y = samples(300)
    values, deviations = NewtonCOLK(KERNEL).learn(X, np.c_[y, 2 * y]).predict(X, return_std=True)
    assert values.shape == deviations.shape == (300, 2)
    assert deviations[:, 0].mean() < deviations[:, 1].mean()


def test_deviations_of_a_class_are_refused():
    learner = NewtonCOLK(KERNEL, Logistic()).learn([[0.0], [1.0]], [-1, 1])
    with pytest.raises(ValueError, match="Logistic"):
        learner.predict([[0.0]], return_std=True)


@pytest.mark.parametrize(
    "compressor", [Removal(10), KOMP(parsimony=1.0)], ids=["removal", "parsimony"]
)
def test_other_compressors_are_refused(compressor):
    with pytest.raises(ValueError, match="NewtonCOLK needs KOMP"):
        NewtonCOLK(KERNEL, compressor=compressor)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.2)], ids=repr)
def test_a_restart_follows_an_abrupt_change(loss):
    X, y = samples(3200)
    y[3000:] *= -1.0
    errors = []
    for restart in (True, False):
        learner = NewtonCOLK(KERNEL, loss, restart=restart).learn(X, y)
        errors.append(np.mean((learner.predict(X) + truth(X)) ** 2))
        assert learner.restarts == restart
    assert errors[0] < 0.01 < 1.0 < errors[1]


def test_a_restart_costs_nothing_where_nothing_changes():
    """The paths are the same, bit for bit, even with outliers."""
    X, y = samples(20000)
    y[::10] *= 30.0
    pair = [
        NewtonCOLK(KERNEL, Huber(0.2), restart=restart).learn(X, y) for restart in (True, False)
    ]
    assert pair[0].restarts == 0
    np.testing.assert_array_equal(pair[0].predict(X), pair[1].predict(X))


def test_forgetting_follows_a_target_that_moves():
    rng = np.random.default_rng(0)
    X = rng.random((6000, 1))
    y = np.sin(6.0 * X[:, 0] + np.arange(6000) / 1000.0) + 0.1 * rng.normal(size=6000)
    losses = [NewtonCOLK(KERNEL, forgetting=rate).learn(X, y).prequential_loss for rate in (0.9, 1)]
    assert losses[0] < 0.2 * losses[1]


@pytest.mark.parametrize("speed", [0.0, 0.3, 3.0])
def test_experts_are_as_good_as_the_better(speed):
    """A wave that does not move, moves slowly, and moves fast."""
    rng = np.random.default_rng(4)
    X = rng.random((4000, 1))
    phases = 6.0 * X[:, 0] + speed * np.arange(4000) / 100.0
    y = np.sin(phases) + 0.3 * rng.normal(size=4000)
    auto = NewtonCOLK(KERNEL, forgetting="auto").learn(X, y)
    fixed = [NewtonCOLK(KERNEL, forgetting=rate).learn(X, y) for rate in (1.0, 0.95, 0.8)]
    first = POLK(KERNEL, step_size=0.5, averaging=None, compressor=KOMP(eps=0.05)).learn(X, y)
    best = min(learner.prequential_loss for learner in [first, *fixed])
    assert auto.prequential_loss < 1.05 * best
    assert (auto.experts["second"] < 0.2) == (speed == 3.0)


@pytest.mark.parametrize("forgetting", [1.0, "auto"])
def test_it_learns_on_with_more_features_and_outputs(forgetting):
    X, y = samples(300)
    learner = NewtonCOLK(KERNEL, Softmax(), n_outputs=2, forgetting=forgetting)
    learner.learn(X, (y > 0.0).astype(float))
    before = learner.predict(X)
    learner.grow(n_features=2, n_outputs=3)
    wide = np.c_[X, np.zeros(300)]
    np.testing.assert_allclose(learner.predict(wide), np.c_[before, np.zeros(300)], atol=1e-12)
    labels = (y > 0.0).astype(int) + (y > 0.5)
    learner.learn(wide, labels)
    assert np.mean(learner.predict(wide).argmax(axis=1) == labels) > 0.8


def test_a_rate_of_forgetting_is_a_number_or_auto():
    with pytest.raises(ValueError, match="got 'adaptive'"):
        NewtonCOLK(KERNEL, forgetting="adaptive")


def test_what_is_not_visited_is_not_forgotten():
    """One region has only the first 10⁴ samples: its variance stays, and no other explodes."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.random((1000, 1)), 4.0 + rng.random((10000, 1))])
    y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
    learner = NewtonCOLK(KERNEL, forgetting=0.95).learn(X[:1000], y[:1000])
    probe = np.linspace(0.1, 0.9, 20)[:, None]
    before = learner.predict(probe)
    learner.learn(X[1000:], y[1000:])
    np.testing.assert_allclose(learner.predict(probe), before, atol=0.02)
    assert np.linalg.eigvalsh(learner.covariance)[-1] <= 1.0 / learner.prior * (1.0 + 1e-9)


@pytest.mark.parametrize("max_atoms", [20, 61])
def test_curvature_survives_appends_and_drops(max_atoms):
    """P stays positive definite and below the prior, and the factor that of the atoms."""
    rng = np.random.default_rng(2)
    X = rng.random((5000, 2))
    y = np.sin(8.0 * X).sum(axis=1) + 0.1 * rng.normal(size=5000)
    rule = KOMP(eps=0.02, max_atoms=max_atoms)
    learner = NewtonCOLK(KERNEL, compressor=rule, trace=True).learn(X, y)
    assert learner.trace.dropped.sum() > 100
    assert learner._stream.dictionary.drift() < 1e-9
    values = np.linalg.eigvalsh(learner.covariance)
    assert values[0] > 0.0
    assert values[-1] <= 1.0 / learner.prior * (1.0 + 1e-9)


def test_curvature_is_that_of_the_samples():
    """If the dictionary does not change, P equals the inverse that is computed directly."""
    learner = NewtonCOLK(KERNEL, compressor=KOMP(eps=1e-3)).learn(*samples(3000))
    start, atoms = learner.covariance, learner.function.atoms
    X = atoms[np.random.default_rng(3).integers(len(atoms), size=30000)]
    learner.learn(X, truth(X))
    np.testing.assert_array_equal(learner.function.atoms, atoms)
    Z = orthonormal(learner, X)
    expected = np.linalg.inv(np.linalg.inv(start) + 2.0 * Z.T @ Z)
    error = np.linalg.norm(learner.covariance - expected, 2) / np.linalg.norm(expected, 2)
    assert error < 1e-8


def test_the_certificate_bounds_what_a_step_loses():
    X, y = samples(3000)
    trace = NewtonCOLK(KERNEL, compressor=KOMP(eps=0.05), trace=True).learn(X, y).trace
    assert 0.0 < trace.error.max() <= 0.05


def test_one_pass_beats_one_of_the_first_order():
    X, y = samples(4000, noise=0.3)
    errors = [
        np.mean((learner.learn(X, y).predict(X) - truth(X)) ** 2)
        for learner in (NewtonCOLK(KERNEL), POLK(KERNEL))
    ]
    assert errors[0] < 0.7 * errors[1]


@pytest.mark.parametrize("level", [0.1, 0.8])
def test_one_level_of_quantiles_is_its_pinball_loss(level):
    X, y = samples(300, noise=0.3)
    one = NewtonCOLK(KERNEL, Quantiles((level,)), n_outputs=1).learn(X, y)
    other = NewtonCOLK(KERNEL, Pinball(level)).learn(X, y)
    np.testing.assert_allclose(one.predict(X)[:, 0], other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kind", [COLK, NewtonCOLK])
def test_several_quantiles_of_one_target(kind):
    """One prediction for each level, though a target is one number."""
    X, y = samples(4000, noise=0.3)
    levels = (0.1, 0.5, 0.9)
    learner = kind(KERNEL, Quantiles(levels), n_outputs=3).learn(X, y)
    assert learner.predict(X).shape == (4000, 3)
    found = (y[:, None] <= learner.predict(X)).mean(axis=0)
    np.testing.assert_allclose(found, levels, atol=0.05)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"batch_size": 6},
        {"prior": "auto"},
        {"forgetting": "auto"},
        {"forgetting": 0.99},
        {"risk": Variance(0.01), "pairing": "same"},  # the tracker remembers f, and atoms that left
    ],
    ids=str,
)
def test_looking_ahead_changes_no_bit(settings):
    rng = np.random.default_rng(0)
    X, weight = rng.random((1200, 4)), rng.integers(3, size=1200) / 2.0
    y = np.sin(5 * X).sum(axis=1) + 0.1 * rng.normal(size=1200)
    rule = KOMP(eps=1e-3, max_atoms=150)
    whole, cut, single = (NewtonCOLK(Gaussian(0.3), compressor=rule, **settings) for _ in range(3))
    whole.learn(X, y, sample_weight=weight)
    for learner, cuts in ((cut, [*range(0, 1200, 13), 1200]), (single, range(1201))):
        for start, stop in pairwise(cuts):
            learner.learn(X[start:stop], y[start:stop], sample_weight=weight[start:stop])
        np.testing.assert_array_equal(learner.function.weights, whole.function.weights)
        np.testing.assert_array_equal(learner.covariance, whole.covariance)
        np.testing.assert_array_equal(learner.inner_estimate, whole.inner_estimate)
    assert whole.n_atoms == 150


def test_a_step_that_was_not_made_leaves_nothing_looked_at_ahead():
    """The next call has other samples than those after the rejected one."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 4))
    y = np.sin(5 * X).sum(axis=1)
    rule = KOMP(eps=0.01, max_atoms=150)
    clean, marked = (NewtonCOLK(Gaussian(0.3), compressor=rule) for _ in range(2))
    clean.learn(X, y)
    marked.learn(X[:500], y[:500])
    for start in range(500, 600, 10):
        ahead = np.concatenate([[1e120], y[500:520]])  # of which none is learned
        with pytest.raises(DivergenceError):
            marked.learn(X[499:520], ahead)
        marked.learn(X[start : start + 10], y[start : start + 10])
    assert marked.n_atoms == 150
    np.testing.assert_array_equal(marked.function.weights, clean.function.weights)
    np.testing.assert_array_equal(marked.covariance, clean.covariance)


VARIANCE_OF_SQUARES = Composition(
    inner=lambda f, y: (f[0] - y[0]) ** 2,
    inner_slope=lambda f, y: 2.0 * (f[0] - y[0]),
    outer=lambda f, y, g: (f[0] - y[0]) ** 2 + 0.1 * ((f[0] - y[0]) ** 2 - g[0]) ** 2,
    outer_slope_prediction=lambda f, y, g: (
        2.0 * (f[0] - y[0]) * (1.0 + 0.2 * ((f[0] - y[0]) ** 2 - g[0]))
    ),
    outer_slope_inner=lambda f, y, g: -0.2 * ((f[0] - y[0]) ** 2 - g[0]),
)


@pytest.mark.each_pair
@pytest.mark.parametrize("pairing", ["independent", "overlap"])
@pytest.mark.parametrize("risk", [Variance(0.5), Semivariance(0.5), VARIANCE_OF_SQUARES])
@pytest.mark.parametrize("loss", [Squared(), Huber()], ids=str)
def test_a_dispersion_does_not_run_away(loss, risk, pairing):
    """Half of the steps at ξ lead up its loss: without curvature f ended at a distance of 100."""
    rng = np.random.default_rng(0)
    X = rng.random((2000, 2))
    truth = np.sin(6 * X).sum(axis=1)
    y = truth + 0.3 * rng.standard_t(4, size=2000)
    learner = NewtonCOLK(Gaussian(0.2), loss, risk, pairing=pairing).learn(X, y)
    assert np.mean((learner.predict(X) - truth) ** 2) < 0.5 * np.var(truth)
