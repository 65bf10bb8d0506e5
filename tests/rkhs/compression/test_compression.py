"""Compression: bounds, merging, certificates, large functions."""

import numpy as np
import pytest

from colk.kernels import CustomKernel, Gaussian, Linear
from colk.rkhs import compression
from colk.rkhs.compression import Compression, compress
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.interop import from_sklearn


def make(n_atoms=30, n_outputs=None, seed=0, bandwidth=0.5):
    rng = np.random.default_rng(seed)
    shape = n_atoms if n_outputs is None else (n_atoms, n_outputs)
    atoms = rng.normal(size=(n_atoms, 2))
    return KernelExpansion(Gaussian(bandwidth), atoms, rng.normal(size=shape))


@pytest.mark.parametrize("n_outputs", [None, 1, 3])
def test_shapes_and_indices(n_outputs):
    f = make(n_outputs=n_outputs)
    result = compress(f, eps=0.3 * f.norm())
    assert isinstance(result, Compression)
    assert 0 < result.function.n_atoms < 30
    assert result.function.weights.shape[1:] == f.weights.shape[1:]
    np.testing.assert_array_equal(result.function.atoms, f.atoms[result.kept])
    together = np.concatenate([result.kept, result.removed])
    np.testing.assert_array_equal(np.sort(together), np.arange(30))
    assert result.error == pytest.approx(f.distance(result.function), rel=1e-8)


def test_method_and_function_agree():
    f = make()
    ours, theirs = f.compress(eps=0.5, max_atoms=20), compress(f, eps=0.5, max_atoms=20)
    assert ours.function == theirs.function
    assert ours.error == theirs.error


def test_both_bounds():
    f = make()
    tight = compress(f, eps=0.05 * f.norm())
    assert 5 < tight.function.n_atoms < 25
    assert compress(f, eps=0.05 * f.norm(), max_atoms=5).function == tight.function
    assert compress(f, eps=0.05 * f.norm(), max_atoms=25).function.n_atoms == 25
    assert compress(f, max_atoms=5).error > 0.05 * f.norm()


def test_everything_can_go():
    f = make()
    for bounds in ({"eps": 2.0 * f.norm()}, {"max_atoms": 0}):
        result = compress(f, **bounds)
        assert result.function.n_atoms == 0
        assert result.error == pytest.approx(f.norm(), rel=1e-12)
        assert result.error >= f.norm() * (1.0 - 1e-15)


def test_no_atoms():
    zero = KernelExpansion.zero(Gaussian(1.0), n_features=2)
    result = compress(zero, eps=1.0)
    assert (result.function, result.error) == (zero, 0.0)
    assert len(result.kept) == len(result.removed) == 0


def test_enough_room_changes_nothing():
    f = make()
    result = compress(f, max_atoms=30)
    assert result.function is f
    assert result.error == 0.0


def test_equal_atoms_are_merged_exactly():
    f = KernelExpansion(Gaussian(1.0), [[0.0], [3.0], [0.0], [-0.0]], [1.0, 2.0, 0.25, -0.5])
    result = compress(f, eps=0.0)
    np.testing.assert_array_equal(result.function.atoms, [[0.0], [3.0]])
    np.testing.assert_array_equal(result.function.weights, [0.75, 2.0])
    assert result.error == 0.0
    assert result.removed.tolist() == [2, 3]


def test_the_rounding_of_merged_weights_is_charged():
    f = KernelExpansion(Gaussian(1.0), [[0.0], [0.0]], [1.0, 1e-17])
    merged = compress(f, max_atoms=1)
    assert merged.function.weights.tolist() == [1.0]
    assert merged.error == pytest.approx(1e-17, rel=1e-6)
    assert merged.error >= 1e-17
    assert compress(f, eps=0.0).function == f


def test_opposite_equal_atoms_vanish():
    f = KernelExpansion(Gaussian(1.0), [[1.0], [1.0]], [2.0, -2.0])
    result = compress(f, eps=0.0)
    assert (result.function.n_atoms, result.error) == (0, 0.0)


def test_the_newest_of_equally_cheap_atoms_goes():
    f = KernelExpansion(Gaussian(0.1), [[0.0], [10.0], [20.0]], [1.0, 1.0, 1.0])
    assert compress(f, max_atoms=1).removed.tolist() == [2, 1]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_size(scale):
    f = make()
    result, scaled = compress(f, eps=0.5), compress(scale * f, eps=0.5 * scale)
    assert scaled.kept.tolist() == result.kept.tolist()
    assert scaled.error == pytest.approx(scale * result.error, rel=1e-9)
    assert scaled.error <= 0.5 * scale


def test_tiny_weights_beside_large_ones_are_not_lost_for_nothing():
    f = KernelExpansion(Gaussian(0.1), [[0.0], [10.0]], [1.0, 1e-200])
    assert compress(f, eps=0.0).function == f
    assert compress(f, max_atoms=1).error == pytest.approx(1e-200, rel=1e-6)


def test_atoms_that_are_zero_functions_leave():
    f = KernelExpansion(Linear(), [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [3.0, 1.0, 1.0])
    result = compress(f, eps=1e-6)
    assert result.kept.tolist() == [1]
    np.testing.assert_allclose(result.function.weights, [3.0], rtol=1e-12)
    assert result.error <= 1e-6


def test_own_kernels():
    def cauchy(u, v):
        return 1.0 / (1.0 + np.sum((u - v) ** 2))

    rng = np.random.default_rng(1)
    f = KernelExpansion(CustomKernel(cauchy), rng.normal(size=(15, 2)), rng.normal(size=15))
    result = compress(f, eps=0.3 * f.norm())
    assert result.function.n_atoms < 15
    assert f.distance(result.function) <= result.error <= 0.3 * f.norm()


def test_a_kernel_that_overflows_is_refused():
    f = KernelExpansion(Linear(), [[1e200], [1.0]], [1.0, 1.0])
    with pytest.raises(ValueError, match="not finite at every atom"):
        compress(f, eps=1.0)


def test_repr():
    assert repr(compress(make(), max_atoms=29)).startswith("Compression(30 → 29 atoms, error=0.")


@pytest.fixture(scope="module")
def support_vectors():
    """A support vector regression on y = 2x + 3 sin(6x) with 10 % outliers."""
    from sklearn.svm import SVR

    rng = np.random.default_rng(0)
    x = rng.uniform(size=(1000, 1))
    y = 2.0 * x[:, 0] + 3.0 * np.sin(6.0 * x[:, 0]) + 0.1 * rng.normal(size=1000)
    outliers = rng.random(1000) < 0.1
    y[outliers] += 3.0 * rng.normal(size=outliers.sum())
    return from_sklearn(SVR(gamma=1.0 / (2.0 * 0.06**2), epsilon=0.05).fit(x, y)).function


@pytest.fixture
def low_rank_first(monkeypatch):
    """Use the algorithm for large functions from 100 atoms on."""
    monkeypatch.setattr(compression, "_LARGE", 100)


def test_large_functions(support_vectors, low_rank_first):
    f = support_vectors
    eps = 0.01 * f.norm()
    result = compress(f, eps=eps)
    assert result.function.n_atoms <= 60
    assert f.distance(result.function) <= result.error <= eps
    x = np.linspace(0.0, 1.0, 501).reshape(-1, 1)
    assert np.abs(result.function(x) - f(x)).max() < min(0.01 * np.ptp(f(x)), result.error)


def test_large_functions_to_a_number_of_atoms(support_vectors, low_rank_first):
    f = support_vectors
    result = compress(f, max_atoms=20)
    assert result.function.n_atoms == 20
    assert f.distance(result.function) <= result.error
    together = np.concatenate([result.kept, result.removed])
    np.testing.assert_array_equal(np.sort(together), np.arange(f.n_atoms))


def test_a_large_function_without_a_small_one(low_rank_first):
    """Atoms far apart: what eps does not cover cannot be projected away."""
    atoms = np.arange(130.0).reshape(-1, 1)
    f = KernelExpansion(Gaussian(0.1), atoms, np.ones(130))
    assert compress(f, eps=0.5).function == f
    assert compress(f, eps=1.5).function.n_atoms == 130 - 2


def test_the_projection_of_dependent_atoms_is_charged_to_eps():
    """An atom in the span of another up to rounding costs 2e-5, half of eps: KOMP has 87 % left.

    Were it not charged, a second attempt with half of eps would succeed, which projects nothing.
    """
    eps = 4.2e-5
    atoms = np.concatenate([[0.0, 2e-5], np.arange(10.0, 5010.0, 10.0)])
    weights = np.concatenate([[1.0, 1.0], np.full(500, eps / 20.0)])
    result = compress(KernelExpansion(Gaussian(1.0), atoms[:, None], weights), eps=eps)
    assert 0.99 * eps < result.error <= eps
    assert len(np.intersect1d(result.kept, [0, 1])) == 1
    assert result.function.n_atoms == 1 + 500 - 309  # 309/400 = 1 − (2/4.2)², rounded down


def test_the_low_rank_start_is_charged_to_eps():
    """What the reduction of a large function lost leaves KOMP less to spend, and no more.

    Were it not charged, KOMP would overdraw eps, and a second attempt with half of it succeed:
    the error would then stay far below eps.
    """
    rng = np.random.default_rng(0)
    f = KernelExpansion(Gaussian(0.1), rng.random((2100, 2)), rng.normal(size=2100))
    eps = 0.03 * f.norm()
    result = compress(f, eps=eps)
    assert 0.9 * eps < result.error <= eps
