"""Fits over partitions compared with fits of all rows in memory: errors on new rows.

    python -m colk_lab.tables shards                   three seeds; 2, 8 and 32 partitions
    python -m colk_lab.tables shards --quick           one seed, 2 and 8 partitions
    python -m colk_lab.tables shards --atoms auto      no limit of 200 atoms; prints the table
    python -m colk_lab.tables shards --cache FOLDER    continues an interrupted run
    python -m colk_lab.tables shards --jobs 2          in two processes

Each problem has 16,000 rows, all of which a fit in memory uses, and 100,000 others for the test.
The fit over partitions finds kernel, atoms and λ on a sample of 8,000 rows; all models have at most
200 atoms. Partitions are alike, or sorted by the first feature. The error is the mean squared
error, the logarithmic loss, or the value of the risk. Risks are minimised as given, because with
`risk_path` the sample decides whether a risk pays, and all rows might decide differently.

A fit draws rows at random, 2,000 at most, to choose its kernel, in memory as well as over
partitions, and different kernels have different errors. So each error is the mean of three fits
with different values of `random_state`. The numbers are errors over partitions divided by those in
memory: the mean over the seeds, and the largest in brackets. The last column has single fits in
memory relative to the mean of the three: the smallest and the largest of all seeds.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from joblib import Memory, Parallel, delayed
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss

from colk import COLKClassifier, COLKRegressor
from colk.distributed import DaskCOLKClassifier, DaskCOLKRegressor
from colk.kernels import Kernel, Matern
from colk.risks import CVaR, Risk, Variance
from colk_lab.tables.output import publish, table

TRAINING, TEST, SAMPLE, MOST_ATOMS = 16_000, 100_000, 8000, 200
DRAWS = (0, 1, 2)  # values of random_state
Array = np.ndarray


class ShardProblem(NamedTuple):
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


def under(risk: Risk, kernel: Kernel | str = "auto") -> ShardProblem:
    settings = {"risk": risk, "risk_path": False, "loss": "squared", "kernel": kernel}
    return ShardProblem(skewed, value_of(risk), settings)


PROBLEMS = {
    "Friedman 1": ShardProblem(friedman, squared, {}),
    "1-D": ShardProblem(wave, squared, {}),
    "classes": ShardProblem(classes, logarithmic, {}, are_labels=True),
    "Variance(1), kernel given": under(Variance(1.0), Matern(1.0)),
    "CVaR(0.1), kernel given": under(CVaR(0.1), Matern(1.0)),
    "Variance(1)": under(Variance(1.0)),
    "CVaR(0.1)": under(CVaR(0.1)),
}


def ratios(
    name: str, seed: int, counts: tuple[int, ...], atoms: int | None
) -> tuple[list[float], list[float]]:
    """Return ratios of errors: of partitions that are alike, then sorted; of fits in memory."""
    problem = PROBLEMS[name]
    X, y = problem.make(np.random.default_rng([seed, 4]))
    test, targets, X, y = X[TRAINING:], y[TRAINING:], X[:TRAINING], y[:TRAINING]
    kind = COLKClassifier if problem.are_labels else COLKRegressor
    over = DaskCOLKClassifier if problem.are_labels else DaskCOLKRegressor
    settings = {**problem.settings, **({} if atoms is None else {"max_atoms": atoms})}
    models = (kind(random_state=k, **settings).fit(X, y) for k in DRAWS)
    in_memory = [problem.error(model, test, targets) for model in models]
    found = []
    for order in (np.arange(TRAINING), np.argsort(X[:, 0], kind="stable")):
        for count in counts:
            size = TRAINING // count
            lazy = da.from_array(X[order], chunks=(size, X.shape[1]))
            lazy_targets = da.from_array(y[order], chunks=size)
            errors = []
            for k in DRAWS:
                with ThreadPoolExecutor(1) as pool:
                    model = over(client=pool, sample_size=SAMPLE, random_state=k, **settings)
                    model.fit(lazy, lazy_targets)
                errors.append(problem.error(model.local_, test, targets))
            found.append(np.mean(errors))
    mean = np.mean(in_memory)
    return list(np.divide(found, mean)), list(np.divide(in_memory, mean))


def atoms_of(text: str) -> int | None:
    return None if text == "auto" else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--atoms", type=atoms_of, default=MOST_ATOMS, help='a number, or "auto"')
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="folder of the results")
    given, rows = parser.parse_args(), []
    counts = (2, 8) if given.quick else (2, 8, 32)
    columns = ["problem", *(f"{n}, {kind}" for kind in ("alike", "sorted") for n in counts)]
    columns.append("fits in memory")
    stored, seeds = Memory(given.cache, verbose=0).cache(ratios), range(1 if given.quick else 3)
    results = Parallel(given.jobs, return_as="generator")(
        delayed(stored)(name, seed, counts, given.atoms)
        for name in given.problems
        for seed in seeds
    )
    for name in given.problems:
        found, own = zip(*(next(results) for _ in seeds), strict=True)
        cells = [f"{each.mean():.3f} ({each.max():.3f})" for each in np.transpose(found)]
        rows.append([name, *cells, f"{np.min(own):.3f} to {np.max(own):.3f}"])
        print(*rows[-1], sep=" | ", flush=True)
    if given.quick or given.atoms != MOST_ATOMS or len(rows) < len(PROBLEMS):
        print(table(columns, rows))
    else:
        publish("shards", columns, rows)


if __name__ == "__main__":
    main()
