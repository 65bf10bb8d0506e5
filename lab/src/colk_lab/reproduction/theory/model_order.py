"""Theorem 1: model order over α/ε in one, two and three dimensions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colk.cli.pages.colors import INK, PALETTE
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Variance
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.laws import generator
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_most
from colk_lab.reproduction.verdict import Check, Part, Verdict
from colk_lab.reproduction.words import exponent, listed, span
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["DIMENSIONS", "RATIOS", "model_order_figure", "model_order_tasks", "model_order_verdict"]

DIMENSIONS = (1, 2, 3)
RATIOS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
STEP_SIZE = 0.1
BANDWIDTH = 0.3
N_SAMPLES = 10_000
_MOST_RUNS = 5
_MARKERS = ("o", "s", "^")


def measure_order(
    dimension: int, ratio: float, n_samples: int, seed: int, run: int
) -> dict[str, NDArray[Any]]:
    """Return the largest model order during a stream of uniform points in the unit cube."""
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


def model_order_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by dimension, ratio and run."""
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
            name=f"Theorem 1: dimension {dimension}, α/ε = {ratio:g}",
            seconds=6e-7 * plan.size(N_SAMPLES),
        )
        for dimension in DIMENSIONS
        for ratio in RATIOS
        for i in range(min(plan.runs, _MOST_RUNS))
    ]


def model_order_figure(orders: Array) -> Figure:
    """Draw orders of shape (dimensions, ratios, runs)."""
    return Figure(
        name="theory-model-order",
        title=r"Theorem 1: model order over $\alpha/\varepsilon$",
        caption=(
            f"Largest model order during a run of COLK with step size {STEP_SIZE:g}, a Gaussian "
            f"kernel of bandwidth {BANDWIDTH:g} and points uniform on the unit cube. Bars show the "
            r"range of the runs. The dashed lines are the growth $(\alpha/\varepsilon)^{2p}$ that "
            "the theorem allows, starting at the first point."
        ),
        columns=_columns(orders),
        draw=lambda canvas: _draw(canvas, orders),
        height=3.8,
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
    axes, ratios = canvas.subplots(), np.array(RATIOS)
    color = PALETTE["blue"]
    for dimension, marker, found in zip(DIMENSIONS, _MARKERS, orders, strict=True):
        middle = found.mean(axis=1)
        slope = slope_interval(ratios, found.T)
        axes.errorbar(
            ratios,
            middle,
            yerr=[middle - found.min(axis=1), found.max(axis=1) - middle],
            color=color,
            marker=marker,
            markersize=5,
            label=f"$p = {dimension}$: exponent {span(slope, 'exponent')}, allowed {2 * dimension}",
        )
        allowed = middle[0] * (ratios / ratios[0]) ** (2 * dimension)
        axes.plot(ratios, allowed, "--", color=INK, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(1.0, 3.0 * orders.max())
    axes.set_xlabel(r"$\alpha/\varepsilon$")
    axes.set_ylabel("model order $M$ (atoms)")
    canvas.legend(loc="outside lower center")


def model_order_verdict(orders: Array, plan: RunPlan) -> Verdict:
    """Judge whether the exponents stay below those of the bound."""
    checks = [
        Check(
            f"$p = {dimension}$, {at_most(2.0 * dimension)}",
            slope_interval(RATIOS, found.T),
            high=2.0 * dimension + TOLERANCE,
        )
        for dimension, found in zip(DIMENSIONS, orders, strict=True)
    ]
    values = [exponent(check.interval.value) for check in checks]
    allowed = [str(2 * dimension) for dimension in DIMENSIONS]
    return Verdict(
        short="the model order stays within the bound of Theorem 1",
        claim=r"Theorem 1: the model order is bounded by $O((\alpha/\varepsilon)^{2p})$.",
        quote=r"… $M_t$ satisfies $1 \leq M_t \leq O(\alpha/\varepsilon)^{2p}$.",
        where="Section IV, Theorem 1",
        found=[
            f"In {listed([str(d) for d in DIMENSIONS])} dimensions the order grows with exponents "
            f"{listed(values)}. The theorem allows {listed(allowed)}.",
        ],
        rule=f"Holds if every interval of the exponent lies below $2p + {TOLERANCE:g}$.",
        parts=[Part(r"exponent of the order in $\alpha/\varepsilon$", [check]) for check in checks],
        plan=plan,
        unit="exponent",
    )
