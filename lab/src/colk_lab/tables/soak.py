"""Ten streams that do not change: the accuracy of the averaged model over 10⁷ rows.

The estimators learn rows of one distribution by `partial_fit`, at their defaults except for kernel
and number of atoms. The accuracy is R² against the noiseless truth on 4,000 points, or the share of
40,000 points with the label that is most probable; the points are the same at every reading of a
run. A single run varies, because a good set of atoms may last for 10⁶ rows and then change by
chance. A reading is therefore the mean of three runs with different rows. A model must not get
worse: the last reading must be at least the best one minus 0.002. The last column has the largest
difference between the best and the last accuracy of a single run.

    python -m colk_lab.tables soak FILE [--quick]

FILE keeps the readings of finished streams, so that a later call continues. `--quick` learns a
hundredth of the rows, and prints the table. All streams take about seven minutes of one core.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from colk import COLKClassifier, COLKRegressor
from colk_lab.tables.output import FIGURES, publish, table

ROWS, CHUNK, SLACK = 10_000_000, 10_000, 0.002
SEEDS = range(3)

Array = np.ndarray
Truth = Callable[[Array], Array]
Results = dict[str, list[tuple[int, list[float]]]]  # rows, and the accuracy of each run


def friedman(X: Array) -> Array:
    """Friedman's first function: five of the features matter."""
    waves = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return waves + 10.0 * X[:, 3] + 5.0 * X[:, 4]


def waves(X: Array) -> Array:
    """A sum of four sines in random directions."""
    directions = np.random.default_rng(5).normal(size=(X.shape[1], 4))
    return np.sin(4.0 * (X - 0.5) @ directions).sum(axis=1)


def three(X: Array) -> Array:
    """Three classes: the waves cut at −0.7 and 0.7."""
    return np.digitize(waves(X), [-0.7, 0.7])


def two(X: Array) -> Array:
    """Two classes: the sign of the waves."""
    return (waves(X) > 0.0).astype(int)


class Still(NamedTuple):
    """A truth on the unit cube, its noise, and the settings of the estimator."""

    name: str
    truth: Truth
    n_features: int
    noise: float  # standard deviation, or the share of labels that are drawn anew
    settings: dict[str, Any]

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return {two: 2, three: 3}.get(self.truth, 0)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw points and noisy targets."""
        X = rng.random((n, self.n_features))
        y = self.truth(X)
        if self.n_classes:
            return X, np.where(rng.random(n) < self.noise, rng.integers(self.n_classes, size=n), y)
        return X, y + self.noise * rng.normal(size=n)

    def readings(self, rows: int, seed: int) -> Iterator[tuple[int, float]]:
        """Learn, and yield the accuracy at rows that double, then at every tenth of all rows."""
        rng, X_test = (np.random.default_rng([seed, i]) for i in range(2))
        points = X_test.random((40_000 if self.n_classes else 4000, self.n_features))
        truth = self.truth(points)
        model = (COLKClassifier if self.n_classes else COLKRegressor)(**self.settings)
        classes = {"classes": np.arange(self.n_classes)} if self.n_classes else {}
        due = {CHUNK * 2**k for k in range(20)} | {rows * k // 10 for k in range(1, 11)}
        for learned in range(CHUNK, rows + 1, CHUNK):
            model.partial_fit(*self.draw(rng, CHUNK), **classes)
            if learned in due:
                found = model.predict(points)
                error = float(np.mean((found - truth) ** 2) / max(np.var(truth), 1e-300))
                yield learned, float(np.mean(found == truth)) if self.n_classes else 1.0 - error


def settings(kernel: str, max_atoms: int, **more: Any) -> dict[str, Any]:
    """Return the settings of an estimator."""
    return {"kernel": kernel, "max_atoms": max_atoms, **more}


PROBLEMS = (
    Still("Friedman, Laplacian", friedman, 10, 1.0, settings("laplacian", 60)),
    Still("Friedman, Gaussian", friedman, 10, 1.0, settings("gaussian", 60)),
    Still("Friedman, Matérn", friedman, 10, 1.0, settings("matern", 60)),
    Still("waves in 1-D, Gaussian", waves, 1, 0.5, settings("gaussian", 100)),
    Still("waves in 1-D, Laplacian", waves, 1, 0.5, settings("laplacian", 60)),
    Still("waves in 2-D, Gaussian", waves, 2, 0.5, settings("gaussian", 100)),
    Still("waves in 3-D, squared loss", waves, 3, 0.3, settings("matern", 60, loss="squared")),
    Still("2 classes in 2-D, Laplacian", two, 2, 0.2, settings("laplacian", 60)),
    Still("2 classes in 4-D, Gaussian", two, 4, 0.2, settings("gaussian", 60)),
    Still("3 classes in 2-D, Laplacian", three, 2, 0.2, settings("laplacian", 60)),
)


def run(file: Path, rows: int) -> Results:
    """Run the problems that the file does not have; it is written after each of them."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for problem in PROBLEMS:
        if problem.name in known:
            continue
        begin = time.process_time()
        runs = zip(*(problem.readings(rows, seed) for seed in SEEDS), strict=True)
        known[problem.name] = [(each[0][0], [found for _, found in each]) for each in runs]
        pace = (time.process_time() - begin) / (rows * len(SEEDS)) * 1e6
        print(f"{problem.name}: {pace:.1f} µs a row", flush=True)
        file.write_text(json.dumps(known), encoding="utf-8")
    return known


def report(results: Results, is_whole: bool) -> bool:
    """Show best and last readings, in docs/tables if all rows were learned; return if all pass."""
    rows, sound = [], True
    for name, readings in results.items():
        runs = np.array([found for _, found in readings])
        means = runs.mean(axis=1)
        best, lost = int(means.argmax()), float((runs.max(axis=0) - runs[-1]).max())
        sound = sound and bool(means[-1] >= means[best] - SLACK)
        shown = [f"{means[i]:.4f}" for i in (0, best, -1)]
        rows.append([name, *shown[:2], f"{readings[best][0]:,}", shown[2], f"{lost:.4f}"])
    columns = ["stream", "10,000 rows", "best", "at row", "last", "a single run loses"]
    if is_whole:
        publish("soak_still", columns, rows)
    else:
        print(table(columns, rows))
    return sound


def plot(results: Results, path: Path) -> None:
    """Plot the distance from a perfect score against the number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
    for i, (name, readings) in enumerate(results.items()):
        rows, runs = zip(*readings, strict=True)
        lost = 1.0 - np.mean(runs, axis=1)
        axes.loglog(rows, lost, ".-", color=f"C{i}", label=name, linewidth=1.0)
    axes.set(xlabel="rows", ylabel="1 − R², or share of wrong labels")
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=150)
    print(f"plotted in {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description="streams that do not change")
    parser.add_argument("file", type=Path)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    found = run(given.file, ROWS // (100 if given.quick else 1))
    if not given.quick:
        plot(found, FIGURES / "soak_still.png")
    return 0 if report(found, not given.quick) else 1


if __name__ == "__main__":
    sys.exit(main())
