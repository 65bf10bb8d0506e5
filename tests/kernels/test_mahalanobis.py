"""The kernel with a metric against the kernel that it applies to points times a matrix."""

import pickle

import numpy as np
import pytest

from colk.kernels import (
    Constant,
    CustomKernel,
    Gaussian,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    Mixed,
    OneHotPolynomial,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)
from colk.kernels.of_rows import OfRows, SparseRows
from colk.reference import gram
from colk.rkhs import KernelExpansion, compress
from colk.testing import check_kernel

RNG = np.random.default_rng(0)
WIDE, SQUARE, TALL = (RNG.normal(size=(3, r)) for r in (2, 3, 5))
X = RNG.normal(size=(23, 3))


def cauchy(u, v):
    return 1.0 / (1.0 + np.sum((u - v) ** 2))


def cauchy_slope(u, v):
    return 2.0 * (u - v) * cauchy(u, v) ** 2


INNER = [
    Gaussian(0.7),
    Laplacian(1.3),
    Matern(0.8, 0.5),
    Matern(0.8, 2.5),
    RationalQuadratic(0.9, 1.7),
    Linear(),
    Polynomial(3, 0.5),
    Constant(2.5),
    2.0 * Gaussian(0.7) * Linear() + Constant(0.3),
    CustomKernel(cauchy, cauchy_slope),
]
EACH = pytest.mark.parametrize("kernel", INNER, ids=repr)
METRICS = pytest.mark.parametrize("metric", [WIDE, SQUARE, TALL], ids=["wide", "square", "tall"])


@METRICS
@EACH
def test_it_is_the_kernel_of_points_times_the_metric(kernel, metric):
    found, Z = Mahalanobis(kernel, metric), X @ metric
    np.testing.assert_allclose(found.points(X), Z, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found(X, X[:7]), kernel(Z, Z[:7]), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.diagonal(X), kernel.diagonal(Z), rtol=1e-11)
    np.testing.assert_allclose(found(X), gram(found, X, X), rtol=1e-11, atol=1e-13)
    check_kernel(found)


@EACH
def test_properties_are_those_of_the_kernel(kernel):
    found = Mahalanobis(kernel, WIDE)
    for name in ("is_shift_invariant", "has_gradient", "peak", "is_squared_exponential"):
        assert getattr(found, name) == getattr(kernel, name)
    assert not found.is_radial
    assert found.of_atoms is kernel
    assert kernel.of_atoms is kernel
    assert kernel.metric is None
    assert kernel.points(X) is X


def test_a_row_does_not_depend_on_the_rows_beside_it():
    for p, r in ((1, 1), (7, 8), (8, 3), (33, 17)):
        kernel = Mahalanobis(Linear(), RNG.normal(size=(p, r)))
        points = RNG.normal(size=(50, p))
        alone = np.concatenate([kernel.points(points[i : i + 1]) for i in range(50)])
        assert (kernel.points(points) == alone).all()
        for layout in (np.asfortranarray(points), np.repeat(points, 2, axis=0)[::2]):
            assert (kernel.points(layout) == alone).all()


def test_categories_are_copied():
    """A metric of the numbers only: a block of A copies the column of the codes."""
    rows = np.column_stack([X[:, :2], RNG.integers(3, size=len(X))])
    metric = np.zeros((3, 2))
    metric[:2, 0], metric[2, 1] = [0.5, -2.0], 1.0
    kernel = Mahalanobis(Mixed(Gaussian(1.0), (1,), 0.7), metric)
    numbers = Gaussian(1.0)(rows[:, :2] @ metric[:2, :1])
    apart = rows[:, 2, None] != rows[None, :, 2]
    np.testing.assert_allclose(kernel(rows), numbers * np.exp(-0.7 * apart), rtol=1e-12)


@METRICS
def test_equality_pickles_and_parameters(metric):
    kernel = Mahalanobis(Gaussian(0.7), metric)
    same = Mahalanobis(Gaussian(0.7), metric.tolist())
    assert kernel == same
    assert hash(kernel) == hash(same)
    assert kernel == pickle.loads(pickle.dumps(kernel))
    assert kernel == Mahalanobis(**kernel.get_params(deep=False))
    assert kernel == kernel.set_params(metric=metric)
    assert kernel.set_params(kernel__bandwidth=2.0) == Mahalanobis(Gaussian(2.0), metric)
    for other in (Mahalanobis(Gaussian(0.8), metric), Mahalanobis(Gaussian(0.7), 2.0 * metric)):
        assert kernel != other
    assert kernel != Gaussian(0.7)
    assert Mahalanobis(Linear(), [[0.0]]) == Mahalanobis(Linear(), [[-0.0]])
    assert hash(Mahalanobis(Linear(), [[0.0]])) == hash(Mahalanobis(Linear(), [[-0.0]]))


def test_the_metric_is_a_copy_that_cannot_be_changed():
    given = WIDE.copy()
    kernel = Mahalanobis(Gaussian(0.7), given)
    given[:] = 0.0
    assert (kernel.metric == WIDE).all()
    with pytest.raises(ValueError, match="read-only"):
        kernel.metric[0, 0] = 1.0
    with pytest.raises(AttributeError):
        kernel.metric = WIDE


def test_the_repr_is_short():
    small, large = [[1.0], [-0.5]], RNG.normal(size=(26, 10))
    assert (
        repr(Mahalanobis(Linear(), small)) == "Mahalanobis(kernel=Linear(), metric=[[1.0], [-0.5]])"
    )
    shown = [repr(Mahalanobis(Linear(), factor * large)) for factor in (1.0, 2.0)]
    assert all("metric=<26 × 10, " in text and len(text) < 60 for text in shown)
    assert shown[0] != shown[1]


def test_sums_products_and_multiples():
    a, b = Mahalanobis(Gaussian(0.7), WIDE), Mahalanobis(Linear(), WIDE)
    for found, expected in (
        (a + b, a(X) + b(X)),
        (a * b, a(X) * b(X)),
        (2.0 * a, 2.0 * a(X)),
        (a * np.float64(3.0), 3.0 * a(X)),
        (a + Constant(0.5), a(X) + 0.5),
        (Constant(0.5) + a, a(X) + 0.5),
        (Constant(0.5) * b, 0.5 * b(X)),
    ):
        assert type(found) is Mahalanobis
        assert (found.metric == WIDE).all()
        np.testing.assert_allclose(found(X), expected, rtol=1e-12, atol=1e-13)
    assert a + b == Mahalanobis(Gaussian(0.7) + Linear(), WIDE)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: k + Gaussian(1.0),
        lambda k: Gaussian(1.0) + k,
        lambda k: k * Linear(),
        lambda k: k + Mahalanobis(Gaussian(0.7), SQUARE),
        lambda k: Sum((k, k)),
        lambda k: Product((k,)),
        lambda k: Scaled(k, 2.0),
    ],
)
def test_a_metric_is_not_a_part_of_another_kernel(make):
    with pytest.raises(TypeError, match="a kernel with a metric cannot be a part of"):
        make(Mahalanobis(Gaussian(0.7), WIDE))


def test_a_metric_of_a_metric_is_their_product():
    inner = Mahalanobis(Gaussian(0.7), TALL)
    outer = Mahalanobis(inner, RNG.normal(size=(4, 3)))
    assert type(outer.kernel) is Gaussian
    points = RNG.normal(size=(9, 4))
    np.testing.assert_allclose(outer(points), inner(points @ outer.metric @ np.linalg.pinv(TALL)))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mahalanobis(Gaussian(1.0), [1.0, 2.0]), ValueError, "metric must have shape"),
        (lambda: Mahalanobis(Gaussian(1.0), [[np.inf]]), ValueError, "metric contains infinity"),
        (lambda: Mahalanobis(Gaussian(1.0), np.ones((0, 2))), ValueError, "a row for each feature"),
        (lambda: Mahalanobis(Gaussian(1.0), np.ones((2, 0))), ValueError, "metric has no features"),
        (lambda: Mahalanobis(Gaussian((1.0, 2.0)), np.ones((4, 3))), ValueError, "2 bandwidths"),
        (lambda: Mahalanobis("gaussian", WIDE), TypeError, "a kernel of rows of numbers, got str"),
        (lambda: Mahalanobis(Gaussian(1.0), WIDE)(X[:, :2]), ValueError, "2 features, expected 3"),
        (lambda: Mahalanobis(Gaussian(1.0), WIDE).bind(2), ValueError, "the metric has 3 rows"),
        (
            lambda: Mahalanobis(Gaussian(1.0), 1e200 * WIDE)(1e200 * X),
            ValueError,
            "points times the metric are too large",
        ),
        (
            lambda: KernelExpansion(Mahalanobis(Gaussian(1.0), WIDE), X, X[:, 0]),
            ValueError,
            "atoms has 3 features, expected 2",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_rows_of_a_sparse_matrix_have_no_metric():
    from scipy.sparse import csr_matrix

    rows = SparseRows(csr_matrix(np.eye(3)))
    with pytest.raises(TypeError, match="a kernel of rows of numbers, got OfRows"):
        Mahalanobis(OfRows(Gaussian(1.0), rows), [[1.0]])
    with pytest.raises(TypeError, match="a sparse matrix needs the kernel"):
        OfRows(Mahalanobis(Gaussian(1.0), WIDE), rows)
    with pytest.raises(TypeError, match="got Mahalanobis"):
        Mixed(Mahalanobis(Gaussian(1.0), WIDE), (1,))
    assert OneHotPolynomial((0,)).metric is None


# -- functions with such a kernel -----------------------------------------------------------------


def pair(kernel, metric, weights=X[:, :2]):
    """A function with the metric, and the same function of points times the metric."""
    with_metric = Mahalanobis(kernel, metric)
    atoms = with_metric.points(X)
    return KernelExpansion(with_metric, atoms, weights), KernelExpansion(kernel, atoms, weights)


@METRICS
@EACH
def test_a_function_is_one_of_points_in_the_metric(kernel, metric):
    (f, g), new = pair(kernel, metric), RNG.normal(size=(40, 3))
    Z = f.kernel.points(new)
    assert (f.n_features, f.atoms.shape[1]) == metric.shape
    assert (f(new) == g(Z)).all()
    assert f.norm() == g.norm()
    assert f.inner(2.0 * f) == g.inner(2.0 * g)
    assert f.distance(0.5 * f) == g.distance(0.5 * g)
    np.testing.assert_allclose(f.gradient(new), g.gradient(Z) @ metric.T, rtol=1e-12, atol=1e-12)
    found, expected = compress(f, max_atoms=5), compress(g, max_atoms=5)
    assert found.error == expected.error
    assert (found.function(new) == expected.function(Z)).all()
    assert found.error >= f.distance(found.function) * (1.0 - 1e-6)


def test_functions_of_other_metrics_do_not_add():
    with pytest.raises(ValueError, match="different spaces"):
        pair(Gaussian(1.0), WIDE)[0] + pair(Gaussian(1.0), 2.0 * WIDE)[0]


def test_the_zero_function_and_pickles():
    kernel = Mahalanobis(Gaussian(1.0), WIDE)
    zero = KernelExpansion.zero(kernel, 3)
    assert (zero(X) == 0.0).all()
    assert zero.atoms.shape == (0, 2)
    f = pair(Gaussian(1.0), WIDE)[0]
    assert pickle.loads(pickle.dumps(f)) == f
    assert (zero + pair(Gaussian(1.0), WIDE, X[:, 0])[0]).n_atoms == len(X)
