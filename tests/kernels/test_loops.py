"""The loops of kernels: each against its formula, whole vectors, the exponential's accuracy."""

import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from colk._engine.buffers import aligned, padded
from colk._engine.evaluation import evaluate
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
from colk.kernels import base as kernels_base
from colk.kernels.base import FormulaKernel
from colk.kernels.formulas import squared_distance
from colk.testing import check_kernel

IS_COMPILED = not kernels_base.__file__.endswith(".py")

BANDWIDTHS = (0.5, 2.0, 0.25)
LOOPS = {
    "gaussian": Gaussian(BANDWIDTHS),
    "laplacian": Laplacian(BANDWIDTHS),
    "matern_of_one_half": Matern(BANDWIDTHS, 0.5),
    "matern_of_three_halves": Matern(BANDWIDTHS, 1.5),
    "matern_of_five_halves": Matern(BANDWIDTHS, 2.5),
    "rational_quadratic": RationalQuadratic(BANDWIDTHS, 0.8),
    "polynomial": Polynomial(3, 0.5),
    "linear": Linear(),
}


def stored(points):
    """Points as the loops read atoms."""
    atoms = aligned(points.shape[1], padded(len(points)))
    atoms[:, : len(points)] = points.T
    return atoms


def test_every_loop_is_here():
    header = (Path(loops.__file__).parent / "loops.h").read_text("utf-8")
    assert re.findall(r"^COLUMNS\((\w+),", header, re.MULTILINE) == list(LOOPS)
    named = header.split("#define KERNELS(_)")[1].split("\n\n")[0]
    assert re.findall(r"_\((\w+)\)", named) == list(LOOPS)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", [1, 3, 4, 5, 64, 71])
def test_a_loop_computes_the_formula(name, n):
    kernel = LOOPS[name]
    rng = np.random.default_rng(n)
    D, X = rng.normal(size=(n, 3)), rng.normal(size=(19, 3))
    expected = kernel.formula.values(X, D)
    # The exponential of s has s times the relative error of s.
    amplified = 1.0 + np.abs(np.log(np.abs(expected)))
    allowed = 1e-14 * amplified * np.abs(expected)
    if not kernel.is_shift_invariant:  # terms of an inner product may cancel
        largest = np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(D)))
        allowed += kernel.rounding(3) * largest
    assert (np.abs(kernel.gram(X, D) - expected) <= allowed).all()


class Cauchy(FormulaKernel):
    """A kernel that names a loop, or none."""

    _fields = ("loop_name",)

    def __init__(self, loop_name=""):
        super().__init__(loop_name)
        self.loop_name = loop_name

    @property
    def formula(self):
        return (1.0 + squared_distance(BANDWIDTHS)) ** -1.0


def test_without_a_loop_the_formula_is_evaluated():
    rng = np.random.default_rng(0)
    D, X = rng.normal(size=(5, 3)), rng.normal(size=(19, 3))
    expected = 1.0 / (1.0 + (((X[:, None] - D) / BANDWIDTHS) ** 2).sum(axis=2))
    np.testing.assert_allclose(Cauchy()(X, D), expected, rtol=1e-14)
    np.testing.assert_allclose((Cauchy() * Linear())(X, D), expected * (X @ D.T), atol=1e-14)
    check_kernel(Cauchy())


@pytest.mark.skipif(not IS_COMPILED, reason="uncompiled there are no loops")
def test_a_loop_that_does_not_exist_is_refused():
    with pytest.raises(LookupError, match="no loop 'gausian'"):
        Cauchy("gausian")


@pytest.mark.parametrize("name", [*LOOPS, "constant"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("n_points", [1, 2, 17])
def test_columns_are_zero_behind_the_atoms(name, n, n_points):
    kernel = Constant(2.5) if name == "constant" else LOOPS[name]
    seen = []

    class Poison(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            out[:] = np.nan
            out[first : first + size, :n] = 0.0

    class Spy(Kernel):
        """Reads the rows in which the previous kernel has left its result."""

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
