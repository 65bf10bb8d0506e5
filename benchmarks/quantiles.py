"""COLKQuantileRegressor on new data: coverage of each quantile, pinball loss, time.

The noise is heteroscedastic and skewed. Nothing was chosen on these problems with these seeds.
Writes docs/tables/quantiles.md.
"""

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import publish

from colk import COLKQuantileRegressor

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
N_TRAIN, N_TEST = 4000, 20_000

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
    start = time.perf_counter()
    model = make_pipeline(StandardScaler(), COLKQuantileRegressor(LEVELS, random_state=seed))
    ours = model.fit(X[train], y[train]).predict(X[test])
    seconds = time.perf_counter() - start
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--features", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--noise", nargs="+", default=["normal", "skewed", "heavy"])
    parser.add_argument(
        "--peers", type=int, default=10, help="number of seeds for gradient boosting"
    )
    arguments = parser.parse_args()
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
