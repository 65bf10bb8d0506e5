"""The risk AUC: pairs by brute force, the stream's formulas, and the fit of a rare class."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from colk import COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.losses import Logistic
from colk.risks import AUC
from colk.risks.samples import HeldSample
from colk.rkhs import KernelExpansion, polish
from colk.rkhs.polishing.ranking import area_under_roc


def draw(seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 4, 1.0, -1.0)
    return rng.normal(size=n), y, rng.uniform(0.1, 2.0, size=n)


def by_pairs(f, y, weight):
    """The weighted mean over all pairs of a positive and a negative sample."""
    above, below = y > 0, y < 0
    margins = 1.0 - f[above][:, None] + f[below][None, :]
    pairs = weight[above][:, None] * weight[below][None, :]
    return float((pairs * margins**2).sum() / pairs.sum())


@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_are_those_of_all_pairs(seed):
    f, y, weight = draw(seed)
    risk, h = AUC(), 1e-5
    assert risk.value_at(Logistic(), f, y, weight) == pytest.approx(by_pairs(f, y, weight))
    steps = h * np.eye(len(f))
    slopes = [(by_pairs(f + e, y, weight) - by_pairs(f - e, y, weight)) / (2 * h) for e in steps]
    np.testing.assert_allclose(risk.gradient_at(Logistic(), f, y, weight), slopes, atol=1e-8)


def test_second_derivative_is_that_of_the_gradient():
    f, y, weight = draw(3)
    sample = HeldSample(weight / weight.sum(), predictions=f[:, None], targets=y)
    statistics = AUC().statistics(sample)
    joint = AUC().joint(statistics, sample)
    bends = AUC().bends(statistics, sample, joint)
    vectors = bends.vectors[:, :, 0] @ joint.mix.T
    moved = [AUC().gradient_at(Logistic(), f + e, y, weight) for e in np.eye(len(f))]
    expected = np.array(moved) - AUC().gradient_at(Logistic(), f, y, weight)  # it is quadratic
    np.testing.assert_allclose(
        np.diag(bends.diagonal[:, 0]) + (vectors * joint.coefficients) @ vectors.T,
        expected,
        atol=1e-12,
    )


def test_polish_equals_an_independent_solver():
    f, y, weight = draw(4, 60)
    X = np.linspace(-1.0, 1.0, 60)[:, None] + 0.1 * f[:, None]
    kernel, atoms, decay = Gaussian(0.5), np.linspace(-1.0, 1.0, 6)[:, None], 1e-2
    found = polish(
        KernelExpansion(kernel, atoms, np.zeros(6)),
        X,
        y,
        Logistic(),
        AUC(),
        decay,
        sample_weight=weight,
        tolerance=1e-10,
    )
    table, gram = kernel.gram(X, atoms), kernel.gram(atoms)

    def objective(w):
        return by_pairs(table @ w, y, weight) + 0.5 * decay * w @ gram @ w

    best = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    assert found.value == pytest.approx(best.fun, rel=1e-7)
    assert found.converged


@pytest.mark.compiled
@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_stream_ranks(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = (X**2).sum(axis=1) + 0.3 * rng.normal(size=3000) > 4.5
    model = COLKClassifier(risk="auc", solver=solver)
    model.partial_fit(X[:2000], y[:2000], classes=[False, True])
    assert roc_auc_score(y[2000:], model.decision_function(X[2000:])) > 0.95
    g = model.inner_estimate_
    assert g[1] > g[2]
    assert 0.0 < g[0] < 1.0


@pytest.mark.compiled
def test_stream_tracks_the_share_of_a_class():
    y = np.repeat([1, 0], [200, 1800])[np.random.default_rng(1).permutation(2000)]
    model = COLKClassifier(risk="auc", kernel=Gaussian(0.2), tracking_rate=0.5)
    model.partial_fit(y[:, None] - 0.5, y, classes=[0, 1])
    assert model.inner_estimate_[0] == pytest.approx(0.1, abs=0.05)


def area_of(X, y, n, **settings):
    model = COLKClassifier(random_state=0, **settings).fit(X[:n], y[:n])
    return roc_auc_score(y[n:], model.decision_function(X[n:]))


@pytest.mark.compiled
@pytest.mark.slow
def test_rare_class_is_ranked_better_than_by_the_logistic_fit():
    gains = []
    for seed in range(200, 210):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(5000, 8))
        score = X @ np.linspace(1.0, 0.0, 8) + rng.logistic(size=5000)
        y = score > np.quantile(score, 50 / 51)
        of_path = [area_of(X, y, 1500, risk="auc", risk_path=path) for path in (True, False)]
        gains.append(np.array(of_path) - area_of(X, y, 1500))
    by_default, as_given = np.array(gains).T
    assert by_default.min() > -0.005
    assert by_default.mean() > 0.005
    assert as_given.mean() > 2.0 * as_given.std(ddof=1) / np.sqrt(10)


def test_area_counts_pairs():
    f, y, weight = np.round(draw(5)[0], 1), *draw(5)[1:]
    assert area_under_roc(f, y, weight) == pytest.approx(roc_auc_score(y, f, sample_weight=weight))


def test_only_two_classes():
    X, y = np.random.default_rng(0).normal(size=(90, 2)), np.arange(90) % 3
    for loss in ("logistic", "hinge"):
        with pytest.raises(ValueError, match="risk AUC is for"):
            COLKClassifier(risk="auc", loss=loss).fit(X, y)
    with pytest.raises(ValueError, match="risk AUC is for"):
        COLKRegressor(risk="auc").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="both classes"):
        AUC().value_at(Logistic(), [0.0, 1.0], [1.0, 1.0])


def test_no_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = COLKClassifier(risk="auc").fit(X, X[:, 0] > 1.0)
    assert not hasattr(model, "predict_proba")
