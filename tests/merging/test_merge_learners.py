"""Newton learners are added in information form, and continue to learn."""

import copy

import mpmath
import numpy as np
import pytest

import colk
from colk.compressors import KOMP
from colk.estimators import COLKRegressor
from colk.kernels import Gaussian, Laplacian, Matern
from colk.learners import COLK, POLK, NewtonCOLK, RandomFeatureSGD
from colk.losses import Huber, Logistic, Softmax, Squared
from colk.risks import CVaR

RNG = np.random.default_rng(0)
X = RNG.random((90, 2))
Y = np.stack([np.sin(5 * X[:, 0]), X[:, 1] ** 2], axis=1) + 0.1 * RNG.normal(size=(90, 2))
# The curvature of (f − y)² is 2, so a prior of 0.3 is a ridge of 0.15.
PRIOR, RIDGE = 0.3, 0.15


def learner(kernel=None, compressor=None, **settings):
    rule = KOMP(eps=0.0) if compressor is None else compressor
    terms = {"loss": Squared(), "prior": PRIOR, **settings}
    return NewtonCOLK(kernel or Laplacian(1.0), compressor=rule, **terms)


def ridge(kernel, X, Y, counts=None):
    """Kernel ridge regression at the points, each repeated this many times."""
    K, counts = kernel.gram(X), np.ones(len(X)) if counts is None else counts
    return K @ np.linalg.solve(K + RIDGE * np.diag(1.0 / counts), Y)


@pytest.mark.parametrize("kernel", [Laplacian(1.0), Matern(0.8), Gaussian(0.05)])
@pytest.mark.parametrize("shards", [1, 2, 7])
def test_squares_without_compression_are_kernel_ridge_regression(kernel, shards):
    order = np.argsort(X[:, 0])  # the shards have nothing in common
    parts = [learner(kernel).learn(X[rows], Y[rows]) for rows in np.array_split(order, shards)]
    merged = colk.merge(parts)
    np.testing.assert_allclose(merged.model.predict(X), ridge(kernel, X, Y), atol=1e-8)
    assert merged.error == 0.0
    assert merged.model.steps == 90


def test_a_weight_counts_samples():
    parts = [learner().learn(X[:40], Y[:40]), learner().learn(X[40:], Y[40:])]
    merged = colk.merge(parts, [2.0, 0.5]).model
    counts = np.repeat([2.0, 0.5], [40, 50])
    np.testing.assert_allclose(merged.predict(X), ridge(Laplacian(1.0), X, Y, counts), atol=1e-8)
    assert merged.loss_sums[1] == 2.0 * 40 + 0.5 * 50


def test_a_merged_learner_goes_on_learning():
    parts = [learner().learn(X[:30], Y[:30]), learner().learn(X[30:60], Y[30:60])]
    merged = colk.merge(parts).model.learn(X[60:], Y[60:])
    np.testing.assert_allclose(merged.predict(X), ridge(Laplacian(1.0), X, Y), atol=1e-8)
    one = learner().learn(X, Y)
    np.testing.assert_allclose(
        merged.predict(X[:5] + 0.2, return_std=True)[1],
        one.predict(X[:5] + 0.2, return_std=True)[1],
        rtol=0.3,
    )


def test_a_base_is_counted_once():
    base = learner().learn(X[:30], Y[:30])
    parts = [copy.deepcopy(base).learn(X[rows], Y[rows]) for rows in (slice(30, 60), slice(60, 90))]
    merged = colk.merge(parts, base=base).model
    np.testing.assert_allclose(merged.predict(X), ridge(Laplacian(1.0), X, Y), atol=1e-8)
    assert merged.steps == 90
    assert merged.loss_sums[1] == 90.0
    twice = colk.merge(parts).model
    assert np.abs(twice.predict(X) - merged.predict(X)).max() > 1e-3


def test_a_base_that_was_compressed_away_does_no_harm():
    """Directions of the base that a learner has dropped must not be subtracted twice."""
    few = KOMP(eps=0.0, max_atoms=12)
    base = learner(compressor=few).learn(X[:30], Y[:30])
    parts = [copy.deepcopy(base).learn(X[rows], Y[rows]) for rows in (slice(30, 60), slice(60, 90))]
    merged = colk.merge(parts, base=base).model
    one = learner(compressor=few).learn(X, Y)
    errors = [np.mean((model.predict(X) - Y) ** 2) for model in (merged, one)]
    assert errors[0] < 1.5 * errors[1]
    assert (np.linalg.eigvalsh(merged.covariance) > 0.0).all()


def test_waiting_samples_are_learned():
    parts = [
        learner(batch_size=4).learn(X[:10], Y[:10]),
        learner(batch_size=4).learn(X[10:], Y[10:]),
    ]
    merged = colk.merge(parts).model
    assert merged.steps == 2 + 20
    assert merged.learn(X[:2], Y[:2]).steps == 23
    samples, count = np.concatenate([X, X[:2]]), np.concatenate([Y, Y[:2]])
    K = Laplacian(1.0).gram(X, samples)
    whole = K @ np.linalg.solve(Laplacian(1.0).gram(samples) + 4 * RIDGE * np.eye(92), count)
    np.testing.assert_allclose(merged.predict(X), whole, atol=1e-2)
    with pytest.raises(ValueError, match="wait for a full batch"):
        colk.merge([copy.deepcopy(parts[0])], base=parts[0])


def exact_distance(f, g):
    """‖f − g‖ of a Gaussian kernel with fifty digits."""
    with mpmath.workdps(50):
        numbers = np.vectorize(mpmath.mpf, otypes=[object])
        points = numbers(np.concatenate([f.atoms, g.atoms]))
        weights = numbers(np.concatenate([f.weights, -g.weights]))
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        scale = 2 * mpmath.mpf(f.kernel.bandwidth) ** 2
        K = np.vectorize(lambda square: mpmath.exp(-square / scale), otypes=[object])(squares)
        total = (weights * (K @ weights)).sum()
        return mpmath.sqrt(max(total, mpmath.mpf(0)))


@pytest.mark.parametrize("bounds", [{"max_atoms": 15}, {"eps": 0.5}, {"eps": 0.01}])
def test_certificates_of_learners(bounds):
    kernel = Gaussian(0.1)
    parts = [learner(kernel).learn(X[rows], Y[rows]) for rows in (slice(30), slice(30, 60))]
    whole, merged = colk.merge(parts).model.function, colk.merge(parts, **bounds)
    f = merged.model.function
    distance = exact_distance(whole, f)
    assert merged.n_atoms_before == 60
    assert distance <= merged.error
    if "eps" in bounds:
        assert merged.error <= bounds["eps"]
    else:
        assert merged.model.n_atoms == 15


def test_the_limit_of_the_learners_holds():
    rule = KOMP(eps=0.0, max_atoms=10)
    parts = [learner(compressor=rule).learn(X[k::2], Y[k::2]) for k in range(2)]
    merged = colk.merge(parts)
    assert merged.model.n_atoms == 10
    assert merged.error > 0.0
    assert merged.model.error_spent >= merged.error + sum(part.error_spent for part in parts)
    assert merged.model.learn(X, Y).n_atoms <= 10


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic(), Softmax()])
def test_chosen_priors_go_on_being_chosen(loss, tmp_path):
    classes = (X[:, 0] > 0.5).astype(float)
    y = classes if loss.kind == "multiclass" else 2.0 * classes - 1.0
    settings = {"loss": loss, "prior": "auto", "compressor": KOMP(eps=0.05)}
    if loss.kind == "multiclass":
        settings["n_outputs"] = 2
    parts = [learner(Gaussian(0.3), **settings) for _ in range(2)]
    for k, part in enumerate(parts):
        for _ in range(6):
            part.learn(X[k::2], y[k::2])
    merged = colk.merge(parts).model
    assert min(p.current_prior for p in parts) <= merged.current_prior
    assert merged.current_prior <= max(p.current_prior for p in parts)
    colk.save(merged, tmp_path / "merged.colk")
    again = colk.load(tmp_path / "merged.colk")
    for model in (merged, again):
        for _ in range(12):
            model.learn(X, y)
    assert merged.steps == 2 * 270 + 1080
    np.testing.assert_array_equal(merged.predict(X), again.predict(X))


def test_learners_without_samples_are_left_out():
    part = learner().learn(X, Y)
    merged = colk.merge([learner(), part], [5.0, 1.0], base=learner()).model
    np.testing.assert_allclose(merged.predict(X), part.predict(X), atol=1e-10)
    with pytest.raises(ValueError, match="none of the learners"):
        colk.merge([learner(), learner()])


def of_risk(risk):
    return NewtonCOLK(Gaussian(1.0), Squared(), risk, pairing="overlap").learn(X, Y[:, 0])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: [of_risk(CVaR(0.1))] * 2, ValueError, "under CVaR .* colk.distributed"),
        (lambda: [COLK(Gaussian(1.0)).learn(X, Y)] * 2, TypeError, "COLK cannot .* functions"),
        (lambda: [POLK(Gaussian(1.0)).learn(X, Y)], TypeError, "the state of a POLK"),
        (lambda: [RandomFeatureSGD(Gaussian(1.0)).learn(X, Y)], TypeError, "RandomFeatureSGD"),
        (lambda: [COLKRegressor().fit(X, Y)], TypeError, "got COLKRegressor"),
        (lambda: [learner(forgetting="auto").learn(X, Y)], ValueError, "forgetting='auto'"),
        (
            lambda: [learner().learn(X, Y), learner(Gaussian(1.0)).learn(X, Y)],
            ValueError,
            "differ in kernel: Laplacian.* and Gaussian",
        ),
        (
            lambda: [learner().learn(X, Y), learner(prior=1.0).learn(X, Y)],
            ValueError,
            "differ in prior: 0.3 and 1.0",
        ),
        (
            lambda: [learner().learn(X, Y), learner().learn(X, Y[:, 0])],
            ValueError,
            "differ in .features, outputs",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        colk.merge(make())


def test_a_base_must_be_one():
    part, later = learner().learn(X[:10], Y[:10]), learner().learn(X, Y)
    with pytest.raises(ValueError, match="did not start from this base"):
        colk.merge([part], base=later)
