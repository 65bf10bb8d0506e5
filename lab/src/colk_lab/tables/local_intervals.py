"""Coverage of intervals at each x, of label sets for each class, and widths on Friedman's stream.

    python -m colk_lab.tables local_intervals [--seeds 10] [--friedman 1]

Noise: streams of 10,000 samples whose noise depends on x, uniform in [−1, 1], in rounds of ten
samples. Coverage (nominal 0.9) is counted in ten bins of x, after 1000 samples, or after 1000
samples from the jump on; "worst bin" is the largest distance from 0.9 of a bin's mean over the
seeds. Width is divided by that of the true quantiles. The bandwidths of the quantiles were
chosen on seeds 0 to 2; the table has others.

Labels: sets of labels (nominal 0.9) of 10,000 samples of three classes, with and without
`by_class`, after 1000 samples. Friedman: 95 % intervals of `colk.river` on 40,768 samples of
Friedman's first function with noise of variance 1; the width is divided by 2 · 1.96.

Writes docs/tables/intervals_noise.md, intervals_labels.md and intervals_friedman.md; takes about
ten minutes of one core.
"""

import argparse

import numpy as np
from river import datasets, preprocessing
from scipy.stats import norm

from colk import COLKClassifier, COLKRegressor, ConformalRegressor, river
from colk.conformal import ConformalClassifier
from colk_lab.tables.output import publish

SIZE, ROUND, WARM, BINS, COVERAGE, FIRST_SEED = 10_000, 10, 1000, 10, 0.9, 100
FRIED = 40_768

NOISE = {
    "grows with x": lambda x: 0.3 + 0.25 * x,
    "a wave": lambda x: 0.1 + 0.4 * np.abs(np.sin(2.0 * x)),
    "a step at 0": lambda x: np.where(x > 0.0, 0.5, 0.1),
    "jumps after 5000 samples": lambda x: np.where(
        np.arange(SIZE) < SIZE // 2, 0.3 + 0.25 * x, 0.3 - 0.25 * x
    ),
}


def noisy(name: str, seed: int, local: bool) -> tuple[np.ndarray, float]:
    """Return the coverage in each bin, and the width relative to the true one."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, SIZE)
    spread, center = NOISE[name](x), np.sin(3.0 * x)
    first = WARM
    if "jumps" in name:
        center, first = np.where(np.arange(SIZE) < SIZE // 2, center, -center), SIZE // 2 + WARM
    X, y = x[:, None], center + spread * rng.normal(size=SIZE)
    regressor = COLKRegressor(solver="newton", kernel="gaussian", forgetting="auto")
    model, ends = ConformalRegressor(regressor, COVERAGE, local=local), np.zeros((SIZE, 2))
    for start in range(0, SIZE, ROUND):
        rows = slice(start, start + ROUND)
        if start >= WARM:
            ends[rows] = model.predict_interval(X[rows])
        model.learn(X[rows], y[rows])
    covered = ((ends[:, 0] <= y) & (y <= ends[:, 1]))[first:]
    bins = np.minimum(((x + 1.0) / 2.0 * BINS).astype(int), BINS - 1)[first:]
    true = 2.0 * norm.ppf(0.5 + 0.5 * COVERAGE) * spread[first:].mean()
    by_bin = np.bincount(bins, covered, BINS) / np.bincount(bins, minlength=BINS)
    return by_bin, float(np.ptp(ends[first:], axis=1).mean() / true)


def labels(seed: int, by_class: bool) -> tuple[float, np.ndarray, float]:
    """Return the coverage, that of each class, and the mean size of the sets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SIZE, 2))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.4 * rng.normal(size=SIZE), [0.0, 1.5])
    classifier = COLKClassifier(solver="newton", kernel="gaussian", max_atoms=100)
    model, found = ConformalClassifier(classifier, COVERAGE, by_class=by_class), []
    for start in range(0, SIZE, ROUND):
        rows = slice(start, start + ROUND)
        if start >= WARM:
            found += model.predict_set(X[rows])
        model.learn(X[rows], y[rows], classes=[0, 1, 2])
    inside = np.array([label in each for label, each in zip(y[WARM:], found, strict=True)])
    by_label = np.array([inside[y[WARM:] == label].mean() for label in range(3)])
    return float(inside.mean()), by_label, float(np.mean([len(each) for each in found]))


def friedman(seed: int, atoms: int) -> tuple[float, float]:
    """Return the coverage, and the width relative to that of the noise."""
    regressor = preprocessing.StandardScaler() | river.COLKRegressor(max_atoms=atoms)
    model, covered, widths = river.ConformalRegressor(regressor, coverage=0.95), [], []
    for x, y in datasets.synth.Friedman(seed=seed).take(FRIED):
        interval = model.predict_interval(x)
        covered.append(y in interval)
        widths.append(interval.width)
        model.learn_one(x, y)
    finite = np.isfinite(widths)
    return float(np.mean(covered)), float(np.array(widths)[finite].mean() / (2.0 * norm.ppf(0.975)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--friedman", type=int, default=1, help="seeds of Friedman's stream")
    arguments = parser.parse_args()
    seeds, rows = range(FIRST_SEED, FIRST_SEED + arguments.seeds), []
    for name in NOISE:
        for local in (False, True):
            runs = [noisy(name, seed, local) for seed in seeds]
            by_bin = np.mean([run[0] for run in runs], axis=0)
            off = f"{np.abs(by_bin - COVERAGE).max():.3f}"
            width = f"{np.mean([run[1] for run in runs]):.2f}"
            rows.append([name, str(local), f"{by_bin.mean():.3f}", off, width])
            print(rows[-1], flush=True)
    publish("intervals_noise", ["noise", "`local`", "coverage", "worst bin", "width"], rows)
    rows = []
    for by_class in (False, True):
        sets = [labels(seed, by_class) for seed in seeds]
        of_classes = np.mean([each[1] for each in sets], axis=0)
        rows.append([
            str(by_class), f"{np.mean([each[0] for each in sets]):.3f}",
            ", ".join(f"{each:.3f}" for each in of_classes),
            f"{np.mean([each[2] for each in sets]):.2f}",
        ])  # fmt: skip
    publish("intervals_labels", ["`by_class`", "coverage", "of each class", "labels"], rows)
    rows = []
    for atoms in (200, 400):
        found = np.mean([friedman(FIRST_SEED + k, atoms) for k in range(arguments.friedman)], 0)
        rows.append([str(atoms), f"{found[0]:.4f}", f"{found[1]:.3f}"])
        print(rows[-1], flush=True)
    publish("intervals_friedman", ["`max_atoms`", "coverage", "width"], rows)


if __name__ == "__main__":
    main()
