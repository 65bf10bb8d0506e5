"""Coverage of conformal intervals over 20,000 samples, compared with MAPIE.

python -m colk_lab.tables conformal [--write] [--seeds 5]

No setting was chosen on these streams. All methods use the same model, COLK, and learn in rounds of
ten samples. MAPIE's `TimeSeriesRegressor` (method "aci", rate 0.01) is measured on the first seed
if it is installed. It begins after 500 samples; until then its intervals count as infinite.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colk import COLKRegressor, ConformalRegressor
from colk_lab.tables.output import publish, table

SIZE, ROUND, COVERAGE, RATE, FIRST_SEED = 20_000, 10, 0.9, 0.01, 100
# The worst coverage is taken over this many samples; the first ones are not judged.
STRETCH, WARM = 500, 100

Stream = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def smooth(X: np.ndarray) -> np.ndarray:
    return np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2


def skewed(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return skewed noise with mean 0 that is larger if the first feature is positive."""
    return (0.1 + 0.3 * (X[:, 0] > 0.0)) * (rng.exponential(size=len(X)) - 1.0)


def still(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1.0, 1.0, (SIZE, 2))
    return X, smooth(X) + skewed(X, rng)


def jumps(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """After a third, function and noise change; after two thirds, they change back."""
    X, y = still(rng)
    third = np.arange(SIZE) * 3 // SIZE
    return X, np.where(third == 1, 1.0 - 2.0 * smooth(X) + 0.5 * rng.normal(size=SIZE), y)


def drift(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The level is a random walk, and the noise grows by a factor of ten."""
    X, y = still(rng)
    level = np.cumsum(0.02 * rng.normal(size=SIZE))
    return X, smooth(X) + level + (y - smooth(X)) * np.geomspace(0.3, 3.0, SIZE)


def heavy(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The noise has no variance, and the inputs move to a region without samples."""
    X, _ = still(rng)
    X = X + np.linspace(0.0, 4.0, SIZE)[:, None]
    return X, smooth(X) + 0.2 * rng.standard_t(1.5, size=SIZE)


STREAMS: dict[str, Stream] = {
    "two jumps": jumps,
    "random walk, growing noise": drift,
    "heavy tails, moving inputs": heavy,
    "nothing changes": still,
}


class Result(NamedTuple):
    """Results of a stream: coverage, worst coverage, median width, infinite intervals, time."""

    coverage: float
    worst: float
    width: float
    infinite: float
    microseconds: float


def model() -> COLKRegressor:
    return COLKRegressor(averaging=False, bandwidth=1.0)


class Unsteered:
    """Quantiles of the last 500 residuals, without adaptation."""

    def __init__(self) -> None:
        self.model, self.residuals = model(), np.empty(0)

    def predict_interval(self, X: np.ndarray) -> np.ndarray:
        """Return the ends of the intervals, of shape (n, 2)."""
        if len(self.residuals) == 0:
            return np.tile([-np.inf, np.inf], (len(X), 1))
        tail = 0.5 * (1.0 - COVERAGE)
        return self.model.predict(X)[:, None] + np.quantile(self.residuals, [tail, 1.0 - tail])

    def learn(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn a round of samples."""
        if hasattr(self.model, "loss_"):
            self.residuals = np.append(self.residuals, y - self.model.predict(X))[-500:]
        self.model.partial_fit(X, y)


class Mapie:
    """MAPIE's adaptive conformal inference around a model that continues to learn."""

    def __init__(self) -> None:
        from mapie.regression import TimeSeriesRegressor

        self.model, self.kind, self.interval = model(), TimeSeriesRegressor, None

    def predict_interval(self, X: np.ndarray) -> np.ndarray:
        """Return the ends of the intervals, of shape (n, 2)."""
        if self.interval is None:
            return np.tile([-np.inf, np.inf], (len(X), 1))
        _, ends = self.interval.predict(
            X, confidence_level=COVERAGE, ensemble=False, allow_infinite_bounds=True
        )
        return ends[:, :, 0]

    def learn(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn a round of samples."""
        if self.interval is not None:
            self.interval.adapt_conformal_inference(X, y, gamma=RATE, confidence_level=COVERAGE)
            self.interval.update(X, y)
            self.model.partial_fit(X, y)
            return
        self.seen = [*getattr(self, "seen", []), (X, y)]
        self.model.partial_fit(X, y)
        if len(self.seen) * ROUND >= STRETCH:  # it keeps as many residuals as it begins with
            self.interval = self.kind(self.model, method="aci", cv="prefit")
            self.interval.fit(*(np.concatenate(part) for part in zip(*self.seen, strict=True)))


METHODS: dict[str, Callable[[], Any]] = {
    "`ConformalRegressor`": lambda: ConformalRegressor(model(), COVERAGE),
    "quantiles of the last 500 residuals": Unsteered,
    "MAPIE, one seed": Mapie,
}


def measure(method: Any, X: np.ndarray, y: np.ndarray) -> Result:
    ends, begun = np.empty((SIZE, 2)), time.perf_counter()
    for start in range(0, SIZE, ROUND):
        part = slice(start, start + ROUND)
        ends[part] = method.predict_interval(X[part])
        method.learn(X[part], y[part])
    seconds = time.perf_counter() - begun
    covered = ((ends[:, 0] <= y) & (y <= ends[:, 1]))[WARM:]
    widths = np.ptp(ends, axis=1)[WARM:]
    stretches = np.convolve(covered, np.full(STRETCH, 1.0 / STRETCH), "valid")
    return Result(
        covered.mean(), stretches.min(), np.median(widths), np.isinf(widths).mean(),
        1e6 * seconds / SIZE,
    )  # fmt: skip


def rows(n_seeds: int) -> list[list[str]]:
    lines = []
    for label, stream in STREAMS.items():
        for name, make in METHODS.items():
            seeds = range(FIRST_SEED, FIRST_SEED + (1 if "one seed" in name else n_seeds))
            try:
                found = [measure(make(), *stream(np.random.default_rng(s))) for s in seeds]
            except ModuleNotFoundError as error:
                print(f"skipped, needs {error.name}: {name}")
                continue
            error = max(abs(result.coverage - COVERAGE) for result in found)
            mean = np.mean(found, axis=0)
            lines.append(
                [
                    *(label, name, f"{mean[0]:.4f}", f"{error:.4f}", f"{mean[1]:.3f}"),
                    *(f"{mean[2]:.3g}", f"{100 * mean[3]:.2f} %", f"{mean[4]:.0f}"),
                ]
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/tables/conformal.md")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    columns = ["stream", "method", "coverage", "largest error over seeds", "worst 500", "width",
               "infinite", "µs per sample"]  # fmt: skip
    lines = rows(arguments.seeds)
    if arguments.write:
        publish("conformal", columns, lines)
    else:
        print(table(columns, lines))


if __name__ == "__main__":
    main()
