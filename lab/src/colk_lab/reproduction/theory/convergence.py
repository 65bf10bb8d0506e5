"""Theorem 2, strongly convex: distance to the optimum over α (floor) and over T (rate)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk.theory import bound_distance
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band, letter
from colk_lab.reproduction.theory.population import PROBLEMS, constants, observe
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_least, at_most, guide
from colk_lab.reproduction.verdict import Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import exponent, show
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["convergence_figure", "convergence_tasks", "convergence_verdict", "rate_tasks"]

STEP_SIZES = tuple(float(f"{value:.3g}") for value in np.geomspace(0.01, 0.3, 6))
HORIZONS = (500, 1000, 2000, 4000, 8000, 16000, 32000)


# λ is at least the theorem's L_ℓUG_h²α/β + λ₀ inside the hypothesis, and below it outside.
INSIDE, OUTSIDE = "inside", "semivariance"
_LABELS = {INSIDE: "inside", OUTSIDE: "outside"}
_COLORS = {INSIDE: "blue", OUTSIDE: "orange"}
# λ₀ of the bound inside the hypothesis.
_CONVEXITY = 0.1


def convergence_tasks(plan: RunPlan) -> list[Task]:
    """Return by problem the tasks of the floors (by step size, run) and rates (by horizon, run)."""
    return [
        task
        for problem in _LABELS
        for task in (*_floor_tasks(plan, problem), *rate_tasks(plan, problem))
    ]


def _floor_tasks(plan: RunPlan, problem: str) -> list[Task]:
    decay = PROBLEMS[problem].regularization
    return [
        Task(
            observe,
            {
                "problem": problem,
                "step_size": step,
                "tracking_rate": step,
                "eps": step**2,
                # (1 − αλ)^T is at most e⁻⁸, so the initial function has no effect.
                "n_steps": max(round(8.0 / (step * decay)), 1000),
                "evaluations": 40,
                "seed": plan.seed,
                "run": i,
            },
            name="Theorem 2: floors",
            seconds=0.01 + 1.8e-4 / (step * decay),
        )
        for step in STEP_SIZES
        for i in range(plan.runs)
    ]


def rate_tasks(plan: RunPlan, problem: str, full_horizons: Sequence[int] = HORIZONS) -> list[Task]:
    """Return tasks by horizon and run: α = log T/(λT), so (1 − αλ)^T = 1/T; β = α, ε = α²."""
    tasks = []
    for full in full_horizons:
        horizon = plan.size(full)
        step = float(np.log(horizon) / (PROBLEMS[problem].regularization * horizon))
        tasks += [
            Task(
                observe,
                {
                    "problem": problem,
                    "step_size": step,
                    "tracking_rate": min(step, 1.0),
                    "eps": step**2,
                    "n_steps": horizon,
                    "evaluations": 2,
                    "seed": plan.seed,
                    "run": i,
                },
                name="Table I: POLK" if problem == "mean" else "Theorem 2: rates",
                seconds=7e-7 * horizon * (4.0 if problem == "laplacian" else 1.0),
            )
            for i in range(plan.runs)
        ]
    return tasks


def horizons(plan: RunPlan) -> Array:
    """Return the numbers of steps in this plan."""
    return np.array([plan.size(full) for full in HORIZONS], dtype=np.float64)


def of_problem(results: Sequence[Result], plan: RunPlan, problem: str) -> Sequence[Result]:
    """Return the results of one problem: floors, then rates."""
    count = (len(STEP_SIZES) + len(HORIZONS)) * plan.runs
    k = list(_LABELS).index(problem)
    return results[k * count : (k + 1) * count]


def rates(results: Sequence[Result], plan: RunPlan, problem: str) -> Sequence[Result]:
    """Return the results of the rates of one problem, by horizon and run."""
    return of_problem(results, plan, problem)[len(STEP_SIZES) * plan.runs :]


def split(results: Sequence[Result], plan: RunPlan, problem: str) -> tuple[Array, Array]:
    """Return the floors (step size, run) and the final distances (horizon, run) of a problem."""
    found, count = of_problem(results, plan, problem), len(STEP_SIZES) * plan.runs
    floors = [float(result["distance"][20:].mean()) for result in found[:count]]
    ends = [float(result["distance"][-1]) for result in found[count:]]
    return np.reshape(floors, (-1, plan.runs)), np.reshape(ends, (-1, plan.runs))


def promised(plan: RunPlan) -> dict[float, float]:
    """Return the theorem's bound on the floor by step size, inside the hypothesis."""
    c = constants(INSIDE, plan.seed)
    return {step: bound_distance(c, step, step, step**2, 10**6, _CONVEXITY) for step in STEP_SIZES}


def least_regularization(plan: RunPlan) -> float:
    """Return L_ℓUG_h²α/β + λ₀ for β = α, with the constants inside the hypothesis."""
    c = constants(INSIDE, plan.seed)
    return c.outer_lipschitz * c.kernel_bound * c.inner_slope**2 + _CONVEXITY


def allowed_rate(plan: RunPlan) -> float:
    """Return the exponent of log T/T over the horizons, the inverse of T = O((1/δ) log(1/δ))."""
    T = horizons(plan)
    return slope_interval(T, np.log(T) / T).value


def convergence_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw the floor and the rate, inside and outside the hypothesis."""
    return Figure(
        name="theory-convergence",
        title="Theorem 2: distance to the optimum",
        caption=(
            r"COLK minimises the mean plus 0.3 times the semivariance of a squared loss over a "
            r"population of 400 points. $f^{\star}$ is exact up to rounding. Inside the "
            f"hypothesis, $\\lambda = {PROBLEMS[INSIDE].regularization:g}$; outside, "
            f"$\\lambda = {PROBLEMS[OUTSIDE].regularization:g}$. Lines are medians, bands the "
            "middle 80 % of the runs. (a) Distance at which a constant step size settles, with "
            r"$\beta = \alpha$ and $\varepsilon = \alpha^2$, and the theorem's bound on it. "
            r"(b) Distance after $T$ steps with $\alpha = \log\,T/(\lambda T)$. The dashed lines "
            "have the theorem's exponent, and go through the middle of the points inside. In the "
            "grey area the exponent is within the tolerance of the verdict."
        ),
        columns=_columns(results, plan),
        draw=lambda canvas: _draw(canvas, results, plan),
        height=4.0,
    )


def _columns(results: Sequence[Result], plan: RunPlan) -> dict[str, Sequence[Any]]:
    rows = [
        (_LABELS[problem], panel, x, i, value)
        for problem in _LABELS
        for panel, places, values in zip(
            ("floor over step size", "end over steps"),
            (np.array(STEP_SIZES), horizons(plan)),
            split(results, plan, problem),
            strict=True,
        )
        for x, by_run in zip(places, values, strict=True)
        for i, value in enumerate(by_run)
    ]
    names = ("hypothesis", "panel", "x", "run", "squared_distance")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", results: Sequence[Result], plan: RunPlan) -> None:
    left, right = canvas.subplots(1, 2)
    alpha, T = np.array(STEP_SIZES), horizons(plan)
    for problem, label in _LABELS.items():
        color = PALETTE[_COLORS[problem]]
        name = rf"{label}, $\lambda = {PROBLEMS[problem].regularization:g}$"
        for axes, x, values in zip(
            (left, right), (alpha, T), split(results, plan, problem), strict=True
        ):
            band(axes, x, values.T, color, name, marker="o", markersize=3)
    floors, ends = split(results, plan, INSIDE)
    guide(left, alpha, floors.mean(axis=1), alpha, r"$\alpha$")
    guide(right, T, ends.mean(axis=1), np.log(T) / T, r"$\log\,T/T$")
    bound = list(promised(plan).values())
    left.plot(alpha, bound, ":", color=INK, label="bound, inside")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend(loc="best")
    letter(left, "a", "Floor")
    letter(right, "b", "Rate")
    left.set_xlabel(r"step size $\alpha$")
    right.set_xlabel("steps $T$")
    left.set_ylabel(r"$\Vert f - f^{\star}\Vert^2$ in $H$")


def convergence_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge the floor and the rate inside the hypothesis of the theorem."""
    slopes = {}
    for problem in _LABELS:
        floors, ends = split(results, plan, problem)
        slopes[problem] = (
            slope_interval(STEP_SIZES, floors.T),
            slope_interval(horizons(plan), ends.T),
        )
    floor, rate = slopes[INSIDE]
    allowed, bound = allowed_rate(plan), promised(plan)
    smallest, size = STEP_SIZES[0], constants(INSIDE, plan.seed).optimum_norm ** 2
    settled = float(split(results, plan, INSIDE)[0][0].mean())
    return Verdict(
        short="strongly convex objectives converge at the rates of Theorem 2",
        claim=r"Theorem 2: strongly convex objectives converge to a neighbourhood $O(\alpha)$, "
        r"with $T = O((1/\delta) \log(1/\delta))$ for an accuracy $\delta$.",
        quote="… the iterates of Algorithm 1 converges to a neighborhood of the optimal "
        r"$f^{\star}$ … to achieve $\delta$ sub-optimality, we require at least $T$ samples … "
        r"$T \geq O((1/\delta) \log(1/\delta))$ …",
        where="Section IV, Theorem 2",
        found=[
            f"The theorem asks for $\\lambda \\geq {show(least_regularization(plan))}$ here. With "
            f"$\\lambda = {PROBLEMS[INSIDE].regularization:g}$ the floor falls with exponent "
            f"{exponent(floor.value)} in the step size. The theorem requires at least 1. The "
            f"distance after $T$ steps falls with exponent {exponent(rate.value)}. The exponent of "
            f"$\\log\\,T/T$ over this range is {exponent(allowed)}.",
            "The bound itself says nothing here: at the smallest step size it is "
            f"{show(bound[smallest])}, where the measured squared distance is {show(settled)} and "
            f"that of $f = 0$ is {show(size)}. Outside the hypothesis, with "
            f"$\\lambda = {PROBLEMS[OUTSIDE].regularization:g}$, the exponents are "
            f"{exponent(slopes[OUTSIDE][0].value)} and {exponent(slopes[OUTSIDE][1].value)}.",
        ],
        rule="Both exponents count, inside the hypothesis. The claim holds if each interval lies "
        f"within {exponent(TOLERANCE)} of the theorem's exponent or beyond it, in the direction of "
        "faster convergence.",
        parts=[
            VerdictPart(
                "floor", [Check(rf"in $\alpha$, {at_least(1.0)}", floor, low=1.0 - TOLERANCE)]
            ),
            VerdictPart(
                "rate", [Check(f"in $T$, {at_most(allowed)}", rate, high=allowed + TOLERANCE)]
            ),
        ],
        plan=plan,
        unit="exponent",
        numbers=[
            *(
                Measured(f"{what}, exponent", found.value, _LABELS[problem])
                for problem, pair in slopes.items()
                for what, found in zip(("floor", "rate"), pair, strict=True)
            ),
            *(
                Measured(f"bound on the floor at step size {step:g}", value, "inside")
                for step, value in bound.items()
            ),
        ],
    )
