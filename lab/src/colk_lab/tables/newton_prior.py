"""λ of Newton steps on streams without change and on two that drift, for `partial_fit`.

    python -m colk_lab.tables newton_prior [--seeds 3] [--data FOLDER]

`COLKRegressor(solver="newton")` and `COLKClassifier(solver="newton")` learn in chunks of 1,000
rows with fixed λ and with prior="auto". The numbers are 1 − R² on the noiseless truth, 1 − R² on
test rows for bike and airfoil, or the share of points without the most probable label. For streams
with drift they are the mean absolute error of each chunk before it is learned, in standard
deviations of the targets. "Time" is the processor time of prior="auto" divided by that of the
default λ.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from colk import COLKClassifier, COLKRegressor
from colk_lab.tables.data import airfoil, bike
from colk_lab.tables.newton_streams import reversals, walk
from colk_lab.tables.output import publish
from colk_lab.tables.soak import Still, friedman, three, two, waves

CHUNK, FIRST_SEED, N_TESTED = 1000, 300, 4000

Array = np.ndarray
Prior = Any


class Changing(NamedTuple):
    """Rows in their order, and rows for the test; without these the stream drifts."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def drawn(problem: Still, rows: int) -> Callable[[int], Changing]:
    """Return a function of the seed that draws an unchanging stream and noiseless test points."""

    def draw(seed: int) -> Changing:
        rng = np.random.default_rng(seed)
        X, y = problem.draw(rng, rows)
        X_test = rng.random((N_TESTED, problem.n_features))
        return Changing(X, y, X_test, problem.truth(X_test))

    return draw


def shuffled(load: Callable[[], tuple[Array, Array]], passes: int) -> Callable[[int], Changing]:
    """Return a function of the seed that learns four fifths of a table, `passes` times."""

    def draw(seed: int) -> Changing:
        X, y = load()
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(X))
        n = len(X) * 4 // 5
        X = StandardScaler().fit(X[order[:n]]).transform(X)
        rows = np.concatenate([rng.permutation(order[:n]) for _ in range(passes)])
        return Changing(X[rows], y[rows], X[order[n:]], y[order[n:]])

    return draw


def drifting(make: Callable[[int], Any]) -> Callable[[int], Changing]:
    """Return a function of the seed that draws a stream with drift."""

    def draw(seed: int) -> Changing:
        X, y = make(seed)
        return Changing(X, np.array(y), X[:0], np.array(y[:0]))

    return draw


def bike_table(folder: Path | None) -> tuple[Array, Array]:
    rows = bike(folder)
    return np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])


def cases(folder: Path | None) -> dict[str, tuple[Callable[[int], Changing], dict[str, Any]]]:
    """Return streams and settings by name."""
    few = {"kernel": "laplacian", "max_atoms": 60}

    def problem(truth: Any, n_features: int, noise: float) -> Still:
        return Still("", truth, n_features, noise, {})

    return {
        "Friedman 1, 60 atoms": (drawn(problem(friedman, 10, 1.0), 100_000), few),
        "Friedman 1": (drawn(problem(friedman, 10, 1.0), 20_000), {}),
        "Friedman 1, noise 3": (drawn(problem(friedman, 10, 3.0), 20_000), {}),
        "waves, 1 feature": (drawn(problem(waves, 1, 0.5), 20_000), {}),
        "waves, 3 features": (drawn(problem(waves, 3, 0.3), 20_000), {"max_atoms": 200}),
        "bike, shuffled": (shuffled(lambda: bike_table(folder), 1), {}),
        "airfoil, once": (shuffled(lambda: airfoil(folder), 1), {}),
        "airfoil, 10 times": (shuffled(lambda: airfoil(folder), 10), {}),
        "2 classes, 4 features": (drawn(problem(two, 4, 0.2), 20_000), {"max_atoms": 200}),
        "3 classes, 2 features": (drawn(problem(three, 2, 0.2), 20_000), {"max_atoms": 100}),
        "reversals (drift)": (drifting(reversals), {}),
        "random walk (drift)": (drifting(walk), {}),
    }


def measured(stream: Changing, prior: Prior, settings: dict[str, Any]) -> tuple[float, float]:
    """Return the error and the processor time."""
    X, y, X_test, y_test = stream
    has_labels = y.dtype.kind == "i"
    model = (COLKClassifier if has_labels else COLKRegressor)(
        solver="newton", prior=prior, **settings
    )
    classes = {"classes": np.unique(y)} if has_labels else {}
    errors, begin = [], time.process_time()
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        if start > 0 and len(X_test) == 0:
            errors.append(float(np.mean(np.abs(model.predict(X[rows]) - y[rows])) / np.std(y)))
        model.partial_fit(X[rows], y[rows], **classes)
    seconds = time.process_time() - begin
    if len(X_test) == 0:
        return float(np.mean(errors)), seconds
    found = model.predict(X_test)
    if has_labels:
        return float(np.mean(found != y_test)), seconds
    return float(np.mean((found - y_test) ** 2) / np.var(y_test)), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--data", type=Path, help="the folder with airfoil.csv and bike_hour.csv")
    given = parser.parse_args()
    rows = []
    for name, (draw, settings) in cases(given.data).items():
        unit = 0.5 if "2 classes" in name else 1.0  # the scale of the logistic loss
        priors: list[Prior] = [0.03 * unit, 0.1 * unit, 0.3 * unit, unit, "auto"]
        found = []
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            stream = draw(seed)
            found.append([measured(stream, prior, settings) for prior in priors])
        errors, seconds = np.moveaxis(np.mean(found, axis=0), 1, 0)
        default = 2 if "classes" in name else 1
        row = [name, *(f"{error:.4f}" for error in errors)]
        row += [f"{errors[-1] / errors[default]:.2f}", f"{seconds[-1] / seconds[default]:.2f}"]
        rows.append(row)
        print(*row, f"{seconds[default]:.2f} s", flush=True)
    columns = ["stream", "λ = 0.03", "0.1", "0.3", "1", '"auto"', "to the default", "time"]
    publish("newton_prior", columns, rows)


if __name__ == "__main__":
    main()
