"""Theorem 1: the model order over α/ε, in one, two and three dimensions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colk._validation import Array
from colk.compressors import KOMP
from colk.experiments.chapter import Figure, Measured, Plan, Verdict, as_columns, judge
from colk.experiments.laws import generator
from colk.experiments.statistics import slope_interval
from colk.experiments.style import PALETTE
from colk.experiments.tasks import Task
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Variance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["DIMENSIONS", "RATIOS", "model_order_figure", "model_order_tasks", "model_order_verdict"]

DIMENSIONS = (1, 2, 3)
RATIOS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
STEP_SIZE = 0.1
BANDWIDTH = 0.3
N_SAMPLES = 10_000
_MOST_RUNS = 5
_COLORS = ("blue", "vermillion", "green")


def measure_order(
    dimension: int, ratio: float, n_samples: int, seed: int, run: int
) -> dict[str, NDArray[Any]]:
    """Largest model order of a stream of points uniform on the unit cube."""
    rng = generator(seed, "model order", dimension, run)
    X = rng.random((n_samples, dimension))
    y = np.sin(6.0 * X).sum(axis=1) + 0.1 * rng.normal(size=n_samples)
    learner = COLK(
        Gaussian(BANDWIDTH),
        Squared(),
        Variance(0.1),
        step_size=STEP_SIZE,
        compressor=KOMP(eps=STEP_SIZE / ratio),
        averaging=None,
        trace=True,
    ).learn(X, y)
    return {"order": np.array(learner.trace.n_atoms.max())}


def model_order_tasks(plan: Plan) -> list[Task]:
    """By dimension, ratio and run."""
    return [
        Task(
            measure_order,
            {
                "dimension": dimension,
                "ratio": ratio,
                "n_samples": plan.size(N_SAMPLES),
                "seed": plan.seed,
                "run": i,
            },
        )
        for dimension in DIMENSIONS
        for ratio in RATIOS
        for i in range(min(plan.runs, _MOST_RUNS))
    ]


def model_order_figure(orders: Array) -> Figure:
    """Draw orders of shape (dimensions, ratios, runs)."""
    return Figure(
        name="theory-model-order",
        title="Theorem 1: model order over α/ε",
        caption=(
            f"Largest model order of a run; step size {STEP_SIZE:g}, Gaussian kernel of bandwidth "
            f"{BANDWIDTH:g}, points uniform on the unit cube. Bars span the runs. Dashed: the "
            "bound's growth (α/ε)^{2p}, from the first point."
        ),
        columns=_columns(orders),
        draw=lambda canvas: _draw(canvas, orders),
        width=5.6,
        height=3.6,
    )


def _columns(orders: Array) -> dict[str, Sequence[Any]]:
    rows = [
        (dimension, ratio, i, order)
        for dimension, by_ratio in zip(DIMENSIONS, orders, strict=True)
        for ratio, by_run in zip(RATIOS, by_ratio, strict=True)
        for i, order in enumerate(by_run)
    ]
    names = ("dimension", "ratio", "run", "order")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", orders: Array) -> None:
    axes = canvas.subplots()
    ratios = np.array(RATIOS)
    for dimension, color, found in zip(DIMENSIONS, _COLORS, orders, strict=True):
        middle = found.mean(axis=1)
        slope = slope_interval(ratios, found.T)
        axes.errorbar(
            ratios,
            middle,
            yerr=[middle - found.min(axis=1), found.max(axis=1) - middle],
            color=PALETTE[color],
            marker="o",
            markersize=4,
            label=f"p = {dimension}: slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]; "
            f"bound {2 * dimension}",
        )
        axes.plot(
            ratios,
            middle[0] * (ratios / ratios[0]) ** (2 * dimension),
            "--",
            color=PALETTE[color],
            linewidth=0.8,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(1.0, 3.0 * orders.max())
    axes.set_xlabel("α/ε")
    axes.set_ylabel("model order M (atoms)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))


def model_order_verdict(orders: Array) -> Verdict:
    """The bound's exponent is not exceeded."""
    numbers, checks = [], []
    for dimension, found in zip(DIMENSIONS, orders, strict=True):
        slope = slope_interval(RATIOS, found.T)
        numbers.append(
            Measured(f"exponent for p = {dimension}", slope.value, slope.low, slope.high)
        )
        checks.append(slope.high <= 2 * dimension)
    return Verdict(
        claim="Theorem 1: the model order is bounded by O((α/ε)^{2p}).",
        where="Theorem 1",
        outcome=judge(*checks),
        numbers=numbers,
        reading="Holds if the measured exponent lies below 2p. The bound is far from tight for a "
        "Gaussian kernel, whose spectrum falls faster than any power.",
    )
