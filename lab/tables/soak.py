"""Long runs: rounding error of the triangular factor, and accuracy on streams without change.

Factor: every step appends one random point and drops random atoms, so that the factor changes all
the time. The script prints max |K·K⁻¹ − I| and cond(K) along the way and plots them. Points lie in
the cells of a grid, at most one in each cell, so that no two points make K singular.

Streams: see `still.py`. FILE keeps the readings of finished streams, so that a later call
continues. Three runs of ten streams of 10⁷ rows take about seven minutes of one core.

    python lab/tables/soak.py            10⁷ steps at M ≈ 20, 10⁶ at M ≈ 50 and at M ≈ 300
    python lab/tables/soak.py --quick    a hundredth of the steps
    python lab/tables/soak.py --still FILE    ten streams of 10⁷ rows, three times
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import still

from colk._engine.dictionary import Dictionary
from colk.compressors.pursuit import append, drop
from colk.kernels import Gaussian

FIGURES = Path(__file__).parents[2] / "docs" / "figures"

DRIFT_BOUND, COND_BOUND = 1e-8, 1e6

Array = np.ndarray
Cell = tuple[int, ...]


class Run(NamedTuple):
    """A model order, a number of steps, and a geometry that keeps cond(K) below 10⁶."""

    n_atoms: int
    n_steps: int
    n_features: int
    n_cells: int  # along each axis
    bandwidth: float


RUNS = (
    Run(20, 10_000_000, 2, 7, 0.35),
    Run(50, 1_000_000, 2, 11, 0.18),
    Run(300, 1_000_000, 3, 9, 0.18),
)


class Reading(NamedTuple):
    """State of the dictionary after `step` steps."""

    step: int
    n_atoms: int
    drift: float
    cond: float


class Churn:
    """A dictionary, and steps that change its factor for any weights."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run, self.rng = run, np.random.default_rng(seed)
        self.kernel = Gaussian(run.bandwidth)
        self.dictionary = Dictionary(self.kernel, run.n_features, block=1, capacity=2 * run.n_atoms)
        self.taken: set[Cell] = set()

    def cell(self, x: Array) -> Cell:
        """Return the grid cell of a point."""
        return tuple((x * self.run.n_cells).astype(int).tolist())

    def free_points(self) -> Iterator[Array]:
        """Return points in the middle of free cells; any two are at least half a cell apart."""
        side, p = self.run.n_cells, self.run.n_features
        while True:
            cells = self.rng.integers(0, side, (1000, p))
            X = (cells + self.rng.uniform(0.25, 0.75, cells.shape)) / side
            yield from (x for x in X if self.cell(x) not in self.taken)

    def steps(self, n: int) -> None:
        """Append a point and drop atoms down to a random number, n times."""
        d, run, points = self.dictionary, self.run, self.free_points()
        spread = max(run.n_atoms // 10, 1)
        most = self.rng.integers(run.n_atoms - spread, run.n_atoms + spread, n, endpoint=True)
        amount = np.ones((1, 1))
        for at_most in most.tolist():
            x = next(points)
            append(d, x[None, :], amount)
            self.taken.add(self.cell(x))
            while d.size > at_most:
                j = int(self.rng.integers(d.size))
                self.taken.remove(self.cell(d.atoms[j]))
                drop(d, j)

    def reading(self, step: int) -> Reading:
        """Return the current state."""
        cond = float(np.linalg.cond(self.kernel.gram(self.dictionary.atoms)))
        return Reading(step, self.dictionary.size, self.dictionary.drift(), cond)


def soak(run: Run, n_readings: int = 40, seed: int = 0) -> list[Reading]:
    """Change a dictionary and measure its rounding error `n_readings` times."""
    churn = Churn(run, seed)
    readings, step, pace = [], 0, run.n_steps // n_readings
    while step < run.n_steps:
        until = step + pace
        while step < until:
            n = min(10_000, until - step)
            churn.steps(n)
            step += n
        readings.append(churn.reading(step))
    return readings


def plot(results: dict[Run, list[Reading]], path: Path) -> None:
    """Plot the rounding error against the number of steps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    for run, readings in results.items():
        steps, drifts = [r.step for r in readings], [r.drift for r in readings]
        worst = max(r.cond for r in readings)
        axes.loglog(steps, drifts, ".-", label=f"M ≈ {run.n_atoms}, cond(K) ≤ {worst:.0e}")
    axes.axhline(DRIFT_BOUND, color="black", linestyle=":", linewidth=1.0)
    axes.set(xlabel="appends and drops", ylabel="max |K·K⁻¹ − I|")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.94))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"plotted in {path}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="drift of the factor over many steps")
    parser.add_argument(
        "--quick", action="store_true", help="a hundredth of the steps, without a plot"
    )
    parser.add_argument(
        "--still", type=Path, help="streams that stand still; readings are kept here"
    )
    options = parser.parse_args(arguments)
    if options.still is not None:
        found = still.run(options.still, still.ROWS // (100 if options.quick else 1))
        if not options.quick:
            still.plot(found, FIGURES / "soak_still.png")
        return 0 if still.report(found, not options.quick) else 1
    results, sound = {}, True
    for run in RUNS:
        if options.quick:
            run = run._replace(n_steps=run.n_steps // 100)
        begin = time.perf_counter()
        readings = results[run] = soak(run)
        seconds = time.perf_counter() - begin
        print(f"M ≈ {run.n_atoms}: {run.n_steps} steps, {seconds / run.n_steps * 1e6:.2f} µs each")
        print(f"{'steps':>10} {'M':>5} {'drift':>9} {'cond(K)':>9}")
        for r in readings[:: max(len(readings) // 10, 1)] + readings[-1:]:
            print(f"{r.step:>10} {r.n_atoms:>5} {r.drift:>9.1e} {r.cond:>9.1e}")
        worst = max((r.drift for r in readings if r.cond <= COND_BOUND), default=0.0)
        print(f"largest drift while cond(K) ≤ {COND_BOUND:.0e}: {worst:.1e}\n", flush=True)
        sound = sound and worst <= DRIFT_BOUND
    if not options.quick:
        plot(results, FIGURES / "soak.png")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
