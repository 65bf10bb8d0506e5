"""The loops over columns: each against its twin, whole vectors, and the exponential's accuracy."""

import mpmath
import numpy as np
import pytest

from colk._engine.buffers import aligned, padded
from colk._engine.simd import loops
from colk.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sum,
)
from colk.kernels.base import evaluate

# loop: (kernel of three features, its constants, its last constant)
SCALES = (2.0, 0.5, 4.0)
BANDWIDTHS = (0.5, 2.0, 0.25)
LOOPS = {
    "gaussian": (Gaussian(BANDWIDTHS), SCALES, 0.0),
    "laplacian": (Laplacian(BANDWIDTHS), SCALES, 0.0),
    "matern_of_one_half": (Matern(BANDWIDTHS, 0.5), SCALES, 0.0),
    "matern_of_three_halves": (Matern(BANDWIDTHS, 1.5), SCALES, 0.0),
    "matern_of_five_halves": (Matern(BANDWIDTHS, 2.5), SCALES, 0.0),
    "rational_quadratic": (RationalQuadratic(BANDWIDTHS, 0.8), SCALES, 0.8),
    "polynomial": (Polynomial(3, 0.5), (0.5,), 3.0),
    "linear": (Linear(), (0.0,), 0.0),
}


def stored(points):
    """Points as the loops read atoms."""
    atoms = aligned(points.shape[1], padded(len(points)))
    atoms[:, : len(points)] = points.T
    return atoms


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", [1, 3, 4, 5, 64, 71])
def test_a_loop_is_its_twin(name, n):
    kernel, scales, constant = LOOPS[name]
    rng = np.random.default_rng(n)
    D, X = rng.normal(size=(n, 3)), rng.normal(size=(19, 3))
    out = np.full((21, padded(n)), np.nan)
    loops.lay(getattr(loops, name), stored(D), n, X, 19, np.array(scales), constant, out, 2)
    expected = out[2:, :n]
    # An exponential turns the relative error of its argument into as many times the argument.
    amplified = 1.0 + np.abs(np.log(np.abs(expected)))
    allowed = 1e-14 * amplified * np.abs(expected)
    if not kernel.is_shift_invariant:  # an inner product may cancel
        largest = np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(D)))
        allowed += kernel.rounding(3) * largest
    assert (np.abs(kernel.gram(X, D) - expected) <= allowed).all()
    assert (out[2:, n : (n + 7) & -8] == 0.0).all()
    assert np.isnan(out[:2]).all()


@pytest.mark.parametrize("name", [*LOOPS, "constant"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("n_points", [1, 2, 17])
def test_columns_are_zero_behind_the_atoms(name, n, n_points):
    kernel = Constant(2.5) if name == "constant" else LOOPS[name][0]
    seen = []

    class Poison(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            out[:] = np.nan
            out[first : first + size, :n] = 0.0

    class Spy(Kernel):
        """Looks at the rows where the kernel before it has left its result."""

        def columns(self, atoms, n, points, size, out, first):
            seen.append(out[first : first + size].copy())
            out[first : first + size, :n] = 0.0

    rng = np.random.default_rng(0)
    D, X = rng.normal(size=(n, 3)), rng.normal(size=(n_points, 3))
    total = Sum((Poison(), kernel, Spy()))(X, D)
    left = np.concatenate(seen)
    assert (total == kernel(X, D)).all()
    assert (left[:, :n] == total).all()
    assert (left[:, n : (n + 3) & -4] == 0.0).all()


def test_the_exponential_is_right_to_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0.0, 708.0, 4000), 10.0 ** rng.uniform(-12, 2, 1000)])
    found = Laplacian(1.0).gram([[0.0]], x[:, None])[0]
    with mpmath.workdps(40):
        for value, at in zip(found, x, strict=True):
            exact = mpmath.exp(-mpmath.mpf(at))
            assert abs(mpmath.mpf(value) - exact) <= 1.5 * np.spacing(value)


def test_the_exponential_ends_in_zero():
    x = np.array([0.0, 750.0, 1e4, 1e300])
    assert Laplacian(1.0).gram([[0.0]], x[:, None]).tolist() == [[1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("n_points", [0, 1, 16, 33])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_an_expansion_is_the_definition(n_points, n_outputs):
    kernel = 0.5 * Gaussian(0.7) * Linear() + Matern(BANDWIDTHS) + Constant(1.0)
    rng = np.random.default_rng(0)
    D, X = rng.normal(size=(11, 3)), rng.normal(size=(n_points, 3))
    weights = aligned(n_outputs + 2, padded(11))
    weights[:, :11] = rng.normal(size=(n_outputs + 2, 11))
    out = np.full((n_points, n_outputs), np.nan)
    evaluate(kernel.bind(3), stored(D), 11, weights, 2, X, out)
    np.testing.assert_allclose(out, kernel(X, D) @ weights[2:, :11].T, rtol=1e-12, atol=1e-13)


def test_no_points_or_no_atoms():
    for kernel in (Gaussian(1.0), Linear() * Gaussian(1.0), Constant(1.0)):
        assert kernel.gram(np.zeros((3, 2)), np.zeros((0, 2))).shape == (3, 0)
        assert kernel.gram(np.zeros((0, 2)), np.zeros((4, 2))).shape == (0, 4)
        assert kernel.diagonal(np.zeros((0, 2))).shape == (0,)


def test_a_kernel_that_is_not_bound_is_refused():
    arguments = aligned(2, 8), 3, aligned(1, 8), 0, np.zeros((1, 2)), np.zeros((1, 1))
    with pytest.raises((AttributeError, ValueError), match=r"not bound to 2|no attribute"):
        evaluate(Gaussian(1.0), *arguments)
    with pytest.raises(ValueError, match="is not bound to 2 features"):
        evaluate(Gaussian(1.0).bind(3), *arguments)


def test_what_a_kernel_raises_reaches_the_caller():
    class Faulty(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            raise ZeroDivisionError("mine")

    for kernel in (Faulty(), 2.0 * Faulty() + Linear(), Linear() * Faulty()):
        with pytest.raises(ZeroDivisionError, match="mine"):
            kernel([[1.0]])


def test_rows_begin_with_a_cache_line():
    for n_rows, length in ((1, 8), (3, 5), (7, 72)):
        rows = aligned(n_rows, length)
        assert rows.shape[1] % 8 == 0
        assert rows.shape[1] >= length
        assert rows.flags.c_contiguous
        assert all(row.ctypes.data % 64 == 0 for row in rows)
        assert not rows.any()
    assert all(padded(n) >= n and padded(n) % 8 == 0 and padded(n) % 64 for n in range(600))
