"""Theorem 3: the gradient norm over T for moments that are not convex."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Figure, Plan, as_columns
from colk.experiments.statistics import Interval, slope_interval
from colk.experiments.style import PALETTE, band
from colk.experiments.tasks import Result, Task
from colk.experiments.theory.convergence import HORIZONS, horizons
from colk.experiments.theory.population import observe
from colk.experiments.theory.tolerance import TOLERANCE, guide
from colk.experiments.verdict import Check, Part, Verdict
from colk.experiments.words import MINUS, exponent, span

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
                name="Theorem 3: gradient norms",
                size=horizon,
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
            r"COLK, mean plus 0.1 times the central moments 2 to 4, $\alpha = 2/\sqrt{T}$, "
            r"$\beta = \alpha$, $\epsilon = \alpha^{3/2}$; the least over 30 looks of the mean "
            "squared norm. Line: median, band: middle 80 % of the runs. Dashed: the theorem's "
            r"$T^{-1/2}$, through the middle of the points; grey: exponents that count as no "
            "slower, as in the verdict."
        ),
        columns=_columns(least, plan),
        draw=lambda canvas: _draw(canvas, least, plan),
        height=3.6,
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
    label = f"COLK, exponent {span(slope(least, plan), 'exponent')}"
    band(axes, T, least.T, PALETTE["blue"], label, marker="o", markersize=3)
    guide(axes, T, least.mean(axis=1), T**-0.5, "$T^{-1/2}$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("steps $T$")
    axes.set_ylabel(r"least mean $\Vert\nabla R\Vert^2$ in $H$")
    axes.legend(loc="best")


def stationarity_verdict(results: Sequence[Result], plan: Plan) -> Verdict:
    """Judge the rate."""
    found = slope(least_gradients(results, plan), plan)
    check = Check(f"in $T$, at most {MINUS}0.5", found, high=-0.5 + TOLERANCE)
    return Verdict(
        claim="Theorem 3: for non-convex objectives the least gradient norm falls like $T^{-1/2}$.",
        quote=r"… to achieve an $\delta$-approximate stationary solution, the iteration complexity "
        r"is $T \geq O(1/\delta^2)$ …",
        where="Section IV, Theorem 3",
        found=[
            f"The least gradient norm falls with exponent {exponent(found.value)}, where the "
            f"theorem needs {exponent(-0.5)}."
        ],
        rule=f"Holds if the interval ends within {exponent(TOLERANCE)} of the theorem's exponent, "
        "or falls faster.",
        parts=[Part("least squared gradient norm", [check])],
        plan=plan,
        unit="exponent",
    )
