"""Invariances of compression."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colk.kernels import Gaussian, Laplacian, Matern, Polynomial
from colk.rkhs.compression import compress
from colk.rkhs.expansion import KernelExpansion

KERNELS = [Gaussian(0.7), Laplacian(1.0), Matern(0.9, nu=2.5), Polynomial(2)]

functions = st.builds(
    lambda kernel, n_atoms, n_features, n_outputs, seed: KernelExpansion(
        kernel,
        np.random.default_rng(seed).normal(size=(n_atoms, n_features)),
        np.random.default_rng(seed + 1).normal(size=(n_atoms, n_outputs)),
    ),
    st.sampled_from(KERNELS),
    st.integers(1, 25),
    st.integers(1, 4),
    st.integers(1, 2),
    st.integers(0, 2**31),
)
shares = st.floats(0.0, 1.0)
law = settings(deadline=None, max_examples=40, derandomize=True)


@law
@given(f=functions)
def test_eps_zero_changes_nothing(f):
    result = compress(f, eps=0.0)
    assert result.function == f
    assert result.error == 0.0


@law
@given(f=functions, share=shares)
def test_the_error_is_within_eps(f, share):
    eps = share * f.norm()
    result = compress(f, eps=eps)
    assert result.error <= eps
    # `distance` sums in float64: its square is right to some 1e-16 of (Σ|w|)² κ.
    rounding = 1e-7 * np.abs(f.weights).sum() * np.sqrt(f.kernel.diagonal(f.atoms).max())
    assert f.distance(result.function) <= result.error + rounding


@law
@given(f=functions, share=shares, power=st.integers(-30, 30), sign=st.sampled_from([-1.0, 1.0]))
def test_scaling_commutes(f, share, power, sign):
    """Exactly so for powers of 2, which do not round."""
    factor, eps = sign * 2.0**power, share * f.norm()
    result, scaled = compress(f, eps=eps), compress(factor * f, eps=abs(factor) * eps)
    assert scaled.function == factor * result.function
    assert scaled.error == pytest.approx(abs(factor) * result.error, rel=1e-12)


@law
@given(f=functions, share=shares, seed=st.integers(0, 2**31))
def test_shuffled_features_change_nothing(f, share, seed):
    order = np.random.default_rng(seed).permutation(f.n_features)
    shuffled = KernelExpansion(f.kernel, f.atoms[:, order], f.weights)
    eps = share * f.norm()
    result, other = compress(f, eps=eps), compress(shuffled, eps=eps)
    assert other.kept.tolist() == result.kept.tolist()
    size = np.abs(f.weights).max() + np.abs(result.function.weights).max(initial=0.0)
    np.testing.assert_allclose(other.function.weights, result.function.weights, atol=1e-5 * size)
    assert other.error == pytest.approx(result.error, rel=1e-6, abs=1e-7 * f.norm())


@law
@given(f=functions, share=shares)
def test_more_eps_never_means_more_atoms(f, share):
    less = compress(f, eps=0.5 * share * f.norm())
    more = compress(f, eps=share * f.norm())
    assert set(more.kept.tolist()) <= set(less.kept.tolist())
