"""Learners in a metric: to the bit those of points that are multiplied by it beforehand."""

import pickle

import numpy as np
import pytest

import colk
from colk import reference, rl
from colk.compressors import KOMP
from colk.kernels import Gaussian, Laplacian, Mahalanobis, Matern, Polynomial
from colk.learners import (
    BSGD,
    COLK,
    NORMA,
    POLK,
    CompositionalBSGD,
    DoublySGD,
    HedgedCOLK,
    HedgedNewtonCOLK,
    NewtonCOLK,
    QuantileCOLK,
    RandomFeatureSGD,
)
from colk.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Quantiles, Squared
from colk.risks import CVaR, Mean, Variance
from colk.rkhs import minimize, polish, polish_under_risk, predict_left_out
from colk.rkhs.polishing.ranking import _Folds, polish_auc
from colk.theory import Constants

RNG = np.random.default_rng(0)
P = 5
WIDE, SQUARE = RNG.normal(size=(P, 3)) / 2.0, RNG.normal(size=(P, P)) / 2.0
X = RNG.normal(size=(300, P))
Y = np.sin(X @ WIDE).sum(axis=1) + 0.1 * RNG.normal(size=300)
METRICS = pytest.mark.parametrize("metric", [WIDE, SQUARE], ids=["wide", "square"])

MAKERS = {
    "COLK": lambda k: COLK(k, Huber(1.0)),
    "COLK of a risk": lambda k: COLK(k, Huber(1.0), Variance(0.1), compressor=KOMP(fraction=0.1)),
    "COLK in batches": lambda k: COLK(k, batch_size=4),
    "POLK": POLK,
    "NewtonCOLK": lambda k: NewtonCOLK(k, Huber(1.0), prior="auto"),
    "NewtonCOLK of experts": lambda k: NewtonCOLK(k, forgetting="auto"),
    "HedgedCOLK": lambda k: HedgedCOLK(k, Huber(1.0), CVaR(0.2)),
    "HedgedNewtonCOLK": lambda k: HedgedNewtonCOLK(k, Huber(1.0), CVaR(0.2)),
    "QuantileCOLK": lambda k: QuantileCOLK(k, Quantiles((0.1, 0.9))),
    "NORMA": lambda k: NORMA(k, EpsilonInsensitive(0.1), max_atoms=30, nu=0.2),
    "BSGD": lambda k: BSGD(k, Hinge(), max_atoms=20),
    "CompositionalBSGD": lambda k: CompositionalBSGD(
        k, risk=Variance(0.1), max_atoms=20, maintenance="projection"
    ),
}


def both(make, kernel, metric, n=200):
    """A learner in the metric that has learned the first rows, and one of points in the metric."""
    in_metric = Mahalanobis(kernel, metric)
    inside, beside = make(in_metric), make(kernel)
    targets = np.sign(Y) if isinstance(inside.loss, Hinge | Logistic) else Y
    inside.learn(X[:n], targets[:n])
    beside.learn(in_metric.points(X)[:n], targets[:n])
    return inside, beside, in_metric.points(X), targets


@METRICS
@pytest.mark.parametrize("name", MAKERS)
def test_it_is_that_of_points_times_the_metric(name, metric):
    inside, beside, Z, y = both(MAKERS[name], Matern(1.5, 2.5), metric, n=100)
    for x, target in zip(X[100:150], y[100:150], strict=True):
        inside.learn_one(x, target)
    for x, target in zip(X[150:200].tolist(), y[150:200].tolist(), strict=True):
        inside.learn_one(x, target)
    inside = pickle.loads(pickle.dumps(inside))
    inside.learn(X[200:], y[200:])
    beside.learn(Z[100:], y[100:])
    assert (inside.predict(X) == beside.predict(Z)).all()
    assert (inside.function.atoms == beside.function.atoms).all()
    assert (inside.function(X) == beside.function(Z)).all()
    assert inside.n_features == inside.function.n_features == P
    assert inside.function.atoms.shape[1] == metric.shape[1]
    assert inside.function.kernel == inside.kernel


def test_merging_atoms_needs_a_radial_kernel_in_the_metric():
    inside, beside, Z, _ = both(lambda k: BSGD(k, max_atoms=20), Gaussian(1.0), WIDE)
    assert (inside.predict(X) == beside.predict(Z)).all()
    with pytest.raises(TypeError, match="merging needs a radial kernel; Laplacian"):
        BSGD(Mahalanobis(Laplacian(1.0), WIDE))


def test_standard_deviations():
    inside, beside, Z, _ = both(NewtonCOLK, Gaussian(1.0), SQUARE)
    for found, expected in zip(
        inside.predict(X, return_std=True), beside.predict(Z, return_std=True), strict=True
    ):
        assert (found == expected).all()


@METRICS
def test_the_reference_multiplies_in_every_step(metric):
    settings = {"step_size": 0.2, "tracking_rate": 0.1, "regularization": 0.01}
    terms = Mahalanobis(Gaussian(1.0), metric), Huber(1.0), Variance(0.2)
    learner = COLK(
        *terms, **settings, compressor=KOMP(eps=0.05), averaging=None, gradient_bound=3.0
    )
    twin = reference.COLK(*terms, P, 1, **settings, eps=0.05, gradient_bound=3.0)
    learner.learn(X, Y)
    twin.learn(X, Y[:, None])
    assert learner.n_atoms == len(twin.atoms) > 5
    np.testing.assert_allclose(learner.predict(X), twin.predict(X)[:, 0], rtol=1e-9, atol=1e-9)


def test_random_features_have_frequencies_of_the_metric():
    kernel, Z = Mahalanobis(Gaussian(1.0), WIDE), X @ WIDE
    for make in (DoublySGD, RandomFeatureSGD):
        inside, beside = make(kernel).learn(X, Y), make(Gaussian(1.0)).learn(Z, Y)
        np.testing.assert_allclose(inside.predict(X), beside.predict(Z), rtol=1e-9, atol=1e-9)


def test_more_features_need_a_metric_with_more_rows():
    kernel = Mahalanobis(Gaussian(1.0), WIDE)
    learner = COLK(kernel, batch_size=2).learn(X[:151], Y[:151])
    before = learner.predict(X)
    with pytest.raises(ValueError, match="6 features, expected 5"):
        learner.grow(P + 1, 1)
    assert (learner.predict(X) == before).all()
    wider = np.zeros((P + 1, 4))
    wider[:P, :3] = WIDE
    wider[P, 3] = 0.5
    learner.grow(P + 1, 1, kernel.replace(metric=wider))
    more = np.column_stack([X, np.zeros(len(X))])
    np.testing.assert_allclose(learner.predict(more), before, rtol=1e-12)
    assert learner.function.atoms.shape[1] == 4
    assert learner.learn(more + 0.1, Y).n_features == P + 1


def test_drift_has_no_features():
    moved = np.concatenate([X, X + 3.0])
    learner = COLK(Mahalanobis(Gaussian(1.0), WIDE)).watch_drift()
    for _ in range(5):
        learner.learn(X, Y)
    learner.learn(np.tile(moved[300:], (5, 1)), np.tile(Y + 30.0, 5))
    assert learner.drifts
    assert all(event.features == {} for event in learner.drifts)


# -- after learning -------------------------------------------------------------------------------


@METRICS
def test_polishing(metric):
    inside, beside, Z, _ = both(MAKERS["COLK"], Gaussian(1.0), metric)
    f, g = inside.function, beside.function
    found = polish(f, X, Y, Huber(1.0), regularization=1e-5, choose=True)
    expected = polish(g, Z, Y, Huber(1.0), regularization=1e-5, choose=True)
    assert found.value == expected.value
    assert (found.function(X) == expected.function(Z)).all()
    left_out = predict_left_out(found.function, X, Y, Huber(1.0), 1e-5)
    assert (left_out == predict_left_out(expected.function, Z, Y, Huber(1.0), 1e-5)).all()
    terms = Huber(1.0), CVaR(0.2), 1e-5
    risky, _ = polish_under_risk(found.function, X, Y, *terms)
    assert risky.value == polish_under_risk(expected.function, Z, Y, *terms)[0].value


def test_polishing_of_ranks_leaves_out_atoms():
    inside, beside, Z, signs = both(lambda k: COLK(k, Logistic()), Gaussian(1.0), SQUARE)
    found = [
        polish_auc(polish(f, rows, signs, Logistic()), rows, signs, Logistic(), 1e-6, path=False)
        for f, rows in ((inside.function, X), (beside.function, Z))
    ]
    assert found[0].value == found[1].value
    folds = [
        _Folds(f, rows, signs, Logistic(), np.full(len(X), 1.0 / len(X)))
        for f, rows in ((inside.function, X), (beside.function, Z))
    ]
    sizes = [[len(span.atoms) for _, span in each.parts] for each in folds]
    assert sizes[0] == sizes[1]
    assert max(sizes[0]) < inside.n_atoms


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2)], ids=repr)
def test_optima_and_constants(kernel):
    in_metric = Mahalanobis(kernel, SQUARE)
    Z = in_metric.points(X)
    for atoms in (None, X[:20]):
        inside = minimize(X, Y, in_metric, Squared(), Mean(), regularization=1e-3, atoms=atoms)
        beside = minimize(
            Z, Y, kernel, Squared(), Mean(), regularization=1e-3,
            atoms=None if atoms is None else Z[:20],
        )  # fmt: skip
        assert inside.value == beside.value
        assert (inside.function(X) == beside.function(Z)).all()
    found, expected = (
        Constants.estimate(rows, Y, k, Squared(), Variance(0.1), result.function)
        for rows, k, result in ((X, in_metric, inside), (Z, kernel, beside))
    )
    assert found.smoothness == expected.smoothness
    assert found.kernel_bound == expected.kernel_bound


@METRICS
def test_merging_learners_and_functions(metric):
    inside, beside, Z, _ = both(NewtonCOLK, Gaussian(1.0), metric)
    other, beside_other, _, _ = both(NewtonCOLK, Gaussian(1.0), metric, n=90)
    for settings in ({}, {"max_atoms": 9}, {"eps": 0.1}):
        found = colk.merge([inside, other], **settings)
        expected = colk.merge([beside, beside_other], **settings)
        assert found.error == expected.error
        assert (found.model.predict(X) == expected.model.predict(Z)).all()
        assert found.model.n_features == P
    found = colk.merge([inside.function, other.function], eps=0.1)
    expected = colk.merge([beside.function, beside_other.function], eps=0.1)
    assert found.error == expected.error
    assert (found.model(X) == expected.model(Z)).all()
    with pytest.raises(ValueError, match="learners to merge differ in kernel"):
        colk.merge([inside, both(NewtonCOLK, Gaussian(1.0), 2.0 * metric)[0]])


def test_values_of_policies():
    kernel = Mahalanobis(2.0 * Gaussian(1.0), SQUARE)
    Z = kernel.points(X)
    for make in (lambda k: rl.PolicyEvaluator(k, 0.9), lambda k: rl.KernelLSTD(k, 0.9)):
        inside = make(kernel).learn(X[:-1], Y[:-1], X[1:])
        beside = make(kernel.of_atoms).learn(Z[:-1], Y[:-1], Z[1:])
        assert (inside.value(X) == beside.value(Z)).all()
        errors = [
            v.bellman_error(rows[:-1], Y[:-1], rows[1:]) for v, rows in ((inside, X), (beside, Z))
        ]
        assert errors[0] == errors[1]
    solved = [
        rl.kernel_lstd(k, 0.9, rows[:-1], Y[:-1], rows[1:], n_atoms=20)(rows)
        for k, rows in ((kernel, X), (kernel.of_atoms, Z))
    ]
    assert (solved[0] == solved[1]).all()
