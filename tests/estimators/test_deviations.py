"""±1.645 standard deviations cover 0.9 of new targets and are wide where there are no data."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import colk
from colk import COLKRegressor
from colk.kernels import Gaussian
from colk.losses import Squared
from colk.rkhs import KernelExpansion
from colk.rkhs.deviations import Deviations
from colk.rkhs.polishing import polish


def sine(noise):
    def draw(rng, n):
        X = rng.uniform(-2.0, 2.0, size=(n, 1))
        return X, np.sin(3.0 * X[:, 0]) + noise * rng.normal(size=n)

    return draw


def waves(rng, n):
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0] + 2.0 * X[:, 1]) + 0.4 * rng.normal(size=n)


def plane(rng, n):
    X = rng.normal(size=(n, 6))
    return X, 1e4 * (X @ np.linspace(-1.0, 1.0, 6) + 0.5 * rng.normal(size=n))


@pytest.mark.parametrize(
    ("solver", "learn"),
    [
        ("gradient", COLKRegressor.fit),
        ("newton", COLKRegressor.fit),
        ("newton", COLKRegressor.partial_fit),
    ],
)
@pytest.mark.parametrize(
    "draw", [sine(0.1), sine(1.0), waves, plane], ids=["quiet", "loud", "waves", "plane"]
)
def test_coverage(draw, solver, learn):
    covered = []
    for seed in range(5):
        X, y = draw(np.random.default_rng(seed), 4000)
        model = COLKRegressor(kernel="gaussian", solver=solver, random_state=0)
        learn(model, X[:1500], y[:1500])
        values, deviations = model.predict(X[1500:], return_std=True)
        covered.append(np.mean(np.abs(values - y[1500:]) <= 1.645 * deviations))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.02)


def test_they_reach_far_where_there_was_no_data():
    """In a gap and outside: √(1 + 1/λ) of the noise, in units of the loss."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-3.0, 3.0, size=6000)
    x = x[np.abs(x) > 1.0]
    y = np.sin(2.0 * x) + 0.3 * rng.normal(size=len(x))
    model = COLKRegressor(kernel="gaussian", bandwidth=0.3, solver="newton", random_state=0)
    model.fit(x[:, None], y)
    known, gap, outside = model.predict([[2.0], [0.0], [9.0]], return_std=True)[1]
    assert known == pytest.approx(0.3, rel=0.05)
    assert gap > 2.5 * known
    assert outside == pytest.approx(0.3 * np.sqrt(1.0 + 1.0 / model.prior_), rel=0.06)


def test_they_narrow_as_samples_come():
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, size=(3000, 1))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=3000)
    model, widths = COLKRegressor(kernel="gaussian", solver="newton"), []
    for rows in (slice(0, 30), slice(30, 300), slice(300, 3000)):
        model.partial_fit(X[rows], y[rows])
        widths.append(model.predict([[0.5]], return_std=True)[1][0])
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] == pytest.approx(0.3, rel=0.05)


def test_if_all_samples_are_atoms_they_are_those_of_a_gaussian_process():
    """With the prior variance σ²/(nλ), and the noise σ that the fit found."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-2.0, 2.0, size=(60, 1)), axis=0)
    y = np.sin(3.0 * X[:, 0]) + 0.2 * rng.normal(size=60)
    start = KernelExpansion(Gaussian(0.5), X, np.zeros(60))
    found = polish(start, X, y, Squared(), regularization=1e-3).function
    kept, new = Deviations.of(found, X, y, 60, Squared(), 1e-3), np.linspace(-4.0, 4.0, 50)[:, None]
    noise, strength = float(kept.noise[0]), 0.06 / 2.0  # nλ/b
    gaussian = ConstantKernel(noise**2 / strength) * RBF(0.5) + WhiteKernel(noise**2)
    peer = GaussianProcessRegressor(gaussian, optimizer=None).fit(X, y)
    expected = peer.predict(new, return_std=True)[1]
    np.testing.assert_allclose(kept.at(found, new)[:, 0], expected, rtol=1e-5)
    assert noise == pytest.approx(0.2, rel=0.25)


def drawn(n=400, outputs=0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    return X, np.column_stack([y, 10.0 * y]) if outputs else y


def test_each_output_has_its_own():
    X, Y = drawn(outputs=2)
    values, deviations = COLKRegressor(random_state=0).fit(X, Y).predict(X, return_std=True)
    assert values.shape == deviations.shape == (400, 2)
    np.testing.assert_allclose(deviations[:, 1], 10.0 * deviations[:, 0], rtol=0.05)


def test_sparse_rows_have_them():
    X, y = drawn()
    dense, sparse = (
        COLKRegressor(kernel="gaussian", standardize=False, random_state=0).fit(rows, y)
        for rows in (X, csr_matrix(X))
    )
    np.testing.assert_allclose(
        sparse.predict(csr_matrix(X[:20]), return_std=True)[1],
        dense.predict(X[:20], return_std=True)[1],
        rtol=1e-6,
    )


def test_files_keep_them_and_partial_fit_ends_them(tmp_path):
    X, y = drawn()
    model = COLKRegressor(random_state=0).fit(X, y)
    colk.save(model, tmp_path / "model.colk")
    again = colk.load(tmp_path / "model.colk")
    for first, second in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(first, second)
    with pytest.raises(ValueError, match="that partial_fit has not changed"):
        again.partial_fit(X[:50], 3.0 * y[:50]).predict(X, return_std=True)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_draws_and_log_scores_are_those_of_the_normal_law(solver):
    X, y = drawn()
    model = COLKRegressor(solver=solver, random_state=0).fit(X, y)
    values, deviations = model.predict(X, return_std=True)
    draws = model.sample_y(X, n_samples=4000)
    np.testing.assert_allclose(draws.mean(axis=1), values, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=1), deviations, rtol=0.06)
    np.testing.assert_array_equal(draws, model.sample_y(X, n_samples=4000))
    apart = ((y - values) / deviations) ** 2
    expected = -0.5 * apart - np.log(deviations) - 0.5 * np.log(2.0 * np.pi)
    assert model.log_score(X, y) == pytest.approx(expected.mean())
    weight = np.arange(400.0)
    assert model.log_score(X, y, weight) == pytest.approx(np.average(expected, weights=weight))
