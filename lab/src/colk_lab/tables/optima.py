"""Compare the weights that the solver finds on 100 problems with those of an earlier version.

    python -m colk_lab.tables optima record FILE     with the earlier version
    python -m colk_lab.tables optima compare FILE    with the present one

The problems have every loss and every risk, weights of samples, several outputs, 50 to 5,000
samples and 5 to 100 atoms. Each is solved in memory and by sums over blocks. The script prints the
largest differences of the objective and, without kinks, of the predictions, and the processor time.
"""

import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np

from colk.kernels import Gaussian
from colk.losses import LOSSES, Huber, Loss, Pinball, Quantiles
from colk.risks import (
    AUC,
    KLDRO,
    CentralMoments,
    ChiSquareDRO,
    CustomRisk,
    CVaR,
    Entropic,
    Mean,
    MeanSemideviation,
    Risk,
    Semideviations,
    Semivariance,
    Variance,
)
from colk.rkhs import KernelExpansion
from colk.rkhs.polishing import RowBlocks, polish, solve_by_sums

N_PROBLEMS = 100
# The losses of every version, in this order, so that the problems are the same.
NAMES = (
    "squared", "huber", "log_cosh", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball",
    "expectile", "logistic", "hinge", "squared_hinge", "smooth_hinge", "softmax",
)  # fmt: skip
TOLERANCE, STEPS = {"smooth": 1e-12, "kinked": 1e-10}, 500


def moments(loss: float) -> tuple[float, float]:
    return loss, loss * loss


def moments_slope(loss: float) -> tuple[float, float]:
    return 1.0, 2.0 * loss


def spread(loss: float, g: Any) -> float:
    return loss + 0.2 * (g[1] - g[0] ** 2)


def spread_slope(loss: float, g: Any) -> float:
    return 1.0


def spread_slope_inner(loss: float, g: Any) -> tuple[float, float]:
    return -0.4 * g[0], 0.2


OWN = CustomRisk(moments, moments_slope, spread, spread_slope, spread_slope_inner, 2)
RISKS: list[Risk] = [
    Mean(),
    Variance(0.2),
    Mean(),
    CVaR(0.2),
    Entropic(0.5),
    Semivariance(0.3),
    Mean(),
    ChiSquareDRO(0.3),
    KLDRO(0.1),
    CentralMoments(4, 0.05),
    Mean(),
    MeanSemideviation(2.0, 0.5),
    MeanSemideviation(1.0, 0.5),
    Semideviations(3, 0.1, 0.1),
    Mean(),
    CVaR(0.1, 0.5, 0.1),
    OWN,
    Entropic(-0.3),
]
MORE_LOSSES: list[Loss] = [Quantiles((0.2, 0.7)), Huber(0.3), Pinball(0.9)]
SIZES = (50, 200, 1000, 500, 5000, 120, 2000)
ATOMS = (5, 20, 100, 10, 50)


class SolverProblem(NamedTuple):
    """A problem, and whether the objective has kinks."""

    start: KernelExpansion
    X: Any
    y: Any
    loss: Loss
    risk: Risk
    decay: float
    weight: Any

    @property
    def is_kinked(self) -> bool:
        """Whether the loss or the risk has a kink."""
        return bool(self.loss.kinks) or not self.risk.is_smooth

    @property
    def name(self) -> str:
        """A short description."""
        shape = f"{len(self.X)} × {self.start.weights.shape}"
        return f"{type(self.loss).__name__} {self.risk!r}"[:60] + f" {shape}"


def problems() -> Iterator[SolverProblem]:
    """Yield the problems."""
    losses = [*(LOSSES[name]() for name in NAMES), *MORE_LOSSES]
    terms = islice(
        zip(cycle(losses), cycle(RISKS), cycle(SIZES), cycle(ATOMS), strict=False), N_PROBLEMS
    )
    for k, (loss, risk, n, n_atoms) in enumerate(terms):
        rng = np.random.default_rng(k)
        X = rng.normal(size=(n, 3))
        y = np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1] + 0.3 * rng.standard_t(4, size=n)
        q = 1
        if loss.kind == "binary":
            y = np.where(y > 0.0, 1.0, -1.0)
            risk = AUC() if k % 17 == 0 else risk
        elif loss.kind == "multiclass":
            y, q = np.digitize(y, [-0.5, 0.5]).astype(float), 3
        elif isinstance(loss, Quantiles):
            q = len(loss.levels)
        elif k % 4 == 1:
            y, q = np.column_stack([y, 0.5 * y**2]), 2
        weight = rng.uniform(0.2, 2.0, size=n) if k % 3 else np.ones(n)
        weight[: n // 10 if k % 6 == 0 else 0] = 0.0
        m = min(n_atoms, n // 2)
        start = KernelExpansion(Gaussian(1.5), X[-m:], np.zeros((m, q) if q > 1 else m))
        yield SolverProblem(start, X, y, loss, risk, 10.0 ** -(1 + k % 4), weight)


def solved(problem: SolverProblem, in_memory: bool) -> tuple[float, Any]:
    """Return the objective and the predictions."""
    start, X, y, loss, risk, decay, weight = problem
    settings: dict[str, Any] = {
        "tolerance": TOLERANCE["kinked" if problem.is_kinked else "smooth"],
        "max_steps": STEPS,
    }
    if in_memory:
        f = polish(start, X, y, loss, risk, decay, sample_weight=weight, **settings).function
    else:
        blocks = RowBlocks.of(X, y, weight / weight.sum())
        f, _ = solve_by_sums(blocks, start, loss, risk, decay, **settings)
    penalty = 0.5 * decay * f.norm() ** 2
    return risk.value_at(loss, f(X), y, weight) + penalty, np.asarray(f(X))


def main() -> None:
    command, path = sys.argv[1:]
    found: dict[str, Any] = {}
    for k, problem in enumerate(problems()):
        for in_memory in (True, False):
            begin = time.process_time()
            try:
                value, predictions = solved(problem, in_memory)
            except ValueError as error:
                print(f"{k} {problem.name}: {error}")
                value, predictions = np.nan, np.zeros(1)
            key = f"{k}{'m' if in_memory else 'b'}"
            found |= {f"{key}_value": value, f"{key}_F": predictions}
            found[f"{key}_time"] = time.process_time() - begin
    if command == "record":
        np.savez_compressed(path, **found)
        return
    old, worst = np.load(path), [0.0, 0.0, 0.0]
    for k, problem in enumerate(problems()):
        for way in "mb":
            value, F = found[f"{k}{way}_value"], found[f"{k}{way}_F"]
            before, F_before = float(old[f"{k}{way}_value"]), old[f"{k}{way}_F"]
            if not np.isfinite(before):
                continue
            above = (value - before) / abs(before)
            apart = float(np.abs(F - F_before).max() / np.abs(F_before).max())
            worst[0] = max(worst[0], abs(above))
            worst[1] = max(worst[1], above)
            worst[2] = max(worst[2], 0.0 if problem.is_kinked else apart)
            if abs(above) > 1e-9 or (apart > 1e-6 and not problem.is_kinked):
                print(f"{k}{way} {problem.name}: objective {above:+.1e}, predictions {apart:.1e}")
    print(
        f"largest difference of the objective {worst[0]:.1e}, larger by at most {worst[1]:.1e}; "
        f"of predictions without kinks {worst[2]:.1e}"
    )
    for way in "mb":
        keys = [f"{k}{way}_time" for k in range(N_PROBLEMS)]
        before, now = (sum(float(each[key]) for key in keys) for each in (old, found))
        print(f"{'in memory' if way == 'm' else 'by blocks'}: {before:.1f} s before, {now:.1f} s")


if __name__ == "__main__":
    main()
