"""Compress a support vector machine to a hundredth of its size, at a known distance.

A support vector regression on y = 2x + 3 sin(6x) with 10 % outliers keeps thousands of support
vectors. `compress` leaves some thirty atoms and says, as a bound in H-norm, what that costs. The
kernel has κ(x, x) = 1, so that no prediction moves by more than the bound.
"""

import sys
import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.svm import SVR

from colk.compression import compress
from colk.interop import from_sklearn

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(figure_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(8000, 1))
    y = 2.0 * x[:, 0] + 3.0 * np.sin(6.0 * x[:, 0]) + 0.1 * rng.normal(size=len(x))
    outliers = rng.random(len(x)) < 0.1
    y[outliers] += 3.0 * rng.normal(size=outliers.sum())

    machine = from_sklearn(SVR(gamma=1.0 / (2.0 * 0.06**2), epsilon=0.05).fit(x, y))
    begin = time.perf_counter()
    small = compress(machine.function, eps=0.01 * machine.function.norm())
    seconds = time.perf_counter() - begin

    grid = np.linspace(0.0, 1.0, 1001).reshape(-1, 1)
    before, after = machine.function(grid), small.function(grid)
    change = np.abs(after - before).max()
    print(f"{small} in {seconds:.1f} s")
    print(
        f"largest change of a prediction: {change:.1e}, {change / np.ptp(before):.3%} of the range"
    )

    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    axes.plot(x[:, 0], y, ",", color="0.7")
    label = f"{machine.function.n_atoms} support vectors"
    axes.plot(grid, before + machine.intercept, color="0.2", linewidth=3.0, label=label)
    label = f"{small.function.n_atoms} atoms"
    axes.plot(grid, after + machine.intercept, "--", color="tab:orange", label=label)
    axes.plot(small.function.atoms, np.full(small.function.n_atoms, -4.5), "|", color="tab:orange")
    axes.set(xlabel="x", ylabel="y", ylim=(-5.0, 7.0))
    axes.legend(frameon=False)
    figure.savefig(figure_path, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "compress_svr.png"))
