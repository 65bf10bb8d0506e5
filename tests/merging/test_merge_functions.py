"""Functions add: the weighted sum, its compression, and the certificate."""

import mpmath
import numpy as np
import pytest

import colk
from colk.kernels import Gaussian, Laplacian
from colk.rkhs import Affine, KernelExpansion

WEIGHTS = [0.3, -1.7, 0.1]


def make(seed, n_atoms=6, outputs=(), kernel=None):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(n_atoms, 2)).round(1)  # some atoms are shared
    return KernelExpansion(kernel or Gaussian(0.7), atoms, rng.normal(size=(n_atoms, *outputs)))


def exact_distance(functions, weights, f):
    """‖Σ w_k f_k − f‖ of a Gaussian kernel with fifty digits."""
    with mpmath.workdps(50):
        terms = [
            (mpmath.mpf(float(w)) * mpmath.mpf(float(a)), atom)
            for w, g in zip([*weights, -1.0], [*functions, f], strict=True)
            for a, atom in zip(g.weights, g.atoms, strict=True)
        ]
        scale = 2 * mpmath.mpf(f.kernel.bandwidth) ** 2
        total = mpmath.mpf(0)
        for a, x in terms:
            for b, z in terms:
                squares = sum(
                    (mpmath.mpf(u) - mpmath.mpf(v)) ** 2 for u, v in zip(x, z, strict=True)
                )
                total += a * b * mpmath.exp(-squares / scale)
        return mpmath.sqrt(total) if total > 0 else mpmath.mpf(0)


@pytest.mark.parametrize("bounds", [{}, {"eps": 0.2}, {"max_atoms": 5}, {"eps": 1e-16}])
def test_the_certificate_holds_with_fifty_digits(bounds):
    functions = [make(seed) for seed in range(3)]
    merged = colk.merge(functions, WEIGHTS, **bounds)
    distance = exact_distance(functions, WEIGHTS, merged.model)
    assert distance <= merged.error
    assert merged.error <= float(distance) * (1.0 + 1e-6) + 1e-7
    if bounds.get("eps", 0.0) > 1e-3:
        assert merged.error <= bounds["eps"]
        assert merged.model.n_atoms < merged.n_atoms_before


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_the_default_is_the_mean(outputs):
    functions = [make(seed, outputs=outputs) for seed in range(4)]
    X = np.random.default_rng(9).normal(size=(20, 2))
    mean = np.mean([f(X) for f in functions], axis=0)
    merged = colk.merge(functions)
    np.testing.assert_allclose(merged.model(X), mean, rtol=1e-12, atol=1e-14)
    assert (
        merged.n_atoms_before
        == merged.model.n_atoms
        == len(np.unique(np.concatenate([f.atoms for f in functions]), axis=0))
    )
    assert merged.error == 0.0


def test_intercepts_add_as_well():
    models = [Affine(make(0), 2.0), Affine(make(1), 4.0)]
    merged = colk.merge(models, [0.5, 0.25]).model
    assert merged.intercept == 2.0
    np.testing.assert_allclose(
        merged([[0.1, 0.2]]), 0.5 * models[0]([[0.1, 0.2]]) + 0.25 * models[1]([[0.1, 0.2]])
    )


def test_one_function_stays():
    f = make(0)
    assert colk.merge([f]).model.distance(f) == 0.0


@pytest.mark.parametrize(
    ("models", "keywords", "error", "text"),
    [
        ([], {}, ValueError, "at least one model"),
        ([make(0), make(1, kernel=Laplacian(1.0))], {}, ValueError, "their kernels are"),
        ([make(0), make(1, outputs=(2,))], {}, ValueError, "outputs of different shapes"),
        ([make(0), Affine(make(1), 0.0)], {}, TypeError, "KernelExpansion and Affine"),
        ([make(0), "f.colk"], {}, TypeError, "got str"),
        ([make(0)], {"weights": [1.0, 2.0]}, ValueError, "weights"),
        ([make(0)], {"max_atoms": 0}, ValueError, "max_atoms"),
        ([make(0)], {"eps": -1.0}, ValueError, "eps"),
        ([make(0)], {"base": make(0)}, ValueError, "learners only"),
    ],
)
def test_what_has_no_meaning_is_refused(models, keywords, error, text):
    with pytest.raises(error, match=text):
        colk.merge(models, **keywords)
