"""Risks on streams: the asked-for risk on new data, relative to the model of the mean loss.

    python -m colk_lab.tables risk_streams run --data FOLDER [--rows 20000] [--batch 3]
    python -m colk_lab.tables risk_streams table
    python -m colk_lab.tables risk_streams time

Every model learns one stream by `partial_fit` in blocks of 100 rows, with the Laplacian kernel and
at most 200 atoms; the other settings are the defaults. A cell is the asked-for risk of the losses
on new rows, divided by that of the model of the mean loss on the same rows: the mean over the
seeds, and the largest. For the drifting stream, new rows are those of the second half, each block
predicted before it is learned. After the dot a cell has the same ratio for two batch fits, a polish
under the risk and one under the mean, with all rows on the final atoms of the mean's model, for the
first `--batch` seeds. The risk pays if the first of the two is smaller. A stream has `--rows` rows
for the first three problems, half as many for the others, and 5000 new rows.

Step sizes and the constants of the mixture were chosen with seeds below 200, most of them of the
first three problems. `run` keeps finished parts in the folder `--cache` and can be stopped at any
time; `table` writes docs/tables/risk_streams.md from them. `time` writes
docs/tables/risk_streams_time.md: processor time of the stream "skewed" under CVaR(.1), divided by
that under the mean, the least of three runs each.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from colk import COLKClassifier, COLKRegressor
from colk.losses import Huber, Logistic, Loss
from colk.risks import CVaR, Entropic, LossRisk, Mean, Semivariance, Variance
from colk.rkhs.polishing import polish
from colk_lab.tables.data import bike
from colk_lab.tables.output import kept, publish

RISKS: dict[str, LossRisk] = {
    "CVaR(.1)": CVaR(0.1),
    "semivariance(1)": Semivariance(1.0),
    "variance(.5)": Variance(0.5),
    "entropic(1)": Entropic(1.0),
}
SOLVERS = ("gradient", "newton")
SEEDS = range(200, 210)
BLOCK = 100
NEW = 5000  # new rows


class RiskStream(NamedTuple):
    """Rows in the order of the stream, and how many of them are new data at its end."""

    X: np.ndarray
    y: np.ndarray
    n_new: int
    is_prequential: bool = False


def skewed(rng: np.random.Generator, n: int) -> RiskStream:
    """Noise that is skewed, and five times larger on one side."""
    X = rng.normal(size=(n + NEW, 4))
    size = 0.2 + 0.8 * (X[:, 0] > 0.0)
    noise = size * (rng.exponential(size=len(X)) - 1.0)
    return RiskStream(X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + noise, NEW)


def lognormal(rng: np.random.Generator, n: int) -> RiskStream:
    """Lognormal noise whose size depends on a feature."""
    X = rng.normal(size=(n + NEW, 4))
    noise = 0.25 * np.exp(0.8 * rng.normal(size=len(X))) * (1.0 + 0.5 * X[:, 3] ** 2)
    return RiskStream(X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + noise, NEW)


def _friedman(X: np.ndarray) -> np.ndarray:
    waves = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return waves + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4]


def friedman(rng: np.random.Generator, n: int) -> RiskStream:
    """Friedman 1, with normal noise: nothing to gain."""
    X = rng.random((n + NEW, 10))
    return RiskStream(X, _friedman(X) + rng.normal(size=len(X)), NEW)


def heteroscedastic(rng: np.random.Generator, n: int) -> RiskStream:
    """Normal noise whose size grows with a feature."""
    X = rng.normal(size=(n // 2 + NEW, 3))
    noise = np.exp(0.8 * X[:, 0]) * rng.normal(size=len(X))
    return RiskStream(X, 2.0 * np.sin(X[:, 0]) + X[:, 1] + 0.5 * noise, NEW)


def one_sided(rng: np.random.Generator, n: int) -> RiskStream:
    """Rare targets far above the others: a Pareto tail in a twentieth of the samples."""
    X = rng.normal(size=(n // 2 + NEW, 3))
    rare = rng.random(len(X)) < 0.05
    noise = 0.1 * rng.normal(size=len(X)) + rare * rng.pareto(3.0, size=len(X))
    return RiskStream(X, np.tanh(X[:, 0]) + 0.5 * X[:, 1] ** 2 + noise, NEW)


def imbalanced(rng: np.random.Generator, n: int) -> RiskStream:
    """Labels of which about 6 % are positive."""
    X = rng.normal(size=(n // 2 + NEW, 4))
    score = 2.0 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] - 4.0
    return RiskStream(X, (rng.random(len(X)) < 1.0 / (1.0 + np.exp(-score))).astype(int), NEW)


def drifting(rng: np.random.Generator, n: int) -> RiskStream:
    """A travelling wave with skewed noise."""
    X = rng.normal(size=(n // 2, 2))
    phase = 12.0 * np.arange(len(X)) / len(X)
    noise = 0.3 * (rng.exponential(size=len(X)) - 1.0)
    return RiskStream(X, np.sin(1.5 * X[:, 0] + phase) + np.cos(X[:, 1]) + noise, len(X) // 2, True)


def rentals(rng: np.random.Generator, n: int, folder: Path | None = None) -> RiskStream:
    """Hourly bike rentals in a random order."""
    samples = bike(folder)
    X = np.array([list(x.values()) for x, _ in samples])
    order = rng.permutation(len(X))[: n // 2 + NEW]
    return RiskStream(X[order], np.array([y for _, y in samples])[order], NEW)


PROBLEMS: dict[str, Callable[..., RiskStream]] = {
    "skewed": skewed,
    "lognormal": lognormal,
    "Friedman 1": friedman,
    "heteroscedastic": heteroscedastic,
    "one-sided tail": one_sided,
    "imbalanced labels": imbalanced,
    "drifting": drifting,
    "bike": rentals,
}


class Scored:
    """A model with its losses on new rows, in one unit for all models of a problem."""

    def __init__(self, problem: RiskStream, solver: str, risk: Any) -> None:
        self.problem, learned = problem, len(problem.X) - problem.n_new
        self.is_labels = problem.y.dtype.kind == "i"
        kind = COLKClassifier if self.is_labels else COLKRegressor
        self.more = {"classes": [0, 1]} if self.is_labels else {}
        self.model = kind(kernel="laplacian", max_atoms=200, solver=solver, risk=risk)
        self.centre, self.scale = problem.X[:learned].mean(axis=0), problem.X[:learned].std(axis=0)
        self.losses = np.concatenate(list(self._losses(learned)))

    @property
    def loss(self) -> Loss:
        """The loss of the model, in the unit of `losses`."""
        return Logistic() if self.is_labels else Huber(1.0)

    def points(self, rows: slice) -> np.ndarray:
        """Standardised points."""
        return (self.problem.X[rows] - self.centre) / np.maximum(self.scale, 1e-12)

    def _losses(self, learned: int) -> Iterator[np.ndarray]:
        y, stop = self.problem.y, len(self.problem.y) if self.problem.is_prequential else learned
        for start in range(0, stop, BLOCK):
            rows = slice(start, min(start + BLOCK, stop))
            if start >= learned:
                yield self.of(self.points(rows), y[rows])
            self.model.partial_fit(self.points(rows), y[rows], **self.more)
            self.more = {}
        if not self.problem.is_prequential:
            yield self.of(self.points(slice(learned, None)), y[learned:])

    def of(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Losses at rows; those of numbers in standard deviations of the targets."""
        if self.is_labels:
            return self.loss.value(self.model.decision_function(X), 2.0 * y - 1.0)
        return self.loss.value(self.model.predict(X) / self.spread, y / self.spread)

    @property
    def spread(self) -> float:
        """Standard deviation of the targets."""
        return float(self.problem.y.std())

    def polished(self, risk: LossRisk) -> np.ndarray:
        """The losses on new rows after a polish on the final atoms, with all learned rows."""
        stop = len(self.problem.X) - self.problem.n_new
        X, y, function = self.points(slice(stop)), self.problem.y[:stop], self.model.function_
        if self.is_labels:
            y, unit = 2.0 * y - 1.0, 1.0
        else:
            y, unit = (y - y.mean()) / self.spread, self.spread
        found = polish(function, X, y, self.loss, risk, 1e-5, choose=True, tolerance=1e-3)
        new = self.problem.y[stop:]
        values = found.function(self.points(slice(stop, None)))
        if self.is_labels:
            return self.loss.value(values, 2.0 * new - 1.0)
        return self.loss.value(values, (new - self.problem.y[:stop].mean()) / unit)


def made(name: str, seed: int, n: int, folder: Path | None) -> RiskStream:
    rng = np.random.default_rng(seed)
    return rentals(rng, n, folder) if name == "bike" else PROBLEMS[name](rng, n)


def on_stream(problem: RiskStream, solver: str) -> dict[str, float]:
    """Return the ratio of each risk: the risk's model to the mean's."""
    mean = Scored(problem, solver, "mean").losses
    return {
        label: risk.value(Scored(problem, solver, risk).losses) / risk.value(mean)
        for label, risk in RISKS.items()
    }


def in_batch(problem: RiskStream, solver: str) -> dict[str, float]:
    """Return ratios of each risk to that of the mean's model: of its polish, and of the mean's."""
    mean = Scored(problem, solver, "mean")
    plain, found = mean.polished(Mean()), {}
    for label, risk in RISKS.items():
        least = risk.value(mean.losses)
        found[label] = risk.value(mean.polished(risk)) / least
        found[f"{label}, mean"] = risk.value(plain) / least
    return found


def place(cache: Path, name: str, solver: str, seed: int, kind: str) -> Path:
    return cache / f"{name.replace(' ', '_')}-{solver}-{seed}-{kind}.json"


def run(cache: Path, folder: Path | None, n: int, n_batch: int) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    tasks = [(on_stream, "stream", *each) for each in product(SEEDS, PROBLEMS, SOLVERS)]
    steady = [name for name in PROBLEMS if name != "drifting"]
    tasks += [(in_batch, "batch", *each) for each in product(SEEDS[:n_batch], steady, SOLVERS)]
    for measure, kind, seed, name, solver in tasks:
        kept(
            place(cache, name, solver, seed, kind),
            partial(measured, measure, partial(made, name, seed, n, folder), solver),
        )


def measured(measure: Any, make: Callable[[], RiskStream], solver: str) -> dict[str, Any]:
    """Make a problem, and measure a solver on it."""
    return dict(measure(make(), solver))


def ratios(cache: Path, name: str, solver: str, risk: str, kind: str) -> list[float]:
    paths = [place(cache, name, solver, seed, kind) for seed in SEEDS]
    return [json.loads(p.read_text(encoding="utf-8"))[risk] for p in paths if p.exists()]


def cell(cache: Path, name: str, solver: str, risk: str) -> str:
    """Return the mean ratio and, in brackets, the largest; then the ratios of both polishes."""
    found = ratios(cache, name, solver, risk, "stream")
    text = f"{np.mean(found):.3f} ({max(found):.3f})" if found else ""
    batch = ratios(cache, name, solver, risk, "batch")
    plain = ratios(cache, name, solver, f"{risk}, mean", "batch") if batch else []
    return f"{text} · {np.mean(batch):.3f} / {np.mean(plain):.3f}" if batch else text


def title(cache: Path, n: int) -> str:
    """Return the head of the first column: the least number of seeds of a cell, and the rows."""
    counts: dict[str, list[int]] = {"stream": [], "batch": []}
    for name, solver in product(PROBLEMS, SOLVERS):
        for kind, numbers in counts.items():
            if kind == "stream" or name != "drifting":
                numbers.append(len(ratios(cache, name, solver, "CVaR(.1)", kind)))
    streams, batches = min(counts["stream"]), min(counts["batch"])
    return f"stream ({streams} seeds, {batches} after the dot; {n} rows)"


def seconds(problem: RiskStream, solver: str, risk: Any) -> float:
    """Return the least processor time of three runs."""
    spent = []
    for _ in range(3):
        began = process_time()
        Scored(problem, solver, risk)
        spent.append(process_time() - began)
    return min(spent)


def compare_times(n: int) -> None:
    problem, rows = skewed(np.random.default_rng(SEEDS[0]), n), []
    for solver in SOLVERS:
        mean, risk = (seconds(problem, solver, each) for each in ("mean", CVaR(0.1)))
        rows.append([solver, f"{risk / mean:.2f}"])
    publish("risk_streams_time", ["solver", "time under CVaR(.1) / time under the mean"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table", "time"])
    parser.add_argument("--data", type=Path, help="folder of bike_hour.csv")
    parser.add_argument("--cache", type=Path, default=Path("results/risk_streams"))
    parser.add_argument("--batch", type=int, default=3, help="seeds with the polish")
    parser.add_argument("--rows", type=int, default=20000, help="rows of a stream")
    given = parser.parse_args()
    if given.what == "run":
        run(given.cache, given.data, given.rows, given.batch)
        return
    if given.what == "time":
        compare_times(given.rows)
        return
    rows = [
        [name, solver, *(cell(given.cache, name, solver, risk) for risk in RISKS)]
        for name, solver in product(PROBLEMS, SOLVERS)
    ]
    publish("risk_streams", [title(given.cache, given.rows), "solver", *RISKS], rows)


if __name__ == "__main__":
    main()
