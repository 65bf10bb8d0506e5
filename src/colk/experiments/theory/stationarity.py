"""Theorem 3: the gradient norm over T for moments that are not convex."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Figure, Measured, Plan, Verdict, as_columns, judge
from colk.experiments.statistics import Interval, slope_interval
from colk.experiments.style import PALETTE, band
from colk.experiments.tasks import Result, Task
from colk.experiments.theory.convergence import HORIZONS, horizons
from colk.experiments.theory.population import observe

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["stationarity_figure", "stationarity_tasks", "stationarity_verdict"]

_LOOKS = 30


def stationarity_tasks(plan: Plan) -> list[Task]:
    """α = 2/√T, β = α, ε = α^{3/2}: by horizon and run."""
    tasks = []
    for full in HORIZONS:
        horizon = plan.size(full)
        step = 2.0 / float(np.sqrt(horizon))
        tasks += [
            Task(
                observe,
                {
                    "risk": "moments",
                    "step_size": step,
                    "tracking_rate": step,
                    "eps": step**1.5,
                    "n_steps": horizon,
                    "looks": _LOOKS,
                    "seed": plan.seed,
                    "run": i,
                },
            )
            for i in range(plan.runs)
        ]
    return tasks


def least_gradients(results: Sequence[Result], plan: Plan) -> Array:
    """‖∇R‖² at the look where its mean over the runs is least, as (horizon, run)."""
    found = []
    for k in range(len(HORIZONS)):
        runs = np.stack([r["gradient"] for r in results[k * plan.runs : (k + 1) * plan.runs]])
        found.append(runs[:, np.argmin(runs.mean(axis=0))])
    return np.array(found)


def slope(least: Array, plan: Plan) -> Interval:
    """Slope of the mean over the runs, as in the theorem."""
    return slope_interval(horizons(plan), least.mean(axis=1))


def stationarity_figure(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw the least gradient over T."""
    least = least_gradients(results, plan)
    return Figure(
        name="theory-stationarity",
        title="Theorem 3: gradient norm of non-convex moments",
        caption=(
            "Mean plus 0.1 times the central moments 2 to 4, α = 2/√T, β = α, ε = α^{3/2}; the "
            "least over 30 looks of the mean squared norm. Line: median, band: middle 80 % of "
            "the runs. Dashed: the theorem's T^(−1/2)."
        ),
        columns=_columns(least, plan),
        draw=lambda canvas: _draw(canvas, least, plan),
        width=5.0,
        height=3.2,
    )


def _columns(least: Array, plan: Plan) -> dict[str, Sequence[Any]]:
    rows = [
        (int(steps), i, value)
        for steps, by_run in zip(horizons(plan), least, strict=True)
        for i, value in enumerate(by_run)
    ]
    names = ("steps", "run", "squared_gradient_norm")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", least: Array, plan: Plan) -> None:
    axes, T = canvas.subplots(), horizons(plan)
    found = slope(least, plan)
    label = f"measured, slope {found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
    band(axes, T, least.T, PALETTE["purple"], label, marker="o", markersize=3)
    guide = float(np.median(least[0])) * np.sqrt(T[0] / T)
    axes.plot(T, guide, "k--", linewidth=0.9, label="theorem, slope −0.5")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("steps T")
    axes.set_ylabel("least mean ‖∇R‖² in H")
    axes.legend(loc="best")


def stationarity_verdict(results: Sequence[Result], plan: Plan) -> Verdict:
    """Judge the rate."""
    found = slope(least_gradients(results, plan), plan)
    return Verdict(
        claim="Theorem 3: for non-convex objectives the least gradient norm falls like T^(−1/2).",
        where="Theorem 3",
        outcome=judge(found.low <= -0.5),
        numbers=[Measured("exponent in T", found.value, found.low, found.high)],
        reading="Holds if the interval reaches −0.5 or below.",
    )
