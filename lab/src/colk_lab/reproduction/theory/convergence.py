"""Theorem 2, strongly convex: distance to the optimum over α (floor) and over T (rate)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band, letter
from colk_lab.reproduction.theory.population import REGULARIZATION, observe
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_least, at_most, guide
from colk_lab.reproduction.verdict import Check, Part, Verdict
from colk_lab.reproduction.words import exponent, span
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["convergence_figure", "convergence_tasks", "convergence_verdict", "rate_tasks"]

STEP_SIZES = tuple(float(f"{value:.3g}") for value in np.geomspace(0.01, 0.3, 6))
HORIZONS = (500, 1000, 2000, 4000, 8000, 16000, 32000)


def convergence_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks of the floors (by step size, run), then of the rates (by horizon, run)."""
    floors = [
        Task(
            observe,
            {
                "risk": "semivariance",
                "step_size": step,
                "tracking_rate": step,
                "eps": step**2,
                # (1 − αλ)^T = e⁻⁸, so the initial function has no effect.
                "n_steps": round(8.0 / (step * REGULARIZATION)),
                "evaluations": 40,
                "seed": plan.seed,
                "run": i,
            },
            name="Theorem 2: floors",
            seconds=1.8e-4 / (step * REGULARIZATION),
        )
        for step in STEP_SIZES
        for i in range(plan.runs)
    ]
    return floors + rate_tasks(plan, "semivariance")


def rate_tasks(plan: RunPlan, risk: str) -> list[Task]:
    """Return tasks by horizon and run: α = log T/(λT), so (1 − αλ)^T = 1/T; β = α, ε = α²."""
    tasks = []
    for full in HORIZONS:
        horizon = plan.size(full)
        step = float(np.log(horizon) / (REGULARIZATION * horizon))
        tasks += [
            Task(
                observe,
                {
                    "risk": risk,
                    "step_size": step,
                    "tracking_rate": min(step, 1.0),
                    "eps": step**2,
                    "n_steps": horizon,
                    "evaluations": 2,
                    "seed": plan.seed,
                    "run": i,
                },
                name="Table I: POLK" if risk == "mean" else "Theorem 2: rates",
                seconds=7e-7 * horizon,
            )
            for i in range(plan.runs)
        ]
    return tasks


def horizons(plan: RunPlan) -> Array:
    """Return the numbers of steps in this plan."""
    return np.array([plan.size(full) for full in HORIZONS], dtype=np.float64)


def split(results: Sequence[Result], plan: RunPlan) -> tuple[Array, Array]:
    """Return the floors (step size, run) and the final distances (horizon, run)."""
    count = len(STEP_SIZES) * plan.runs
    floors = [float(result["distance"][20:].mean()) for result in results[:count]]
    ends = [float(result["distance"][-1]) for result in results[count:]]
    return np.reshape(floors, (-1, plan.runs)), np.reshape(ends, (-1, plan.runs))


def allowed_rate(plan: RunPlan) -> float:
    """Return the exponent of log T/T over the horizons, the inverse of T = O((1/δ) log(1/δ))."""
    T = horizons(plan)
    return slope_interval(T, np.log(T) / T).value


def convergence_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw the floor and the rate."""
    floors, ends = split(results, plan)
    return Figure(
        name="theory-convergence",
        title="Theorem 2: distance to the optimum",
        caption=(
            r"COLK minimises the mean plus 0.3 times the semivariance of a squared loss, with "
            r"$\lambda = 0.1$, over a population of 400 points. $f^{\star}$ is exact up to "
            "rounding. Lines are medians, bands the middle 80 % of the runs. (a) Distance at which "
            r"a constant step size settles, with $\beta = \alpha$ and $\varepsilon = \alpha^2$. "
            r"(b) Distance after $T$ steps with $\alpha = \log\,T/(\lambda T)$. The dashed line is "
            "the theorem's bound, drawn through the middle of the points. In the grey area the "
            "exponent is within the tolerance of the verdict."
        ),
        columns=_columns(floors, ends, plan),
        draw=lambda canvas: _draw(canvas, floors, ends, plan),
        height=3.6,
    )


def _columns(floors: Array, ends: Array, plan: RunPlan) -> dict[str, Sequence[Any]]:
    rows = [
        (panel, x, i, value)
        for panel, places, values in (
            ("floor over step size", STEP_SIZES, floors),
            ("end over steps", horizons(plan), ends),
        )
        for x, by_run in zip(places, values, strict=True)
        for i, value in enumerate(by_run)
    ]
    names = ("panel", "x", "run", "squared_distance")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", floors: Array, ends: Array, plan: RunPlan) -> None:
    left, right = canvas.subplots(1, 2)
    alpha, T = np.array(STEP_SIZES), horizons(plan)
    color = PALETTE["blue"]
    for axes, x, values, bound, name in (
        (left, alpha, floors, alpha, r"$\alpha$"),
        (right, T, ends, np.log(T) / T, r"$\log\,T/T$"),
    ):
        slope = slope_interval(x, values.T)
        label = f"COLK, exponent\n{span(slope, 'exponent')}"
        band(axes, x, values.T, color, label, marker="o", markersize=3)
        guide(axes, x, values.mean(axis=1), bound, name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend(loc="best")
    letter(left, "a", "Floor")
    letter(right, "b", "Rate")
    left.set_xlabel(r"step size $\alpha$")
    right.set_xlabel("steps $T$")
    left.set_ylabel(r"$\Vert f - f^{\star}\Vert^2$ in $H$")


def convergence_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge the floor and the rate."""
    floors, ends = split(results, plan)
    floor = slope_interval(STEP_SIZES, floors.T)
    rate = slope_interval(horizons(plan), ends.T)
    allowed = allowed_rate(plan)
    return Verdict(
        short="strongly convex objectives converge at the rates of Theorem 2",
        claim=r"Theorem 2: strongly convex objectives converge to a neighbourhood $O(\alpha)$, "
        r"with $T = O((1/\delta) \log(1/\delta))$ for an accuracy $\delta$.",
        quote="… the iterates of Algorithm 1 converges to a neighborhood of the optimal "
        r"$f^{\star}$ … to achieve $\delta$ sub-optimality, we require at least $T$ samples … "
        r"$T \geq O((1/\delta) \log(1/\delta))$ …",
        where="Section IV, Theorem 2",
        found=[
            f"The floor falls with exponent {exponent(floor.value)} in the step size. The theorem "
            f"requires at least 1. The distance after $T$ steps falls with exponent "
            f"{exponent(rate.value)}. The exponent of $\\log\\,T/T$ over this range is "
            f"{exponent(allowed)}.",
        ],
        rule="Both exponents count. The claim holds if each interval lies within "
        f"{exponent(TOLERANCE)} of the theorem's exponent or beyond it, in the direction of faster "
        "convergence.",
        parts=[
            Part("floor", [Check(rf"in $\alpha$, {at_least(1.0)}", floor, low=1.0 - TOLERANCE)]),
            Part(
                "rate",
                [
                    Check(
                        f"in $T$, {at_most(allowed)}",
                        rate,
                        high=allowed + TOLERANCE,
                    )
                ],
            ),
        ],
        plan=plan,
        unit="exponent",
    )
