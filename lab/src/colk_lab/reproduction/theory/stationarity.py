"""Theorem 3: squared gradient norm over T for an objective that is not convex on the way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import INK, PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band, letter
from colk_lab.reproduction.theory.convergence import HORIZONS, horizons
from colk_lab.reproduction.theory.population import constants, observe
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_most, guide
from colk_lab.reproduction.verdict import Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import exponent, listed, show
from colk_lab.statistics import Interval, slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["stationarity_figure", "stationarity_tasks", "stationarity_verdict"]

_EVALUATIONS = 30
# β/α as multiples of the smallest ratio that the theorem allows.
RATIOS = (1 / 64, 1 / 8, 1.0, 1.5)
# α = _SCALE/√T.
_SCALE = 2.5
# An objective counts as non-convex where the smallest eigenvalue is below this.
_FLAT = -1e-3
_COLORS = ("sky", "purple", "blue", "green")


def stationarity_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by ratio, horizon and run: α = 2.5/√T, ε = 0.05 α^{3/2}."""
    least = constants("welsch", plan.seed).least_rate_ratio
    tasks = []
    for ratio in RATIOS:
        for full in HORIZONS:
            horizon = plan.size(full)
            step = _SCALE / float(np.sqrt(horizon))
            tasks += [
                Task(
                    observe,
                    {
                        "problem": "welsch",
                        "step_size": step,
                        "tracking_rate": min(ratio * least * step, 1.0),
                        "eps": 0.05 * step**1.5,
                        "n_steps": horizon,
                        "evaluations": _EVALUATIONS,
                        "seed": plan.seed,
                        "run": i,
                        "bends": i == 0,
                    },
                    name="Theorem 3: squared gradient norms",
                    seconds=0.02 + 6e-6 * horizon + 0.6 * (i == 0),
                )
                for i in range(plan.runs)
            ]
    return tasks


def grid(results: Sequence[Result], name: str, plan: RunPlan) -> Array:
    """Return a quantity by ratio, horizon, run and evaluation."""
    return np.reshape(
        [result[name] for result in results], (len(RATIOS), len(HORIZONS), plan.runs, -1)
    )


def least_gradients(results: Sequence[Result], plan: RunPlan, ratio: float = 1.0) -> Array:
    """Return ‖∇R‖² (horizon, run) at the evaluation with the smallest mean over the runs."""
    found = grid(results, "gradient", plan)[RATIOS.index(ratio)]
    places = found.mean(axis=1).argmin(axis=1)
    return np.array([runs[:, k] for runs, k in zip(found, places, strict=True)])


def of_ratio(results: Sequence[Result], plan: RunPlan, ratio: float = 1.0) -> Sequence[Result]:
    """Return the results of one ratio, by horizon and run."""
    count, k = len(HORIZONS) * plan.runs, RATIOS.index(ratio)
    return results[k * count : (k + 1) * count]


def slope(least: Array, plan: RunPlan) -> Interval:
    """Return the slope of the mean over the runs, the quantity in the theorem."""
    return slope_interval(horizons(plan), least.mean(axis=1))


def _named(ratio: float) -> str:
    return rf"$\beta/\alpha$ = {show(ratio)} × the least"


def stationarity_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw the least squared gradient norm over T, and the curvature on the way."""
    return Figure(
        name="theory-stationarity",
        title="Theorem 3: squared gradient norm of a non-convex objective",
        caption=(
            "COLK minimises the mean plus the variance of Welsch's loss, without regularization "
            r"and without a clip, with $\alpha = 2.5/\sqrt{T}$ and $\varepsilon = 0.05 "
            r"\alpha^{3/2}$. The theorem allows ratios $\beta/\alpha$ of at least "
            f"{show(constants('welsch', plan.seed).least_rate_ratio)} with the estimated "
            "constants. (a) Least mean squared norm of 30 evaluations; bands are the middle 80 % "
            r"of the runs. The dashed line is $T^{-1/2}$, drawn through the middle of the points; "
            "in the grey area the exponent is within the tolerance of the verdict. (b) Smallest "
            "eigenvalue of the Hessian of R in H at the iterates of the first run."
        ),
        columns=_columns(results, plan),
        draw=lambda canvas: _draw(canvas, results, plan),
        height=3.8,
    )


def _columns(results: Sequence[Result], plan: RunPlan) -> dict[str, Sequence[Any]]:
    gradients, bends = (grid(results, name, plan) for name in ("gradient", "curvature"))
    steps = grid(results, "steps", plan)
    rows = [
        (ratio, int(steps[k, t, i, -1]), i, *values)
        for k, ratio in enumerate(RATIOS)
        for t in range(len(HORIZONS))
        for i in range(plan.runs)
        for values in zip(steps[k, t, i], gradients[k, t, i], bends[k, t, i], strict=True)
    ]
    names = ("ratio", "horizon", "run", "step", "squared_gradient_norm", "smallest_eigenvalue")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", results: Sequence[Result], plan: RunPlan) -> None:
    left, right = canvas.subplots(1, 2)
    T = horizons(plan)
    for ratio, color in zip(RATIOS, _COLORS, strict=True):
        least = least_gradients(results, plan, ratio)
        band(left, T, least.T, PALETTE[color], _named(ratio), marker="o", markersize=3)
    least = least_gradients(results, plan)
    guide(left, T, least.mean(axis=1), T**-0.5, "$T^{-1/2}$")
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_xlabel("steps $T$")
    left.set_ylabel(r"least mean $\Vert\nabla R\Vert^2$ in $H$")
    steps, bends = (grid(results, name, plan)[RATIOS.index(1.0)] for name in ("steps", "curvature"))
    shades = np.linspace(0.25, 1.0, len(HORIZONS))
    for t in range(len(HORIZONS)):
        label = f"$T = {T[t]:.0f}$" if t in (0, len(HORIZONS) - 1) else None
        share = steps[t, 0] / steps[t, 0, -1]
        right.plot(share, bends[t, 0], color=PALETTE["blue"], alpha=shades[t], label=label)
    right.axhline(0.0, color=INK, linewidth=0.7)
    right.set_xlabel("share of the steps")
    right.set_ylabel("smallest eigenvalue")
    right.legend(loc="best")
    letter(left, "a", "Rate")
    letter(right, "b", "Curvature on the way")
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3)


def stationarity_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge the rate of the squared gradient norm for every ratio that the theorem allows."""
    least = constants("welsch", plan.seed).least_rate_ratio
    slopes = {ratio: slope(least_gradients(results, plan, ratio), plan) for ratio in RATIOS}
    bends = grid(results, "curvature", plan)[:, :, 0]
    bent = (bends < _FLAT).mean(axis=(0, 2))
    checks = [
        Check(f"{_named(ratio)}, {at_most(-0.5)}", slopes[ratio], high=-0.5 + TOLERANCE)
        for ratio in RATIOS
        if ratio >= 1.0
    ]
    late = slope_interval(horizons(plan)[-3:], least_gradients(results, plan).mean(axis=1)[-3:])
    others = [
        f"{exponent(found.value)} at {show(ratio)} times"
        for ratio, found in slopes.items()
        if ratio < 1
    ]
    return Verdict(
        short="non-convex objectives reach small gradients at the rate of Theorem 3",
        claim="Theorem 3: for non-convex objectives the least squared gradient norm falls like "
        "$T^{-1/2}$.",
        quote=r"… to achieve an $\delta$-approximate stationary solution, the iteration complexity "
        r"is $T \geq O(1/\delta^2)$ …",
        where="Section IV, Theorem 3",
        found=[
            "With the ratios that the theorem allows, the least squared gradient norm falls with "
            f"exponents {listed([exponent(c.interval.value) for c in checks])}; the theorem "
            f"requires at most {exponent(-0.5)}. With smaller ratios the exponents are "
            f"{listed(others)} the least allowed ratio, {show(least)}.",
            "The fall is steepest where the iterates leave the non-convex region. Over the last "
            f"three horizons alone the exponent is {exponent(late.value)}, which is not judged.",
            "The smallest eigenvalue of the Hessian is "
            f"{show(float(np.nanmin(bends)))} at its lowest. It is below {show(_FLAT)} at "
            f"{100 * bent[0]:.0f} % of the evaluations for the shortest horizon and at "
            f"{100 * bent[-1]:.0f} % for the longest; near a minimum it is 0, as it must be.",
        ],
        rule=f"Holds if each interval lies below {exponent(-0.5 + TOLERANCE)}, the theorem's "
        f"exponent plus a tolerance of {exponent(TOLERANCE)}. The smaller ratios are shown, but "
        "the theorem says nothing about them.",
        parts=[VerdictPart("least squared gradient norm", [check]) for check in checks],
        plan=plan,
        unit="exponent",
        numbers=[
            *(Measured(f"exponent, {_named(ratio)}", s.value) for ratio, s in slopes.items()),
            Measured("least ratio that the theorem allows", least),
            Measured("smallest eigenvalue of the Hessian", float(np.nanmin(bends))),
        ],
    )
