"""Coverage of ±1.645 standard deviations of `predict(X, return_std=True)`, for constant noise.

    python -m colk_lab.tables newton_std [--seeds 10] [--prior auto]

`COLKRegressor(solver="newton")` at its defaults, with `fit` and with one pass of `partial_fit`, is
tested on 5,000 new samples; the nominal coverage is 0.90. "Width" is the RMS of the standard
deviations divided by the RMS of the errors; the ideal value is 1. "Far" is the median standard
deviation at inputs ten times as far from the mean, divided by the median at inputs like the
training samples. With `--prior auto`, the table is newton_std_auto.md.
"""

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2
from sklearn.preprocessing import StandardScaler

from colk import COLKRegressor
from colk_lab.tables.output import publish

SIZES, TESTED, FIRST_SEED, DEVIATIONS = (1000, 4000), 5000, 1000, 1.645

Problem = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def sine(noise: float) -> Problem:
    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = rng.uniform(-2.0, 2.0, size=(n, 1))
        return X, np.sin(3.0 * X[:, 0]) + noise * rng.normal(size=n)

    return draw


def waves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0] + 2.0 * X[:, 1]) + np.abs(X[:, 2]) + 0.4 * rng.normal(size=n)


def plane(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 6))
    return X, X @ np.linspace(-1.0, 1.0, 6) + 0.5 * rng.normal(size=n)


def friedman(make: Callable[..., tuple[np.ndarray, np.ndarray]], noise: float) -> Problem:
    return lambda n, rng: make(n, noise=noise, random_state=int(rng.integers(2**31)))


PROBLEMS: dict[str, Problem] = {
    "sine, noise 0.1": sine(0.1),
    "sine, noise 1": sine(1.0),
    "waves and an edge, 3 features": waves,
    "plane, 6 features": plane,
    "Friedman 1, noise 1": friedman(make_friedman1, 1.0),
    "Friedman 1, noise 3": friedman(make_friedman1, 3.0),
    "Friedman 2, noise 100": friedman(make_friedman2, 100.0),
}


def judged(model: COLKRegressor, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return coverage, relative width, and how much wider it is far away."""
    values, deviations = model.predict(X, return_std=True)
    errors = np.abs(values - y)
    far = model.predict(10.0 * X, return_std=True)[1]
    return (
        float(np.mean(errors <= DEVIATIONS * deviations)),
        float(np.sqrt(np.mean(deviations**2) / np.mean(errors**2))),
        float(np.median(far) / np.median(deviations)),
    )


def measured(
    problem: Problem, size: int, seed: int, prior: str | None
) -> list[tuple[float, float, float]]:
    """Return the results of `fit` and of one pass of `partial_fit`."""
    X, y = problem(size + TESTED, np.random.default_rng(seed))
    X = StandardScaler().fit(X[:size]).transform(X)
    found = []
    for learn in (COLKRegressor.fit, COLKRegressor.partial_fit):
        model = COLKRegressor(solver="newton", prior=prior, random_state=0)
        found.append(judged(learn(model, X[:size], y[:size]), X[size:], y[size:]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--prior", choices=["auto"])
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.seeds)
    rows = []
    for name, problem in PROBLEMS.items():
        for size in SIZES:
            found = np.array([measured(problem, size, seed, given.prior) for seed in seeds])
            fitted, streamed = found.mean(axis=0)
            spread = found[:, 0, 0].std(ddof=1)
            numbers = [f"{fitted[0]:.3f} ± {spread:.3f}", f"{fitted[1]:.2f}"]
            numbers += [f"{streamed[0]:.3f}", f"{streamed[1]:.2f}", f"{fitted[2]:.1f}"]
            rows.append([name, f"{size:,}", *numbers])
            print(rows[-1], flush=True)
    columns = ["problem", "samples", "`fit`: coverage", "width", "stream: coverage", "width", "far"]
    publish("newton_std_auto" if given.prior else "newton_std", columns, rows)


if __name__ == "__main__":
    main()
