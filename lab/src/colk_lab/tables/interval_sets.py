"""Intervals for rows that do not change, on real sets: worst slabs and interval scores, and peers.

    python -m colk_lab.tables interval_sets [--seeds 2] [--sets NAME ...] [--write]

Half of at most 3,000 rows fit and calibrate 90 % intervals; the other half judges them. "Split" is
split conformal prediction with one width around `COLKRegressor`: two thirds fit, one third
calibrates. `fit` uses leave-one-out residuals, and `local` also widths that depend on x. The peers
fit quantiles (CatBoost; HistGradientBoosting for MAPIE) or a normal law (NGBoost) to two thirds,
and one third calibrates them by CQR; NGBoost uses its own quantiles and all rows. "Worst slab" is
the metric of `worst_slab_coverage`, the mean over the seeds; scores are divided by the standard
deviation of the targets. Only development sets are read.

Prints the tables, or writes docs/tables/interval_slabs.md and interval_scores.md.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from colk import COLKRegressor, ConformalRegressor
from colk.conformal import interval_score, worst_slab_coverage
from colk_lab.data import load
from colk_lab.tables.output import publish, table

COVERAGE, MOST = 0.9, 3000
LEVELS = (0.05, 0.95)
SETS = (
    "airfoil", "boom_bikes", "concrete", "laser", "medical_cost", "qsar_fish_toxicity", "wizmir",
    "treasury", "quake", "bike_2011", "casp",
)  # fmt: skip
Rows = tuple[np.ndarray, np.ndarray]


def split(fitted: Rows, kept: Rows, X: np.ndarray) -> np.ndarray:
    model = ConformalRegressor(COLKRegressor(random_state=0).fit(*fitted), COVERAGE)
    return model.calibrate(*kept).predict_interval(X)


def whole(local: bool) -> Callable[[Rows, Rows, np.ndarray], np.ndarray]:
    def run(fitted: Rows, kept: Rows, X: np.ndarray) -> np.ndarray:
        rows = [np.concatenate(pair) for pair in zip(fitted, kept, strict=True)]
        model = ConformalRegressor(COLKRegressor(random_state=0), COVERAGE, local=local)
        return model.fit(*rows).predict_interval(X)

    return run


def corrected(kept: np.ndarray, ends: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the ends of CQR: moved by the quantile of the distances beyond the ends."""
    beyond = np.sort(np.maximum(ends[:, 0] - kept, kept - ends[:, 1]))
    rank = min(int(np.ceil(COVERAGE * (len(kept) + 1))), len(kept)) - 1
    return new + np.array([-beyond[rank], beyond[rank]])


def catboost(fitted: Rows, kept: Rows, X: np.ndarray) -> np.ndarray:
    from catboost import CatBoostRegressor

    loss = "MultiQuantile:alpha=" + ",".join(map(str, LEVELS))
    settings = {"verbose": 0, "thread_count": 1, "random_seed": 0, "allow_writing_files": False}
    model = CatBoostRegressor(loss_function=loss, iterations=500, **settings).fit(*fitted)
    return corrected(kept[1], model.predict(kept[0]), model.predict(X))


def mapie(fitted: Rows, kept: Rows, X: np.ndarray) -> np.ndarray:
    from mapie.regression import ConformalizedQuantileRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor

    levels = (*LEVELS, 0.5)
    models = [HistGradientBoostingRegressor(loss="quantile", quantile=q) for q in levels]
    models = [model.fit(*fitted) for model in models]
    peer = ConformalizedQuantileRegressor(models, confidence_level=COVERAGE, prefit=True)
    return np.asarray(peer.conformalize(*kept).predict_interval(X)[1])[:, :, 0]


def ngboost(fitted: Rows, kept: Rows, X: np.ndarray) -> np.ndarray:
    from ngboost import NGBRegressor

    rows = [np.concatenate(pair) for pair in zip(fitted, kept, strict=True)]
    law = NGBRegressor(verbose=False, random_state=0).fit(*rows).pred_dist(X)
    return np.column_stack([law.ppf(level) for level in LEVELS])


METHODS = {
    "split": split, "fit": whole(False), "fit, local": whole(True),
    "CQR, CatBoost": catboost, "CQR, MAPIE": mapie, "NGBoost": ngboost,
}  # fmt: skip


def measured(name: str, seeds: int) -> np.ndarray:
    """Return coverage, worst slab and score of each method, as means over the seeds."""
    frame, targets = load(name)
    X, y = pd.get_dummies(frame).to_numpy(dtype=np.float64), np.asarray(targets, dtype=np.float64)
    found = np.empty((seeds, len(METHODS), 3))
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))[:MOST]
        half = len(order) // 2
        first, new = order[: half * 2 // 3], order[half:]
        kept = order[half * 2 // 3 : half]
        scaled = (X - X[order[:half]].mean(axis=0)) / (X[order[:half]].std(axis=0) + 1e-12)
        for k, method in enumerate(METHODS.values()):
            low, high = method((X[first], y[first]), (X[kept], y[kept]), X[new]).T
            found[seed, k] = [
                np.mean((low <= y[new]) & (y[new] <= high)),
                worst_slab_coverage(scaled[new], y[new], low, high),
                interval_score(y[new], low, high, COVERAGE) / y.std(),
            ]
    return found.mean(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--write", action="store_true", help="write docs/tables")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    slabs, scores = [], []
    for name in arguments.sets:
        found = measured(name, arguments.seeds)
        slabs.append([name, *(f"{c:.3f}, {w:.3f}" for c, w, _ in found[:3])])
        scores.append([name, *(f"{s:.3f}" for *_, s in found)])
        for key, head, n, lines in (
            ("slabs", "set: coverage, worst slab", 3, slabs),
            ("scores", "set: interval score", len(METHODS), scores),
        ):
            columns = [head, *list(METHODS)[:n]]
            if arguments.write:  # after each set, so that a run that is stopped leaves a table
                publish(f"interval_{key}", columns, lines)
            else:
                print(table(columns, lines))


if __name__ == "__main__":
    main()
