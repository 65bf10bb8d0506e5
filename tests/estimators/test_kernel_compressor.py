"""KernelCompressor keeps its error bound and converts every supported estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR, NuSVC

from colk.estimators import COLKClassifier, COLKRegressor, KernelCompressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = np.sin(2 * X[:, 0]) + 0.2 * RNG.normal(size=200)
SIDES = np.where(X[:, 0] * X[:, 1] > 0, "same", "opposite")

REGRESSORS = [
    SVR(C=10),
    KernelRidge(alpha=0.1, kernel="rbf"),
    GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.05), optimizer=None),
    COLKRegressor(random_state=0),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda e: type(e).__name__)
def test_predictions_move_by_no_more_than_the_certificate(estimator):
    small = KernelCompressor(estimator, rel_error=0.02).fit(X, Y)
    original = clone(estimator).fit(X, Y).predict(X)
    bound = small.error_ * np.sqrt(small.function_.kernel.diagonal(X))
    assert (np.abs(small.predict(X) - original) <= bound + 1e-9).all()
    assert small.n_atoms_ <= 200
    assert small.certificate_.function is small.function_


@pytest.mark.parametrize("estimator", [SVC(), COLKClassifier(random_state=0)])
def test_classifiers_keep_their_labels(estimator):
    small = KernelCompressor(estimator, eps=0.05).fit(X, SIDES)
    scores = small.estimator_.decision_function(X)
    assert np.abs(small.decision_function(X) - scores).max() <= small.error_ + 1e-9
    sure = np.abs(scores) > 0.05
    assert (small.predict(X) == small.estimator_.predict(X))[sure].all()
    assert small.score(X, SIDES) > 0.85


def test_budgets():
    assert KernelCompressor(SVR(), max_atoms=7).fit(X, Y).n_atoms_ == 7
    norm = KernelCompressor(SVR(), eps=0.0).fit(X, Y).function_.norm()
    by_share = KernelCompressor(SVR(), rel_error=0.05).fit(X, Y)
    assert by_share.error_ <= 0.05 * norm
    by_norm = KernelCompressor(SVR(), eps=0.05 * norm).fit(X, Y)
    assert by_norm.n_atoms_ == by_share.n_atoms_
    default = KernelCompressor(SVR()).fit(X, Y)
    assert default.error_ <= 0.01 * norm
    assert by_share.n_atoms_ < default.n_atoms_


def test_a_fitted_estimator_is_taken_as_it_is():
    svr = SVR().fit(X, Y)
    small = KernelCompressor(FrozenEstimator(svr), eps=0.05).fit(X, 0 * Y)
    assert np.abs(small.predict(X) - svr.predict(X)).max() <= small.error_ + 1e-9


def test_weights_and_searches_reach_the_estimator():
    weight = (X[:, 0] > 0).astype(float)
    small = KernelCompressor(SVR(), eps=0.01).fit(X, Y, sample_weight=weight)
    assert (small.estimator_.support_vectors_[:, 0] > 0).all()
    search = GridSearchCV(KernelCompressor(SVR(), eps=0.05), {"estimator__C": [0.01, 10.0]}, cv=3)
    assert search.fit(X, Y).best_params_ == {"estimator__C": 10.0}


def test_bad_settings_leave_the_twin_unchanged():
    small = KernelCompressor(SVR(), eps=0.05).fit(X, Y)
    before = small.predict(X)
    with pytest.raises(ValueError, match="eps or rel_error, not both"):
        small.set_params(rel_error=0.1).fit(X, Y)
    with pytest.raises(TypeError, match="from_sklearn reads SVR"):
        small.set_params(estimator=GridSearchCV(SVR(), {}), rel_error=None).fit(X, Y)
    np.testing.assert_array_equal(small.predict(X), before)
    with pytest.raises(ValueError, match="one class"):
        KernelCompressor(SVC()).fit(X, SIDES, sample_weight=1.0 * (SIDES == "same"))


def test_two_functions_of_two_classes_are_one():
    small = KernelCompressor(COLKClassifier(loss="softmax", random_state=0), eps=0.05)
    small.fit(X, SIDES)
    scores = small.estimator_.decision_function(X)
    assert np.abs(small.decision_function(X) - scores).max() <= small.error_ + 1e-9
    assert small.function_.n_outputs == 1


FOUR = np.array(["a", "b", "c", "d"])[np.digitize(Y, [-0.8, 0.0, 0.8])]


@pytest.mark.each_value
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(C=10.0),
        SVC(decision_function_shape="ovo"),
        SVC(break_ties=True),
        NuSVC(nu=0.1),
        COLKClassifier(random_state=0),
        COLKClassifier(loss="squared_hinge", random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("labels", [FOUR, np.where(FOUR == "d", "c", FOUR)], ids=["4", "3"])
def test_several_classes(estimator, labels):
    exact = KernelCompressor(estimator, eps=0.0).fit(X, labels)
    np.testing.assert_array_equal(exact.predict(X), exact.estimator_.predict(X))
    expected = exact.estimator_.decision_function(X)
    np.testing.assert_allclose(exact.decision_function(X), expected, atol=1e-9)
    small = KernelCompressor(estimator, rel_error=0.1).fit(X, labels)
    assert small.n_atoms_ < exact.n_atoms_
    assert (small.predict(X) == exact.predict(X)).mean() > 0.9
