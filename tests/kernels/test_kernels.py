"""Every kernel against its formula, its laws and extended precision."""

import pickle
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk.kernels import (
    KERNELS,
    Constant,
    CustomKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
)
from colk.kernels.formulas import constant, squared_distance
from colk.rkhs.expansion import KernelExpansion
from colk.testing import check_kernel

ARD = (0.5, 2.0, 1.3)


def cauchy(u, v):
    return 1.0 / (1.0 + np.sum((u - v) ** 2))


def cauchy_slope(u, v):
    return 2.0 * (u - v) * cauchy(u, v) ** 2


def _distance(u, v, bandwidth):
    return mpmath.sqrt(
        mpmath.fsum(((a - b) / c) ** 2 for a, b, c in zip(u, v, bandwidth, strict=True))
    )


def _dot(u, v):
    return mpmath.fsum(a * b for a, b in zip(u, v, strict=True))


def _matern(nu):
    def value(u, v, c):
        r = _distance(u, v, c) * mpmath.sqrt(2 * nu)
        polynomial = {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r**2 / 3}[nu]
        return polynomial * mpmath.exp(-r)

    return value


# name: (kernel, the definition in arbitrary precision for three features)
BANDWIDTHS = {"scalar": (0.7, (0.7,) * 3), "per feature": (ARD, ARD)}
FORMULAS = {
    "gaussian": (Gaussian, lambda u, v, c: mpmath.exp(-(_distance(u, v, c) ** 2) / 2)),
    "laplacian": (
        Laplacian,
        lambda u, v, c: mpmath.exp(
            -mpmath.fsum(abs(a - b) / d for a, b, d in zip(u, v, c, strict=True))
        ),
    ),
    "matern12": (lambda c: Matern(c, nu=0.5), _matern(0.5)),
    "matern32": (Matern, _matern(1.5)),
    "matern52": (lambda c: Matern(c, nu=2.5), _matern(2.5)),
    "rational": (
        lambda c: RationalQuadratic(c, shape=0.8),
        lambda u, v, c: (1 + _distance(u, v, c) ** 2 / mpmath.mpf(1.6)) ** mpmath.mpf(-0.8),
    ),
}
DEFINITIONS: dict[str, tuple[Kernel, object]] = {
    "linear": (Linear(), _dot),
    "polynomial": (Polynomial(3, 0.5), lambda u, v: (_dot(u, v) + mpmath.mpf(0.5)) ** 3),
    "constant": (Constant(2.5), lambda u, v: mpmath.mpf(2.5)),
    "custom": (
        CustomKernel(cauchy, cauchy_slope),
        lambda u, v: 1 / (1 + _distance(u, v, (1, 1, 1)) ** 2),
    ),
}
for _name, (_make, _formula) in FORMULAS.items():
    for _kind, (_given, _full) in BANDWIDTHS.items():
        DEFINITIONS[f"{_name} {_kind}"] = (
            _make(_given),
            lambda u, v, f=_formula, c=_full: f(u, v, [mpmath.mpf(b) for b in c]),
        )

COMPOSITES = {
    "sum": Gaussian(0.7) + Linear(),
    "product": Gaussian(ARD) * Polynomial(2) * Laplacian(3.0),
    "scaled": 2.5 * Matern(0.7),
    "nested": 0.5 * (Gaussian(0.7) + Constant(1.0)) * (Linear() + 2.0 * RationalQuadratic(ARD)),
    "with custom": CustomKernel(cauchy, cauchy_slope) * Gaussian(2.0) + Linear(),
}
EVERY = {name: kernel for name, (kernel, _) in DEFINITIONS.items()} | COMPOSITES


def exact_gram(name, A, B):
    definition = DEFINITIONS[name][1]
    with mpmath.workdps(40):
        rows = [[definition(*(list(map(mpmath.mpf, p)) for p in (a, b))) for b in B] for a in A]
        return np.array([[float(value) for value in row] for row in rows])


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(9, 3))


@pytest.mark.parametrize("name", EVERY)
def test_laws(name):
    check_kernel(EVERY[name])


@pytest.mark.parametrize("name", DEFINITIONS)
def test_gram_is_the_definition(name, points):
    found = EVERY[name].gram(points, points[:4])
    np.testing.assert_allclose(found, exact_gram(name, points, points[:4]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_offset_of_features_loses_nothing(name, points):
    moved = points + 7e5
    exact = exact_gram(name, moved, moved[:4])
    error = np.abs(EVERY[name].gram(moved, moved[:4]) - exact).max()
    assert error <= 1e-9 * np.abs(exact).max()


def test_composites_combine_gram_matrices(points):
    a, b, c = Gaussian(0.7), Linear(), Laplacian(ARD)
    K = {kernel: kernel(points) for kernel in (a, b, c)}
    np.testing.assert_allclose((a + b)(points), K[a] + K[b], rtol=1e-14)
    np.testing.assert_allclose((a * b * c)(points), K[a] * K[b] * K[c], rtol=1e-13)
    np.testing.assert_allclose((3 * a)(points), 3 * K[a], rtol=1e-14)
    everything = (a + 2.0 * b) * (c + Constant(0.5)) * 1.5
    expected = 1.5 * (K[a] + 2 * K[b]) * (K[c] + 0.5)
    np.testing.assert_allclose(everything(points), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", EVERY)
def test_column_and_diagonal_agree_with_gram(name, points):
    kernel = EVERY[name]
    K = kernel(points)
    np.testing.assert_allclose(kernel.column(points, points[2]), K[:, 2], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(kernel.diagonal(points), K.diagonal(), rtol=1e-14)


@settings(deadline=None, max_examples=40)
@given(
    name=st.sampled_from(["gaussian", "laplacian", "matern12", "matern52", "rational"]),
    bandwidth=st.floats(1e-3, 1e3),
    shift=st.floats(-1e3, 1e3),
    n_features=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_shift_invariant_kernels_lie_between_0_and_1(name, bandwidth, shift, n_features, seed):
    kernel = FORMULAS[name][0](bandwidth)
    X = np.random.default_rng(seed).integers(-8, 8, size=(6, n_features)).astype(float)
    K = kernel(X)
    assert kernel.is_shift_invariant
    assert (K >= 0).all()
    assert (K <= 1).all()
    assert (K.diagonal() == 1).all()
    assert (K == K.T).all()
    np.testing.assert_allclose(kernel(X + np.round(shift)), K, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in EVERY if EVERY[name].is_shift_invariant])
def test_far_points_give_zero_and_not_nan(name):
    f = KernelExpansion(EVERY[name], [[0.0, 0.0, 0.0]], [1.0])
    far = np.array([[1e200, -1e200, 1e200], [1e5, 0.0, 0.0]])
    assert np.isfinite(f(far)).all()
    assert np.isfinite(f.gradient(far)).all()


@pytest.mark.parametrize("kernel", [Laplacian(1.0), Matern(1.0, nu=0.5), Matern(1.0, nu=1.5)])
def test_slope_at_a_kink_is_zero(kernel):
    f = KernelExpansion(kernel, [[0.5, 0.5]], [1.0])
    assert (f.gradient([[0.5, 0.5]]) == 0).all()


@pytest.mark.parametrize("name", EVERY)
def test_any_memory_layout_gives_the_same(name, points):
    kernel = EVERY[name]
    read_only = points.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + points.tobytes(), dtype=np.float64, offset=1).reshape(9, 3)
    f = KernelExpansion(kernel, points, points[:, 0])
    spread = np.repeat(points, 2, axis=0)[::2]
    for X in (read_only, unaligned, spread, np.asfortranarray(points)):
        assert (kernel(X) == kernel(points)).all()
        assert (kernel.column(X, X[0]) == kernel.column(points, points[0])).all()
        assert (kernel.diagonal(X) == kernel.diagonal(points)).all()
        g = KernelExpansion(kernel, X, X[:, 0])
        assert (g(X) == f(points)).all()
        np.testing.assert_allclose(g.gradient(X), f.gradient(points), rtol=1e-12, atol=1e-14)


def test_algebra_reads_back():
    a, b, c = Gaussian(1.0), Linear(), Constant(2.0)
    assert a + b + c == Sum((a, b, c)) == a + (b + c)
    assert a * b * c == Product((a, b, c))
    assert 2 * a == a * 2.0 == np.float64(2.0) * a == Scaled(a, 2.0)
    assert 2 * (3 * a) == 6 * a
    assert hash(Gaussian([1.0, 2.0])) == hash(Gaussian(np.array([1.0, 2.0])))
    assert Gaussian(1) == Gaussian(1.0) != Laplacian(1.0)
    assert repr(Gaussian(np.array([1, 2]))) == "Gaussian(bandwidth=(1.0, 2.0))"


def test_properties_of_kernels():
    radial = [Gaussian(1.0), Matern(1.0), RationalQuadratic(1.0), Constant(1.0), Gaussian((2, 2))]
    assert all(kernel.is_radial and kernel.is_shift_invariant for kernel in radial)
    assert (2 * Gaussian(1.0) + Matern(2.0)).is_radial
    for kernel in (Laplacian(1.0), Gaussian(ARD)):
        assert not kernel.is_radial
        assert kernel.is_shift_invariant
    for kernel in (Linear(), Polynomial(2), CustomKernel(cauchy), Gaussian(1.0) + Linear()):
        assert not kernel.is_radial
        assert not kernel.is_shift_invariant
    assert not (CustomKernel(cauchy) + Linear()).has_gradient
    assert (CustomKernel(cauchy, cauchy_slope) + Linear()).has_gradient


def test_products_of_sums_are_not_multiplied_out(points):
    pair = Gaussian(1.0) + Linear()
    np.testing.assert_allclose(Product((pair,) * 13)(points), pair(points) ** 13, rtol=1e-12)


def test_nesting_three_deep(points):
    a, b, c = Gaussian(0.7), Linear(), Laplacian(ARD)
    K = {kernel: kernel(points) for kernel in (a, b, c)}
    inner = a * b + 0.5 * c
    middle = inner * (b + c) * Constant(2.0)
    outer = middle + 3.0 * (a + inner * (middle + a)) * b + c
    K_inner = K[a] * K[b] + 0.5 * K[c]
    K_middle = K_inner * (K[b] + K[c]) * 2.0
    K_outer = K_middle + 3.0 * (K[a] + K_inner * (K_middle + K[a])) * K[b] + K[c]
    np.testing.assert_allclose(outer(points), K_outer, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(outer.diagonal(points), K_outer.diagonal(), rtol=1e-12)
    check_kernel(outer)


def test_a_kernel_of_your_own_is_a_class_with_columns(points):
    class Dot(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            out[first : first + size] = np.nan  # entries beyond the atoms are reset
            out[first : first + size, :n] = points[:size] @ atoms[:, :n]

    dot = Dot()
    assert repr(dot) == "Dot()"
    assert not dot.has_gradient
    np.testing.assert_allclose(dot(points), Linear()(points), rtol=1e-14, atol=1e-15)
    composite = 2.0 * (dot * Gaussian(0.7) + dot)
    expected = 2.0 * (Linear() * Gaussian(0.7) + Linear())
    np.testing.assert_allclose(composite(points), expected(points), rtol=1e-14, atol=1e-15)
    f = KernelExpansion(composite, points[:5], points[:5, 0])
    np.testing.assert_allclose(f(points), expected(points, points[:5]) @ points[:5, 0], rtol=1e-13)
    check_kernel(composite)


def test_a_kernel_of_your_own_is_a_class_with_a_formula(points):
    class Cauchy(Kernel):
        @property
        def formula(self):
            return (1.0 + squared_distance(ARD)) ** -1.0

    expected = 1.0 / (1.0 + (((points[:, None] - points) / ARD) ** 2).sum(axis=2))
    np.testing.assert_allclose(Cauchy()(points), expected, rtol=1e-14)
    composite = 2.0 * (Cauchy() * Linear() + Gaussian(0.7))
    by_formula = composite.formula.values(points, points)
    np.testing.assert_allclose(composite(points), by_formula, rtol=1e-13, atol=1e-14)
    check_kernel(composite)


def test_a_kernel_of_your_own_cannot_alter_its_arguments(points):
    class Rude(Kernel):
        def columns(self, atoms, n, points, size, out, first):
            points[:] = 0.0

    class Silent(Kernel):
        pass

    before = points.copy()
    with pytest.raises(ValueError, match="read-only"):
        Rude()(points)
    assert (points == before).all()
    with pytest.raises(NotImplementedError, match="Silent must define the method columns"):
        Silent()(points)


def test_binding_is_to_a_number_of_features(points):
    kernel = 2.0 * Gaussian(0.7) * Linear() + Matern(ARD)
    assert kernel.bind(3) == kernel
    with pytest.raises(ValueError, match="Matern has 3 bandwidths"):
        kernel.bind(2)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_rounding_bounds_the_errors(name, points):
    kernel = EVERY[name]
    error = np.abs(kernel(points) - exact_gram(name, points, points))
    lengths = np.sqrt(kernel.diagonal(points))
    allowed = kernel.rounding(3) * np.outer(lengths, lengths)
    assert (error <= allowed).all()
    assert kernel.rounding(3) <= 40 * np.finfo(float).eps * max(1, getattr(kernel, "degree", 1))


def test_rounding_of_sums_and_products():
    a, b = Gaussian(1.0), Polynomial(3)
    assert (a * b).rounding(2) > a.rounding(2) + b.rounding(2)
    assert b.rounding(2) < (a + b).rounding(2) < (a * b).rounding(2)
    assert (2.0 * a).rounding(2) > a.rounding(2) > 0.0


def test_custom_kernel_may_return_an_int(points):
    assert (CustomKernel(lambda u, v: 1)(points) == 1.0).all()


def test_custom_kernel_survives_another_process(tmp_path):
    (tmp_path / "mine.py").write_text("def product(u, v):\n    return (u * v).sum()\n")
    make = "import pickle, mine, sys; from colk.kernels import CustomKernel as C; "
    dump = make + "k = C(mine.product); k([[2.0]]); sys.stdout.buffer.write(pickle.dumps(k))"
    load = make + "print(pickle.load(sys.stdin.buffer)([[2.0, 3.0]])[0, 0])"
    pickled = subprocess.run(
        [sys.executable, "-c", dump], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    result = subprocess.run(
        [sys.executable, "-c", load], cwd=tmp_path, input=pickled, capture_output=True, check=True
    )
    assert result.stdout.decode().strip() == "13.0"


@pytest.mark.parametrize("name", EVERY)
def test_pickling(name):
    assert pickle.loads(pickle.dumps(EVERY[name])) == EVERY[name]


def test_registry_names_every_built_in_kernel():
    assert set(KERNELS.values()) == {type(k) for n, k in EVERY.items() if n in DEFINITIONS} - {
        CustomKernel
    }


def wrong_symmetry(u, v):
    return u[0] - v[0]


def wrong_sign(u, v):
    return -np.sum(u * v)


def wrong_value(u, v):
    return np.nan


def wrong_slope(u, v):
    return np.ones(len(u))


class WrongFormula(Kernel):
    """Its columns are 1, its formula is not."""

    @property
    def formula(self):
        return constant(2.0)

    def columns(self, atoms, n, points, size, out, first):
        out[first : first + size, :n] = 1.0


@pytest.mark.parametrize(
    ("kernel", "law"),
    [
        (WrongFormula(), r"the formula is 2 where κ\(u, v\) is 1, at u = \["),
        (CustomKernel(wrong_symmetry), r"not symmetric: .* at u = \["),
        (CustomKernel(wrong_sign), "not positive semidefinite"),
        (CustomKernel(wrong_value), r"not finite: κ\(u, v\) is nan at u = \["),
        (CustomKernel(cauchy, wrong_slope), "gradient is not the derivative"),
    ],
)
def test_check_kernel_names_the_broken_law(kernel, law):
    with pytest.raises(AssertionError, match=law):
        check_kernel(kernel)
