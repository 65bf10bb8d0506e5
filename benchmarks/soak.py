"""How far the triangular factor drifts over millions of appends and prunes.

Every step appends one random point and drops the cheapest atoms, so that the factor changes all
the time; max |K·K⁻¹ − I| and cond(K) are printed along the way and plotted.

    python benchmarks/soak.py            10⁷ steps at M ≈ 20, 10⁶ at M ≈ 50 and at M ≈ 300
    python benchmarks/soak.py --quick    a hundredth of it
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colk._core.buffers import GHOSTS, SIZE, buffers_at
from colk._core.dictionary import Dictionary
from colk._core.jit import stepper
from colk._core.komp import absorb_points
from colk._validation import Array
from colk.kernels import Gaussian

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "soak.png"

# What a weight keeps at each step: old atoms become cheap, and leave.
DECAY = 0.95

DRIFT_BOUND, COND_BOUND = 1e-8, 1e6


class Run(NamedTuple):
    """A model order, the number of steps, and a geometry that keeps cond(K) below 10⁶."""

    n_atoms: int
    n_steps: int
    n_features: int
    bandwidth: float


RUNS = (
    Run(20, 10_000_000, 2, 0.25),
    Run(50, 1_000_000, 2, 0.15),
    Run(300, 1_000_000, 3, 0.15),
)


@stepper
def churn(address: int, X: Array, amounts: Array, at_most: NDArray[np.int64], one: int) -> int:
    """Append the points X one by one, down to `at_most` atoms; returns how many stayed."""
    d, stayed = buffers_at(address), 0
    for t in range(X.shape[0]):
        d.counters[GHOSTS] = 0
        for j in range(d.counters[SIZE]):
            d.weights[0, j] *= DECAY
        for feature in range(X.shape[1]):
            d.points[0, feature] = X[t, feature]
        d.amounts[0, 0] = amounts[t]
        before = d.counters[SIZE]
        absorb_points(address, one, 0.0, one, at_most[t])
        stayed += d.counters[SIZE] > before or d.counters[GHOSTS] > 0
    return stayed


class Reading(NamedTuple):
    """State of the dictionary after `step` steps."""

    step: int
    n_atoms: int
    drift: float
    cond: float
    stayed: float  # share of the points since the last reading that changed the factor


def soak(run: Run, n_readings: int = 40, seed: int = 0) -> list[Reading]:
    """Churn a dictionary and read its drift `n_readings` times."""
    rng = np.random.default_rng(seed)
    kernel = Gaussian(run.bandwidth)
    d = Dictionary(
        kernel.program(run.n_features), run.n_features, block=1, capacity=run.n_atoms * 2
    )
    spread = max(run.n_atoms // 10, 1)
    readings, step, pace = [], 0, run.n_steps // n_readings
    while step < run.n_steps:
        stayed, until = 0, step + pace
        while step < until:
            n = min(10_000, until - step)
            X = rng.uniform(size=(n, run.n_features))
            at_most = rng.integers(run.n_atoms - spread, run.n_atoms + spread, n, endpoint=True)
            stayed += churn(d.address, X, rng.normal(size=n), at_most, 1)
            step += n
        cond = float(np.linalg.cond(kernel.gram(d.atoms)))
        readings.append(Reading(step, d.size, d.drift(), cond, stayed / pace))
    return readings


def plot(results: dict[Run, list[Reading]], path: Path) -> None:
    """Plot the drift against the number of steps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    for run, readings in results.items():
        steps, drifts = [r.step for r in readings], [r.drift for r in readings]
        worst = max(r.cond for r in readings)
        axes.loglog(steps, drifts, ".-", label=f"M ≈ {run.n_atoms}, cond(K) ≤ {worst:.0e}")
    axes.axhline(DRIFT_BOUND, color="black", linestyle=":", linewidth=1.0)
    axes.set(xlabel="appends and prunes", ylabel="max |K·K⁻¹ − I|")
    axes.legend(frameon=False, loc="lower left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"plotted in {path}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="drift of the factor over many steps")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the steps, no plot")
    parser.add_argument("--figure", type=Path, default=FIGURE)
    options = parser.parse_args(arguments)
    results, sound = {}, True
    for run in RUNS:
        if options.quick:
            run = run._replace(n_steps=run.n_steps // 100)
        begin = time.perf_counter()
        readings = results[run] = soak(run)
        seconds = time.perf_counter() - begin
        print(f"M ≈ {run.n_atoms}: {run.n_steps} steps, {seconds / run.n_steps * 1e6:.2f} µs each")
        print(f"{'steps':>10} {'M':>5} {'drift':>9} {'cond(K)':>9} {'changed':>8}")
        for r in readings[:: max(len(readings) // 10, 1)] + readings[-1:]:
            print(f"{r.step:>10} {r.n_atoms:>5} {r.drift:>9.1e} {r.cond:>9.1e} {r.stayed:>8.0%}")
        worst = max((r.drift for r in readings if r.cond <= COND_BOUND), default=0.0)
        print(f"largest drift while cond(K) ≤ {COND_BOUND:.0e}: {worst:.1e}\n", flush=True)
        sound = sound and worst <= DRIFT_BOUND
    if not options.quick:
        plot(results, options.figure)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
