"""Theorem 2: distance to the optimum over α (floor) and over T (rate), strongly convex."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Figure, Measured, Plan, Verdict, as_columns, judge
from colk.experiments.statistics import slope_interval
from colk.experiments.style import PALETTE, band, letter
from colk.experiments.tasks import Result, Task
from colk.experiments.theory.population import REGULARIZATION, observe

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["convergence_figure", "convergence_tasks", "convergence_verdict", "rate_tasks"]

STEP_SIZES = tuple(float(f"{value:.3g}") for value in np.geomspace(0.01, 0.3, 6))
HORIZONS = (500, 1000, 2000, 4000, 8000, 16000, 32000)


def convergence_tasks(plan: Plan) -> list[Task]:
    """Floors by step size and run, then ends by horizon and run."""
    floors = [
        Task(
            observe,
            {
                "risk": "semivariance",
                "step_size": step,
                "tracking_rate": step,
                "eps": step**2,
                # (1 − αλ)^T = e⁻⁸: the start is forgotten.
                "n_steps": round(8.0 / (step * REGULARIZATION)),
                "looks": 40,
                "seed": plan.seed,
                "run": i,
            },
        )
        for step in STEP_SIZES
        for i in range(plan.runs)
    ]
    return floors + rate_tasks(plan, "semivariance")


def rate_tasks(plan: Plan, risk: str) -> list[Task]:
    """α = log T/(λT), so that (1 − αλ)^T = 1/T; β = α, ε = α². By horizon and run."""
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
                    "looks": 2,
                    "seed": plan.seed,
                    "run": i,
                },
            )
            for i in range(plan.runs)
        ]
    return tasks


def horizons(plan: Plan) -> Array:
    """Numbers of steps at this scale."""
    return np.array([plan.size(full) for full in HORIZONS], dtype=np.float64)


def split(results: Sequence[Result], plan: Plan) -> tuple[Array, Array]:
    """Floors (step size, run) and ends (horizon, run)."""
    count = len(STEP_SIZES) * plan.runs
    floors = [float(result["distance"][20:].mean()) for result in results[:count]]
    ends = [float(result["distance"][-1]) for result in results[count:]]
    return np.reshape(floors, (-1, plan.runs)), np.reshape(ends, (-1, plan.runs))


def convergence_figure(results: Sequence[Result], plan: Plan) -> Figure:
    """Draw floor and rate."""
    floors, ends = split(results, plan)
    return Figure(
        name="theory-convergence",
        title="Theorem 2: distance to the optimum f*",
        caption=(
            "Mean plus 0.3 times the semivariance of a squared loss, λ = 0.1, over a population "
            "of 400 points whose f* is computed to rounding. Lines are medians, bands the middle "
            "80 % of the runs. (a) Where a constant step size settles, β = α, ε = α². (b) After T "
            "steps with α = log T/(λT). Dashed: the theorem's exponents."
        ),
        columns=_columns(floors, ends, plan),
        draw=lambda canvas: _draw(canvas, floors, ends, plan),
        width=7.2,
        height=3.2,
    )


def _columns(floors: Array, ends: Array, plan: Plan) -> dict[str, Sequence[Any]]:
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


def _draw(canvas: "Canvas", floors: Array, ends: Array, plan: Plan) -> None:
    left, right = canvas.subplots(1, 2)
    for axes, x, values, power, color in (
        (left, np.array(STEP_SIZES), floors, 1.0, "blue"),
        (right, horizons(plan), ends, -1.0, "green"),
    ):
        slope = slope_interval(x, values.T)
        label = f"measured, slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]"
        band(axes, x, values.T, PALETTE[color], label, marker="o", markersize=3)
        guide = float(np.median(values[0])) * (x / x[0]) ** power
        axes.plot(x, guide, "k--", linewidth=0.9, label=f"theorem, slope {power:g}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend(loc="best")
    letter(left, "a", "Floor")
    letter(right, "b", "Rate")
    left.set_xlabel("step size α")
    right.set_xlabel("steps T")
    left.set_ylabel("‖f − f*‖² in H (units of y²)")


def convergence_verdict(results: Sequence[Result], plan: Plan) -> Verdict:
    """Judge floor and rate."""
    floors, ends = split(results, plan)
    floor = slope_interval(STEP_SIZES, floors.T)
    rate = slope_interval(horizons(plan), ends.T)
    # log T/T over this range is steeper than T^(−1) by no more than its log factor.
    allowed = slope_interval(horizons(plan), np.log(horizons(plan)) / horizons(plan)).value
    return Verdict(
        claim="Theorem 2: strongly convex objectives converge to a neighbourhood O(α), with "
        "T = O((1/δ) log(1/δ)) for an accuracy δ.",
        where="Theorem 2",
        outcome=judge(floor.high >= 1.0, rate.low <= allowed),
        numbers=[
            Measured("exponent of the floor in α", floor.value, floor.low, floor.high),
            Measured("exponent of the rate in T", rate.value, rate.low, rate.high),
            Measured("exponent of log T/T over this range", allowed),
        ],
        reading="Holds if the floor shrinks at least like α and the distance at least like "
        "log T/T, within the intervals.",
    )
