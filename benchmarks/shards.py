"""Fits over partitions compared with one fit of all rows in memory: errors on new rows.

    python benchmarks/shards.py            three seeds; 2, 8 and 32 partitions
    python benchmarks/shards.py --quick    one seed, 2 and 8 partitions

Each problem has 16,000 rows, which one fit sees whole, and 8,000 others for the test. The fit over
partitions finds kernel, atoms and λ on a sample of 8,000 rows; all models have at most 200 atoms.
Partitions are alike, or sorted by the first feature. The numbers are test errors divided by that of
the fit in memory: the mean over the seeds, and the largest in brackets. The error is the mean
squared error, the logarithmic loss, or the value of the risk. Risks are taken as given: with
`risk_path`, the sample decides whether a risk pays, and may decide otherwise than all rows.

A fit in memory draws at random as well. The column "in memory, again" has two more such fits, with
other values of `random_state`. It shows how much of the other columns is chance.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss
from tables import publish, table

from colk import COLKClassifier, COLKRegressor
from colk.distributed import DaskCOLKClassifier, DaskCOLKRegressor
from colk.kernels import Kernel, Matern
from colk.risks import CVaR, Risk, Variance

TRAINING, TEST, SAMPLE, MOST_ATOMS = 16_000, 8000, 8000, 200
AGAIN = (1, 2)  # values of random_state
Array = np.ndarray


class Problem(NamedTuple):
    """Rows, the error of a model, and the settings of the estimators."""

    make: Callable[[np.random.Generator], tuple[Array, Array]]
    error: Callable[[Any, Array, Array], float]
    settings: dict[str, Any]
    are_labels: bool = False


def friedman(rng: np.random.Generator) -> tuple[Array, Array]:
    return make_friedman1(TRAINING + TEST, noise=1.0, random_state=int(rng.integers(2**31)))


def wave(rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.random((TRAINING + TEST, 1))
    return X, np.sin(12.0 * X[:, 0]) + 0.3 * rng.normal(size=len(X))


def skewed(rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.random((TRAINING + TEST, 3))
    noise = rng.exponential(size=len(X)) * (0.2 + 2.0 * X[:, 1])
    return X, np.sin(6.0 * X[:, 0]) + X[:, 2] + noise


def classes(rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(size=(TRAINING + TEST, 2))
    noise = 0.5 * rng.normal(size=len(X))
    return X, (X[:, 0] ** 2 + 0.5 * X[:, 1] + noise > 0.7).astype(int)


def squared(model: Any, X: Array, y: Array) -> float:
    return float(np.mean((model.predict(X) - y) ** 2))


def logarithmic(model: Any, X: Array, y: Array) -> float:
    return float(log_loss(y, model.predict_proba(X)))


def value_of(risk: Risk) -> Callable[[Any, Array, Array], float]:
    def error(model: Any, X: Array, y: Array) -> float:
        return float(risk.value((model.predict(X) - y) ** 2))

    return error


def under(risk: Risk, kernel: Kernel | str = "auto") -> Problem:
    settings = {"risk": risk, "risk_path": False, "loss": "squared", "kernel": kernel}
    return Problem(skewed, value_of(risk), settings)


PROBLEMS = {
    "Friedman 1": Problem(friedman, squared, {}),
    "1-D": Problem(wave, squared, {}),
    "classes": Problem(classes, logarithmic, {}, are_labels=True),
    "Variance(1), kernel given": under(Variance(1.0), Matern(1.0)),
    "CVaR(0.1), kernel given": under(CVaR(0.1), Matern(1.0)),
    "Variance(1)": under(Variance(1.0)),
    "CVaR(0.1)": under(CVaR(0.1)),
}


def ratios(problem: Problem, seed: int, counts: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """Return ratios of errors: of partitions that are alike, then sorted; of fits in memory."""
    X, y = problem.make(np.random.default_rng([seed, 4]))
    test, targets, X, y = X[TRAINING:], y[TRAINING:], X[:TRAINING], y[:TRAINING]
    kind = COLKClassifier if problem.are_labels else COLKRegressor
    over = DaskCOLKClassifier if problem.are_labels else DaskCOLKRegressor
    settings = {"max_atoms": MOST_ATOMS, **problem.settings}
    whole, *again = (
        problem.error(kind(random_state=k, **settings).fit(X, y), test, targets)
        for k in (0, *AGAIN)
    )
    found = []
    for order in (np.arange(TRAINING), np.argsort(X[:, 0], kind="stable")):
        for count in counts:
            size = TRAINING // count
            lazy = da.from_array(X[order], chunks=(size, X.shape[1]))
            lazy_targets = da.from_array(y[order], chunks=size)
            with ThreadPoolExecutor(2) as pool:
                model = over(client=pool, sample_size=SAMPLE, random_state=0, **settings)
                model.fit(lazy, lazy_targets)
            found.append(problem.error(model.local_, test, targets) / whole)
    return found, [each / whole for each in again]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    is_quick, rows = parser.parse_args().quick, []
    counts = (2, 8) if is_quick else (2, 8, 32)
    columns = ["problem", *(f"{n}, {kind}" for kind in ("alike", "sorted") for n in counts)]
    columns.append("in memory, again")
    for name, problem in PROBLEMS.items():
        seeds = range(1 if is_quick else 3)
        found, again = zip(*(ratios(problem, seed, counts) for seed in seeds), strict=True)
        groups = [*np.transpose(found), np.ravel(again)]
        rows.append([name, *(f"{each.mean():.3f} ({each.max():.3f})" for each in groups)])
        print(*rows[-1], sep=" | ", flush=True)
    if is_quick:
        print(table(columns, rows))
    else:
        publish("shards", columns, rows)


if __name__ == "__main__":
    main()
