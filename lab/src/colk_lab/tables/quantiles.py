"""COLKQuantileRegressor on new data: coverage of each quantile, pinball loss, time.

The noise is heteroscedastic and skewed. Nothing was chosen on these problems with these seeds.
Writes docs/tables/quantiles.md; with `--sizes` the coverage of the default interval, nominally 0.9,
by the number of samples, and writes docs/tables/quantiles_sizes.md.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colk import COLKQuantileRegressor
from colk_lab.tables.output import publish

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
N_TRAIN, N_TEST = 4000, 20_000
# From this many samples on, a fifth of the seeds is enough for the table of sizes.
_MANY = 500

Array = NDArray[np.float64]


def noise(kind: str, size: int, rng: np.random.Generator) -> Array:
    if kind == "skewed":
        return rng.exponential(size=size) - 1.0
    return rng.standard_t(4, size=size) if kind == "heavy" else rng.normal(size=size)


def problem(p: int, kind: str, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """A wave, a slope and a product of features; the spread grows along the first feature."""
    X = rng.uniform(-1.5, 1.5, size=(size, p))
    mean = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, -1]
    if p > 2:
        mean += X[:, 1] * X[:, 2]
    spread = 0.2 + 0.3 * (1.0 + X[:, 0] / 1.5)
    return X, mean + spread * noise(kind, size, rng)


def boosted(X: Array, y: Array, points: Array, seed: int) -> Array:
    fits = [
        GradientBoostingRegressor(loss="quantile", alpha=level, random_state=seed).fit(X, y)
        for level in LEVELS
    ]
    return np.column_stack([fit.predict(points) for fit in fits])


def compare(p: int, kind: str, seed: int, with_peer: bool) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X, y = problem(p, kind, N_TRAIN + N_TEST, rng)
    train, test = slice(None, N_TRAIN), slice(N_TRAIN, None)
    start = time.process_time()
    model = make_pipeline(StandardScaler(), COLKQuantileRegressor(LEVELS, random_state=seed))
    ours = model.fit(X[train], y[train]).predict(X[test])
    seconds = time.process_time() - start
    peer = boosted(X[train], y[train], X[test], seed) if with_peer else np.full_like(ours, np.nan)

    def loss(F: Array) -> float:
        return float(
            np.mean([mean_pinball_loss(y[test], F[:, c], alpha=LEVELS[c]) for c in range(5)])
        )

    return {
        "coverage": (y[test, None] <= ours).mean(axis=0),
        "ratio": loss(ours) / loss(peer) if with_peer else np.nan,
        "seconds": seconds,
    }


def smooth(size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Eight features, four of which matter, and noise that is the same everywhere."""
    X = rng.normal(size=(size, 8))
    mean = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 + X[:, 2] * X[:, 3]
    return X, mean + 0.3 * rng.normal(size=size)


def interval(X: Array, y: Array, n: int, seed: int) -> tuple[float, float]:
    """Return the coverage and the mean interval score of the default model after n samples."""
    model = make_pipeline(StandardScaler(), COLKQuantileRegressor(random_state=seed))
    low, _, high = model.fit(X[:n], y[:n]).predict(X[n:]).T
    targets = y[n:]
    missed = np.maximum(low - targets, 0.0) + np.maximum(targets - high, 0.0)
    return float(np.mean(missed == 0.0)), float(np.mean(high - low + 20.0 * missed))


def by_size(sizes: list[int], seeds: range) -> None:
    """Measure coverage and interval score by the number of samples."""
    draws: dict[str, Callable[[int, np.random.Generator], tuple[Array, Array]]] = {
        f"{p}, {kind}": partial(problem, p, kind)
        for p, kind in ((1, "normal"), (2, "skewed"), (5, "heavy"), (10, "normal"))
    }
    draws["8, smooth"] = smooth
    rows = []
    for n in sizes:
        for name, draw in draws.items():
            used = seeds if n < _MANY else seeds[: max(len(seeds) // 5, 1)]
            runs = np.array(
                [interval(*draw(n + N_TEST, np.random.default_rng(s)), n, s) for s in used]
            )
            coverage, score = runs.T
            shown = [coverage.mean(), coverage.min(), coverage.max(), score.mean()]
            numbers = (f"{value:.3f}" for value in shown)
            rows.append([str(n), name, str(len(used)), *numbers])
            print(rows[-1], flush=True)
    columns = [
        "samples",
        "features, noise",
        "seeds",
        "coverage",
        "lowest",
        "highest",
        "interval score",
    ]
    publish("quantiles_sizes", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", help="such as 30 50 100 150 200 500 2000")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--features", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--noise", nargs="+", default=["normal", "skewed", "heavy"])
    parser.add_argument(
        "--peers", type=int, default=10, help="number of seeds for gradient boosting"
    )
    arguments = parser.parse_args()
    if arguments.sizes:
        by_size(arguments.sizes, range(arguments.first, arguments.first + arguments.seeds))
        return
    rows = []
    for p in arguments.features:
        for kind in arguments.noise:
            seeds = range(arguments.first, arguments.first + arguments.seeds)
            runs = [compare(p, kind, seed, k < arguments.peers) for k, seed in enumerate(seeds)]
            coverage = np.mean([run["coverage"] for run in runs], axis=0)
            ratio = np.nanmean([run["ratio"] for run in runs])
            seconds = np.mean([run["seconds"] for run in runs])
            shown = [f"{value:.3f}" for value in (*coverage, ratio)]
            rows.append([str(p), kind, *shown, f"{seconds:.1f}"])
            print(rows[-1], flush=True)
    names = [f"below the {level:g} quantile" for level in LEVELS]
    columns = ["features", "noise", *names, "pinball loss / boosting", "seconds"]
    publish("quantiles", columns, rows)


if __name__ == "__main__":
    main()
