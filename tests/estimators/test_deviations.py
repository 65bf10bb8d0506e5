"""±1.645 standard deviations cover 0.9 of new targets and are wide where there are no data."""

import numpy as np
import pytest

from colk import COLKRegressor


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


@pytest.mark.parametrize("learn", [COLKRegressor.fit, COLKRegressor.partial_fit])
@pytest.mark.parametrize(
    "draw", [sine(0.1), sine(1.0), waves, plane], ids=["quiet", "loud", "waves", "plane"]
)
def test_coverage(draw, learn):
    covered = []
    for seed in range(5):
        X, y = draw(np.random.default_rng(seed), 4000)
        model = COLKRegressor(kernel="gaussian", solver="newton", random_state=0)
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
