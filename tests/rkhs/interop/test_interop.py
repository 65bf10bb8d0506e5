"""from_sklearn agrees with the fitted estimator to 1e-10."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from colk.kernels import Constant, Gaussian, Linear, Polynomial
from colk.rkhs.interop import from_sklearn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=60)
LABELS = np.where(Y > 0, "yes", "no")
NEW = RNG.normal(size=(40, 3))
SVM_KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "auto"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.0},
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.5},
    {"kernel": "poly", "gamma": 0.0, "coef0": 2.0},
]
RIDGE_KERNELS = [
    *SVM_KERNELS[2:],
    {"kernel": "rbf"},
    {"kernel": "laplacian"},
    {"kernel": "laplacian", "gamma": 0.7},
    {"kernel": "polynomial", "degree": 2.0},
    {"kernel": gp.RBF(0.7) + gp.DotProduct(0.5)},
]
GP_KERNELS = [
    None,
    gp.RBF(0.7),
    gp.RBF([0.5, 1.0, 2.0]),
    gp.Matern(0.7, nu=0.5),
    gp.Matern([0.5, 1.0, 2.0], nu=1.5),
    gp.Matern(0.7, nu=2.5),
    gp.Matern(0.7, nu=np.inf),
    gp.RationalQuadratic(0.7, alpha=0.4),
    gp.DotProduct(sigma_0=1.3),
    gp.DotProduct(0.0, "fixed") + gp.ConstantKernel(0.5),
    2.0 * gp.RBF(0.7) + gp.WhiteKernel(0.1),
    gp.RBF(0.7) * gp.DotProduct() * gp.Matern(2.0) + 0.5 * gp.RBF(3.0),
    (gp.RBF(0.7) + gp.ConstantKernel(0.5)) ** 2,
    gp.WhiteKernel(0.1) * gp.RBF(0.7) + gp.RBF(1.0),
    gp.WhiteKernel(0.1),
]


def agree(expected, found, scale=1.0):
    assert expected.shape == found.shape
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * scale)


@pytest.mark.each_value
@pytest.mark.parametrize("settings", SVM_KERNELS, ids=str)
@pytest.mark.parametrize("kind", [SVR, NuSVR])
def test_support_vector_regression(kind, settings):
    machine = kind(**settings, C=2.0, max_iter=20_000).fit(X, Y)
    imported = from_sklearn(machine)
    agree(machine.predict(NEW), imported(NEW))
    assert imported.function.n_atoms == len(machine.support_)


@pytest.mark.each_value
@pytest.mark.parametrize("settings", SVM_KERNELS, ids=str)
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_support_vector_classification(kind, settings):
    if kind is NuSVC and settings.get("gamma") == 0.0:
        settings = settings | {"gamma": 1e-3}  # LIBSVM finds no NuSVC with a constant kernel
    machine = kind(**settings, max_iter=20_000).fit(X, LABELS)
    agree(machine.decision_function(NEW), from_sklearn(machine)(NEW))


def test_sparse_support_vectors():
    machine = SVR().fit(scipy.sparse.csr_matrix(X), Y)
    agree(machine.predict(scipy.sparse.csr_matrix(NEW)), from_sklearn(machine)(NEW))


@pytest.mark.each_value
@pytest.mark.parametrize("settings", RIDGE_KERNELS, ids=str)
@pytest.mark.parametrize("target", [Y, np.column_stack([Y, Y**2])], ids=["one", "two"])
def test_kernel_ridge(settings, target):
    ridge = KernelRidge(alpha=0.5, **settings).fit(X, target)
    agree(ridge.predict(NEW), from_sklearn(ridge)(NEW))


@pytest.mark.each_pair
@pytest.mark.parametrize("kernel", GP_KERNELS, ids=str)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("target", [Y + 5, np.column_stack([Y + 5, 3 * Y**2])], ids=["one", "two"])
def test_gaussian_process(kernel, normalize, target):
    process = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None, normalize_y=normalize)
    process.fit(X, target)
    agree(process.predict(NEW), from_sklearn(process)(NEW), scale=10.0)


def test_optimised_hyper_parameters_are_read():
    kernel = gp.ConstantKernel(1.0) * gp.RBF(1.0) + gp.WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, Y)
    imported = from_sklearn(process)
    agree(process.predict(NEW), imported(NEW))
    assert imported.function.kernel.is_radial


def test_subclasses_are_read():
    class MySVR(SVR):
        pass

    machine = MySVR().fit(X, Y)
    agree(machine.predict(NEW), from_sklearn(machine)(NEW))


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (KernelRidge(kernel="rbf", gamma=2.0), Gaussian(0.5)),
        (KernelRidge(kernel="linear"), Linear()),
        (KernelRidge(kernel="poly", gamma=1.0, coef0=2.0, degree=2), Polynomial(2, 2.0)),
        (KernelRidge(kernel="poly", gamma=0.5, coef0=2.0, degree=2), 0.25 * Polynomial(2, 4.0)),
        (KernelRidge(kernel=2.0 * gp.RBF(0.5) + gp.WhiteKernel(1.0)), 2.0 * Gaussian(0.5)),
        (KernelRidge(kernel=gp.WhiteKernel(1.0)), Constant(0.0)),
    ],
    ids=str,
)
def test_kernels_come_out_plain(estimator, expected):
    assert from_sklearn(estimator.fit(X, Y)).function.kernel == expected


@pytest.mark.parametrize("estimator", [SVR(), SVC(), KernelRidge(), GaussianProcessRegressor()])
def test_not_fitted(estimator):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        from_sklearn(estimator)


REFUSED = {
    "sigmoid": (SVR(kernel="sigmoid"), X, ValueError, "kernel 'sigmoid' of SVR"),
    "precomputed": (SVR(kernel="precomputed"), X @ X.T, ValueError, "kernel 'precomputed' of SVR"),
    "callable": (SVR(kernel=lambda A, B: A @ B.T), X, ValueError, "kernel <function"),
    "ridge callable": (KernelRidge(kernel=lambda a, b: a @ b), X, ValueError, "the kernel <func"),
    "cosine": (KernelRidge(kernel="cosine"), X, ValueError, "kernel 'cosine' of KernelRidge"),
    "negative coef0": (SVR(kernel="poly", coef0=-1.0), X, ValueError, "coef0 = -1"),
    "fractional degree": (
        KernelRidge(kernel="poly", degree=1.5, coef0=100),
        X,
        ValueError,
        "degree must be a whole number",
    ),
    "periodic": (
        GaussianProcessRegressor(gp.RBF() + gp.ExpSineSquared(), optimizer=None, alpha=100),
        X,
        ValueError,
        "ExpSineSquared.* has no counterpart",
    ),
    "rough": (
        GaussianProcessRegressor(gp.Matern(nu=0.7), optimizer=None, alpha=0.1),
        X,
        ValueError,
        "nu must be",
    ),
    "fractional power": (
        GaussianProcessRegressor(gp.RBF() ** 1.5, optimizer=None, alpha=0.1),
        X,
        ValueError,
        "exponent of a kernel must be a whole number",
    ),
    "linear model": (Ridge(), X, TypeError, "from_sklearn reads SVR.*got Ridge"),
    "pipeline": (make_pipeline(SVR()), X, TypeError, "pass the fitted final estimator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    estimator, points, kind, message = REFUSED[name]
    estimator.fit(points, Y)
    with pytest.raises(kind, match=message):
        from_sklearn(estimator)


@pytest.mark.parametrize("kind", [SVC, NuSVC])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_pairs_of_classes(kind, n_classes):
    settings = {"nu": 0.2} if kind is NuSVC else {}
    labels = np.digitize(Y, np.quantile(Y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    machine = kind(decision_function_shape="ovo", **settings).fit(X, labels)
    imported = from_sklearn(machine)
    assert imported.function.n_outputs == n_classes * (n_classes - 1) // 2
    agree(machine.decision_function(NEW), imported(NEW))
    small = imported.compress(eps=0.3)
    assert small.function.n_atoms < imported.function.n_atoms
    error = np.linalg.norm(small(NEW) - imported(NEW), axis=1)
    assert (error <= small.certificate.error).all()
    assert 0.0 < small.certificate.error <= 0.3


@pytest.mark.parametrize(
    "estimator",
    [SVR(C=2.0), KernelRidge(kernel="rbf"), GaussianProcessRegressor(gp.RBF(1.0), alpha=0.1)],
    ids=lambda e: type(e).__name__,
)
def test_what_is_imported_can_be_compressed(estimator):
    imported = from_sklearn(estimator.fit(X, Y + 5.0))
    small = imported.compress(max_atoms=20)
    assert small.function.n_atoms == 20
    assert small.intercept == imported.intercept
    assert (np.abs(small(NEW) - imported(NEW)) <= small.certificate.error).all()
    assert imported.certificate is None
