"""Log scores of normal predictive distributions, beside published ones of MC dropout.

    python -m colk_lab.tables log_scores [--splits 20] [--final]

Each split draws 90 % of the rows to fit and 10 % to judge. The score is the mean logarithm of the
density of a target, in its unit; larger is better. The published scores (Gal, Ghahramani, "Dropout
as a Bayesian approximation", 2016, with its 20 splits of 90/10) are of other splits. `--final` adds
the sets that only a final run reads; nothing was chosen on them.

Writes docs/tables/log_scores.md; takes about three minutes.
"""

import argparse

import numpy as np

from colk import COLKRegressor
from colk_lab.data import final_run, load
from colk_lab.tables.output import publish

# Name of the set, unit of the published score, and the score.
DEVELOPMENT = {"concrete": -2.94, "yacht_hydrodynamics": -1.25}
COLUMNS = ["set", "log score", "MC dropout, published", "RMSE", "coverage of ±1.645 deviations"]
FINAL = {"ccpp": -2.81, "winequality_red": -0.93}


def scores(name: str, n_splits: int) -> np.ndarray:
    """Return the log score, the error and the coverage of ±1.645 deviations in each split."""
    table, y = load(name)
    X, found = table.to_numpy(dtype=np.float64), []
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(len(y))
        size = round(0.9 * len(y))
        fitted, judged = order[:size], order[size:]
        model = COLKRegressor(random_state=0).fit(X[fitted], y[fitted])
        values, deviations = model.predict(X[judged], return_std=True)
        errors = np.abs(values - y[judged])
        inside = float((errors <= 1.645 * deviations).mean())
        found.append(
            [model.log_score(X[judged], y[judged]), float(np.sqrt(np.mean(errors**2))), inside]
        )
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--final", action="store_true", help="also read the final sets")
    arguments = parser.parse_args()
    lines = []
    for names, is_final in ((DEVELOPMENT, False), (FINAL, True)):
        if is_final and not arguments.final:
            continue
        for name, published in names.items():
            if is_final:
                with final_run():
                    found = scores(name, arguments.splits)
            else:
                found = scores(name, arguments.splits)
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
            lines.append(
                [
                    *(name, f"{mean[0]:.2f} ± {error[0]:.2f}", f"{published:.2f}"),
                    *(f"{mean[1]:.3g}", f"{mean[2]:.3f}"),
                ]
            )
            publish("log_scores", COLUMNS, lines)


if __name__ == "__main__":
    main()
