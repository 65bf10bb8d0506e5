"""Theorem 3: squared gradient norm over T for a non-convex objective."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band
from colk_lab.reproduction.theory.convergence import HORIZONS, horizons
from colk_lab.reproduction.theory.population import observe
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_most, guide
from colk_lab.reproduction.verdict import Check, Part, Verdict
from colk_lab.reproduction.words import exponent, span
from colk_lab.statistics import Interval, slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["stationarity_figure", "stationarity_tasks", "stationarity_verdict"]

_EVALUATIONS = 30


def stationarity_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by horizon and run: α = 2/√T, β = α, ε = α^{3/2}."""
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
                    "evaluations": _EVALUATIONS,
                    "seed": plan.seed,
                    "run": i,
                },
                name="Theorem 3: squared gradient norms",
                seconds=5.5e-6 * horizon,
            )
            for i in range(plan.runs)
        ]
    return tasks


def least_gradients(results: Sequence[Result], plan: RunPlan) -> Array:
    """Return ‖∇R‖² (horizon, run) at the evaluation with the smallest mean over the runs."""
    found = []
    for k in range(len(HORIZONS)):
        runs = np.stack([r["gradient"] for r in results[k * plan.runs : (k + 1) * plan.runs]])
        found.append(runs[:, np.argmin(runs.mean(axis=0))])
    return np.array(found)


def slope(least: Array, plan: RunPlan) -> Interval:
    """Return the slope of the mean over the runs, the quantity in the theorem."""
    return slope_interval(horizons(plan), least.mean(axis=1))


def stationarity_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw the least squared gradient norm over T."""
    least = least_gradients(results, plan)
    return Figure(
        name="theory-stationarity",
        title="Theorem 3: squared gradient norm of non-convex moments",
        caption=(
            r"COLK minimises the mean plus 0.1 times the central moments 2 to 4, with "
            r"$\alpha = 2/\sqrt{T}$, $\beta = \alpha$ and $\varepsilon = \alpha^{3/2}$. The figure "
            "shows the least mean squared norm of 30 evaluations. The line is the median, the band "
            r"the middle 80 % of the runs. The dashed line is the theorem's $T^{-1/2}$, drawn "
            "through the middle of the points. In the grey area the exponent is within the "
            "tolerance of the verdict."
        ),
        columns=_columns(least, plan),
        draw=lambda canvas: _draw(canvas, least, plan),
        height=3.6,
    )


def _columns(least: Array, plan: RunPlan) -> dict[str, Sequence[Any]]:
    rows = [
        (int(steps), i, value)
        for steps, by_run in zip(horizons(plan), least, strict=True)
        for i, value in enumerate(by_run)
    ]
    names = ("steps", "run", "squared_gradient_norm")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", least: Array, plan: RunPlan) -> None:
    axes, T = canvas.subplots(), horizons(plan)
    label = f"COLK, exponent {span(slope(least, plan), 'exponent')}"
    band(axes, T, least.T, PALETTE["blue"], label, marker="o", markersize=3)
    guide(axes, T, least.mean(axis=1), T**-0.5, "$T^{-1/2}$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("steps $T$")
    axes.set_ylabel(r"least mean $\Vert\nabla R\Vert^2$ in $H$")
    axes.legend(loc="best")


def stationarity_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge the rate of the squared gradient norm."""
    found = slope(least_gradients(results, plan), plan)
    check = Check(f"in $T$, {at_most(-0.5)}", found, high=-0.5 + TOLERANCE)
    return Verdict(
        short="non-convex objectives reach small gradients at the rate of Theorem 3",
        claim="Theorem 3: for non-convex objectives the least squared gradient norm falls like "
        "$T^{-1/2}$.",
        quote=r"… to achieve an $\delta$-approximate stationary solution, the iteration complexity "
        r"is $T \geq O(1/\delta^2)$ …",
        where="Section IV, Theorem 3",
        found=[
            f"The least squared gradient norm falls with exponent {exponent(found.value)}; the "
            f"theorem requires at most {exponent(-0.5)}."
        ],
        rule=f"Holds if the interval lies below {exponent(-0.5 + TOLERANCE)}, the theorem's "
        f"exponent plus a tolerance of {exponent(TOLERANCE)}.",
        parts=[Part("least squared gradient norm", [check])],
        plan=plan,
        unit="exponent",
    )
