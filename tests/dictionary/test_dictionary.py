"""The dictionary: each operation by itself."""

import numpy as np
import pytest

from colk._engine.dictionary import Dictionary
from colk.compressors.pursuit import append, drop, prune
from colk.kernels import Gaussian, Linear
from colk.reference import komp

KERNEL = Gaussian(0.6)


def fit_weights(kept, atoms, weights):
    """Weights on `kept` of the projection of f on their span."""
    return np.linalg.solve(KERNEL.gram(kept), KERNEL.gram(kept, atoms) @ weights)


def filled(n_atoms=12, n_rows=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(n_atoms, 3)), rng.normal(size=(n_atoms, n_rows))
    d = Dictionary(KERNEL, n_features=3, n_rows=n_rows, **options)
    assert append(d, points, weights) == 0.0
    return d, points, weights


@pytest.mark.parametrize("block", [1, 2, 5])
def test_append_keeps_points_and_weights(block):
    d, points, weights = filled(block=block)
    np.testing.assert_array_equal(d.atoms, points)
    np.testing.assert_allclose(d.weights, weights, rtol=0.0, atol=0.0)
    np.testing.assert_allclose(d.inverse_gram, np.linalg.inv(KERNEL.gram(points)), atol=1e-12)


def test_growth_by_doubling_changes_nothing():
    small, points, weights = filled(n_atoms=70, capacity=4)
    roomy, _, _ = filled(n_atoms=70, capacity=512)
    assert 70 <= small.capacity <= 160
    np.testing.assert_array_equal(small.inverse_gram, roomy.inverse_gram)
    np.testing.assert_array_equal(small.atoms, points)
    np.testing.assert_array_equal(small.weights, weights)


def test_an_equal_point_adds_to_its_atom():
    d, points, weights = filled()
    assert append(d, points[3:4], np.array([[2.0, -1.0]])) < 1e-4
    assert d.size == 12
    expected = weights + np.where(np.arange(12)[:, None] == 3, [2.0, -1.0], 0.0)
    np.testing.assert_allclose(d.weights, expected, atol=1e-12)


def test_a_null_point_is_absorbed():
    d = Dictionary(Linear(), n_features=2)
    append(d, np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[5.0], [1.0]]))
    np.testing.assert_array_equal(d.atoms, [[1.0, 2.0]])
    np.testing.assert_array_equal(d.weights, [[1.0]])


@pytest.mark.parametrize("j", [0, 5, 11])
def test_drop_projects(j):
    d, points, weights = filled()
    drop(d, j)
    rest = np.delete(points, j, axis=0)
    np.testing.assert_array_equal(d.atoms, rest)
    np.testing.assert_allclose(d.weights, fit_weights(rest, points, weights), atol=1e-12)
    np.testing.assert_allclose(d.inverse_gram, np.linalg.inv(KERNEL.gram(rest)), atol=1e-12)


@pytest.mark.parametrize("j", [-1, 12])
def test_drop_of_no_atom_is_refused(j):
    d, _, _ = filled()
    with pytest.raises(IndexError, match=f"no atom {j}: the dictionary has 12"):
        drop(d, j)
    assert d.size == 12


def test_adding_then_removing_is_the_identity():
    d, points, weights = filled()
    before = d.inverse_gram
    rng = np.random.default_rng(1)
    for _ in range(200):
        append(d, rng.normal(size=(3, 3)), np.zeros((3, 2)))
        while d.size > 12:
            drop(d, 12)
    np.testing.assert_array_equal(d.atoms, points)
    np.testing.assert_allclose(d.weights, weights, atol=1e-14)
    np.testing.assert_allclose(d.inverse_gram, before, rtol=1e-12, atol=1e-12)


def test_prune_is_brute_force():
    d, points, weights = filled()
    kept, fitted, error, _ = komp(KERNEL, points, weights, eps=2.0)
    assert prune(d, eps=2.0) == pytest.approx(error, rel=1e-12)
    assert 0 < d.size < 12
    np.testing.assert_array_equal(d.atoms, points[kept])
    np.testing.assert_allclose(d.weights, fitted, atol=1e-12)


def test_prune_stops_at():
    d, _, _ = filled()
    prune(d, stop_at=7)
    assert d.size == 7


def test_only_priced_rows_decide_and_only_fitted_rows_move():
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    d = Dictionary(KERNEL, n_features=3, n_rows=3, n_priced=1, n_fitted=2)
    append(d, points, weights)
    kept, fitted, error, removed = komp(KERNEL, points, weights[:, :1], stop_at=5)
    assert prune(d, stop_at=5) == pytest.approx(error, rel=1e-12)
    np.testing.assert_array_equal(d.atoms, points[kept])
    np.testing.assert_allclose(d.weights[:, :1], fitted, atol=1e-12)
    both = fit_weights(points[kept], points, weights[:, :2])
    np.testing.assert_allclose(d.weights[:, :2], both, atol=1e-12)
    np.testing.assert_array_equal(d.weights[:, 2], weights[kept, 2])
    np.testing.assert_array_equal(d.pack()["ghosts"][:3].T, points[removed])
    np.testing.assert_array_equal(d.ghost_weights[:, 2], weights[removed, 2])


def test_evaluate_is_the_expansion():
    d, points, weights = filled()
    X = np.random.default_rng(2).normal(size=(7, 3))
    np.testing.assert_allclose(d.evaluate(X), KERNEL.gram(X, points) @ weights, atol=1e-13)
    np.testing.assert_array_equal(d.evaluate(X, 1), d.evaluate(X)[:, 1:])


def test_unpacked_goes_on_bit_by_bit():
    d, _, _ = filled()
    prune(d, stop_at=8)
    twin = Dictionary(KERNEL, n_features=3, n_rows=2)
    twin.unpack(d.pack())
    rng = np.random.default_rng(5)
    points, weights = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    for each in (d, twin):
        append(each, points, weights, eps=0.5)
    np.testing.assert_array_equal(twin.atoms, d.atoms)
    np.testing.assert_array_equal(twin.weights, d.weights)
    np.testing.assert_array_equal(twin.inverse_gram, d.inverse_gram)


def test_soak():
    """The drift stays at rounding over many more steps than atoms."""
    rng = np.random.default_rng(6)
    d = Dictionary(KERNEL, n_features=2, capacity=64)
    for _ in range(150):
        append(d, rng.uniform(-2.0, 2.0, size=(10, 2)), rng.normal(size=(10, 1)))
        prune(d, stop_at=20)
        d.set_weights(0.9 * d.weights)
    assert d.size == 20
    assert np.linalg.cond(KERNEL.gram(d.atoms)) <= 1e6
    assert d.drift() <= 1e-8
