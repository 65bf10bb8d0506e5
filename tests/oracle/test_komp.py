"""The compiled KOMP equals brute force, and its certificate holds even if brute force fails."""

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from colk._engine.dictionary import Dictionary
from colk._engine.simd.loops import DEPENDENCE_FLOOR
from colk.compressors import KOMP
from colk.compressors.pursuit import append
from colk.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, RationalQuadratic
from colk.learners import COLK
from colk.reference import komp
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion

KERNELS = [
    Gaussian(0.7),
    Laplacian(1.5),
    Matern(1.0, nu=1.5),
    Matern(0.6, nu=2.5),
    RationalQuadratic(0.8, shape=1.5),
    Polynomial(3),
    2.0 * Gaussian(0.5) + Linear() * Gaussian(2.0),
]

# Rounding errors of brute force grow with it; above, brute force is no oracle.
WORST_CONDITION = 1e4


def make(kernel, n_atoms, n_features, n_outputs, seed):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(scale=1.5, size=(n_atoms, n_features))
    return atoms, rng.normal(size=(n_atoms, n_outputs))


sizes = {
    "kernel": st.sampled_from(KERNELS),
    "n_atoms": st.integers(1, 40),
    "n_features": st.integers(1, 6),
    "n_outputs": st.integers(1, 3),
    "seed": st.integers(0, 2**32 - 1),
    "share": st.floats(0.0, 1.1),
}


@settings(deadline=None, max_examples=60, derandomize=True)
@given(**sizes)
def test_compress_is_brute_force(kernel, n_atoms, n_features, n_outputs, seed, share):
    assume(abs(share - 1.0) > 1e-9)  # eps = ‖f‖ is a tie that rounding decides
    atoms, weights = make(kernel, n_atoms, n_features, n_outputs, seed)
    K = kernel.gram(atoms)
    assume(np.linalg.cond(K) <= WORST_CONDITION)
    eps = share * float(np.sqrt(np.sum(weights * (K @ weights))))
    kept, fitted, error, removed = komp(kernel, atoms, weights, eps=eps)
    result = compress(KernelExpansion(kernel, atoms, weights), eps=eps)
    assert result.kept.tolist() == kept
    assert result.removed.tolist() == removed
    np.testing.assert_array_equal(result.function.atoms, atoms[kept])
    np.testing.assert_allclose(
        result.function.weights, fitted, atol=1e-8 * np.abs(weights).max(), rtol=1e-8
    )
    assert result.error == pytest.approx(error, rel=1e-8, abs=1e-8)
    assert result.error <= eps


@settings(deadline=None, max_examples=30, derandomize=True)
@given(**sizes, left=st.integers(0, 40))
def test_max_atoms_is_brute_force(kernel, n_atoms, n_features, n_outputs, seed, share, left):
    assume(abs(share - 1.0) > 1e-9)
    atoms, weights = make(kernel, n_atoms, n_features, n_outputs, seed)
    K = kernel.gram(atoms)
    assume(np.linalg.cond(K) <= WORST_CONDITION)
    eps = share * float(np.sqrt(np.sum(weights * (K @ weights))))
    f = KernelExpansion(kernel, atoms, weights)
    for bound in (np.inf, eps):
        kept, fitted, error, removed = komp(kernel, atoms, weights, eps=bound, stop_at=left)
        result = compress(f, eps=None if bound == np.inf else bound, max_atoms=left)
        assert result.kept.tolist() == kept
        assert result.removed.tolist() == removed
        np.testing.assert_allclose(
            result.function.weights, fitted, atol=1e-8 * np.abs(weights).max(), rtol=1e-8
        )
        assert result.error == pytest.approx(error, rel=1e-8, abs=1e-8)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(**sizes, block=st.integers(1, 4))
def test_a_stream_of_blocks_is_brute_force(
    kernel, n_atoms, n_features, n_outputs, seed, share, block
):
    points, amounts = make(kernel, n_atoms, n_features, n_outputs, seed)
    assume(np.linalg.cond(kernel.gram(points)) <= WORST_CONDITION)
    d = Dictionary(kernel, n_features, n_outputs, block=block)
    atoms, weights = np.empty((0, n_features)), np.empty((0, n_outputs))
    scale = float(np.sqrt(kernel.diagonal(points).mean()))
    for start in range(0, n_atoms, block):
        new = slice(start, start + block)
        atoms = np.concatenate([atoms, points[new]])
        weights = np.concatenate([weights, amounts[new]])
        kept, weights, error, _ = komp(kernel, atoms, weights, eps=share * scale)
        atoms = atoms[kept]
        # With eps = 0, `append` means: keep all.
        lost = append(d, points[new], amounts[new], eps=max(share * scale, 1e-300))
        np.testing.assert_array_equal(d.atoms, atoms)
        np.testing.assert_allclose(d.weights, weights, rtol=1e-8, atol=1e-8 * np.abs(amounts).max())
        assert lost == pytest.approx(error, rel=1e-8, abs=1e-7)
    assert d.drift() <= 1e-9


@pytest.mark.parametrize("n_samples", [1, 2])
def test_atoms_above_the_limit_leave_with_the_next_step(n_samples):
    """A learner may take over more atoms than it keeps, and the new points are among them."""
    kernel, atoms = Gaussian(1.0), np.arange(6.0)[:, None]
    f = KernelExpansion(kernel, atoms, np.array([1.0, -2.0, 3.0, 0.5, -1.0, 2.0]))

    def after_a_step(**limit):
        rule = KOMP(eps=1e-6, **limit)
        common = {"averaging": None, "batch_size": n_samples}
        first = COLK(kernel, compressor=rule, **common).learn(atoms[:n_samples], np.ones(n_samples))
        learner = COLK(kernel, compressor=rule, **common)
        learner.enlarge_from(first, f)
        return learner.learn(atoms[2 : 2 + n_samples], np.ones(n_samples)).function

    whole, found = after_a_step(), after_a_step(max_atoms=3)
    assert whole.n_atoms == 6
    kept, weights, _, _ = komp(kernel, atoms, whole.weights[:, None], eps=np.inf, stop_at=3)
    np.testing.assert_array_equal(found.atoms, atoms[kept])
    np.testing.assert_allclose(found.weights, weights[:, 0], rtol=1e-6)


def exact_distance(bandwidth, f, g):
    """‖f − g‖ for the Gaussian kernel, in 60 digits; where f and g are equal, below 1e-28."""
    with mpmath.workdps(60):
        points = [*f.atoms.tolist(), *g.atoms.tolist()]
        rows = [*f.weights.tolist(), *(-g.weights).tolist()]
        scale = 2 * mpmath.mpf(bandwidth) ** 2
        total = mpmath.mpf(0)
        for i, (u, a) in enumerate(zip(points, rows, strict=True)):
            for j in range(i + 1):
                squared = mpmath.fsum(
                    (mpmath.mpf(s) - t) ** 2 for s, t in zip(u, points[j], strict=True)
                )
                value = a * mpmath.exp(-squared / scale) * rows[j]
                total += value if i == j else 2 * value
        return float(mpmath.sqrt(abs(total)))


def wide(n_atoms, rng):
    """Bandwidth ten times the spacing: cond(K) is beyond float64 from some ten atoms on."""
    return 10.0, np.arange(float(n_atoms)).reshape(-1, 1)


def duplicates(n_atoms, rng):
    return 0.5, rng.normal(size=(n_atoms, 2))[rng.integers(0, max(n_atoms // 2, 1), n_atoms)]


def near_duplicates(n_atoms, rng):
    atoms = rng.normal(size=(n_atoms, 2))[rng.integers(0, max(n_atoms // 2, 1), n_atoms)]
    return 0.5, atoms + 1e-12 * rng.normal(size=atoms.shape)


HARD = {"wide": wide, "duplicates": duplicates, "near-duplicates": near_duplicates}


@settings(deadline=None, max_examples=25, derandomize=True)
@given(
    hard=st.sampled_from(sorted(HARD)),
    n_atoms=st.integers(1, 40),
    exponent=st.integers(-12, 1),
    seed=st.integers(0, 2**32 - 1),
)
@example(hard="wide", n_atoms=40, exponent=-4, seed=0)
@example(hard="near-duplicates", n_atoms=40, exponent=-8, seed=0)
def test_the_certificate_holds_where_atoms_are_dependent(hard, n_atoms, exponent, seed):
    rng = np.random.default_rng(seed)
    bandwidth, atoms = HARD[hard](n_atoms, rng)
    f = KernelExpansion(Gaussian(bandwidth), atoms, rng.normal(size=n_atoms))
    eps = 10.0**exponent
    for bounds in ({"eps": eps}, {"max_atoms": n_atoms // 3}, {"eps": eps, "max_atoms": 3}):
        result = compress(f, **bounds)
        assert np.isfinite(result.function.weights).all()
        assert exact_distance(bandwidth, f, result.function) <= result.error + 1e-28
        assert result.error <= bounds.get("eps", np.inf)
        if "eps" not in bounds:
            assert result.function.n_atoms <= max(bounds["max_atoms"], 0)


@pytest.mark.parametrize("hard", HARD)
@pytest.mark.parametrize("block", [1, 2, 4])
def test_a_stream_of_dependent_atoms_stays_sound(hard, block):
    rng = np.random.default_rng(3)
    bandwidth, points = HARD[hard](40, rng)
    amounts = rng.normal(size=(40, 1))
    kernel = Gaussian(bandwidth)
    d = Dictionary(kernel, points.shape[1], block=block)
    error = append(d, points, amounts)
    f = KernelExpansion(kernel, points, amounts[:, 0])
    g = KernelExpansion(kernel, d.atoms, d.weights[:, 0])
    assert d.size < 40
    assert exact_distance(bandwidth, f, g) <= error <= 1e-2
    condition = np.linalg.cond(kernel.gram(d.atoms))
    assert condition <= 40**2 / DEPENDENCE_FLOOR


@pytest.mark.parametrize("hard", HARD)
@pytest.mark.parametrize("block", [1, 2, 4])
def test_dependent_atoms_leave_a_factor_that_fits(hard, block):
    """Rounding errors of a single stream vary by chance, so the test takes the median of nine."""
    rng = np.random.default_rng(3)
    bandwidth, points = HARD[hard](40, rng)
    amounts = rng.normal(size=(40, 1))
    ratios = []
    for widening in np.linspace(1.0, 1.08, 9):
        kernel = Gaussian(widening * bandwidth)
        d = Dictionary(kernel, points.shape[1], block=block)
        append(d, points, amounts)
        # On the way an atom is appended before the near-dependent one leaves.
        ratios.append(d.drift() / np.linalg.cond(kernel.gram(d.atoms)))
    assert np.median(ratios) <= 300 * np.finfo(float).eps
