"""Attenuating and constant step sizes, the compression budget, and the order over the accuracy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band, letter
from colk_lab.reproduction.theory.convergence import rate_tasks, rates
from colk_lab.reproduction.theory.population import observe
from colk_lab.reproduction.theory.stationarity import least_gradients, of_ratio
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_most
from colk_lab.reproduction.verdict import Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import exponent
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["schedule_tasks", "schedule_verdicts", "schedules_figure"]

HORIZONS = (500, 1000, 2000, 4000, 8000, 16000, 32000)
# Power of the attenuating steps, and of constant ones.
POWERS = {"attenuating": 0.75, "constant": 0.0}
_STEPS = {"attenuating": 0.3, "constant": 0.05}
# Constant steps have settled from here on.
SETTLED = 4000
# Budgets at one step size.
STEP_SIZE = 0.05
BUDGETS = tuple(float(f"{value:.3g}") for value in np.geomspace(0.0005, 0.1, 7))
_BUDGET_STEPS = 4000
# Horizons with a Laplacian kernel, whose order grows fast.
ROUGH = (500, 1000, 2000, 4000, 8000)


def schedule_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by schedule, horizon and run; by budget and run; and of the Laplacian kernel."""
    tasks = []
    for name, power in POWERS.items():
        for full in HORIZONS:
            horizon, step = plan.size(full), _STEPS[name]
            tasks += [
                Task(
                    observe,
                    {
                        "problem": "semivariance",
                        "step_size": step,
                        "tracking_rate": step,
                        "eps": step**2,
                        "n_steps": horizon,
                        "evaluations": 2 if power else 40,
                        "power": power,
                        "seed": plan.seed,
                        "run": i,
                    },
                    name=f"{name.capitalize()} steps",
                    seconds=0.01 + 1e-6 * horizon,
                )
                for i in range(plan.runs)
            ]
    return [*tasks, *_budget_tasks(plan), *rate_tasks(plan, "laplacian", ROUGH)]


def _budget_tasks(plan: RunPlan) -> list[Task]:
    return [
        Task(
            observe,
            {
                "problem": "semivariance",
                "step_size": STEP_SIZE,
                "tracking_rate": STEP_SIZE,
                "eps": eps,
                "n_steps": plan.size(_BUDGET_STEPS),
                "evaluations": 40,
                "seed": plan.seed,
                "run": i,
            },
            name="Compression budgets",
            seconds=0.03,
        )
        for eps in BUDGETS
        for i in range(plan.runs)
    ]


def _parts(results: Sequence[Result], plan: RunPlan) -> dict[str, list[Sequence[Result]]]:
    """Return the results of each series by its places; each has one result for a run."""
    sizes = {**dict.fromkeys(POWERS, len(HORIZONS)), "budget": len(BUDGETS), "rough": len(ROUGH)}
    groups = iter(results[k : k + plan.runs] for k in range(0, len(results), plan.runs))
    return {name: [next(groups) for _ in range(size)] for name, size in sizes.items()}


def _late(groups: list[Sequence[Result]], name: str) -> Array:
    """Return means over the second half of the evaluations, by place and run."""
    return np.array([[r[name][len(r[name]) // 2 :].mean() for r in group] for group in groups])


def schedules_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw distances over the horizon, and distance and order over the budget."""
    return Figure(
        name="theory-schedules",
        title="Attenuating steps, and the trade of the compression budget",
        caption=(
            r"Mean plus 0.3 times the semivariance with $\lambda = 0.1$. Lines are medians, bands "
            "the middle 80 % of the runs. (a) Squared distance to the optimum after $T$ steps with "
            r"$\alpha_t = \beta_t = 0.3/(1 + t/100)^{0.75}$ and $\varepsilon_t = \alpha_t^2$, and "
            r"mean distance in the second half with the constant $\alpha = \beta = 0.05$. (b) "
            r"Squared distance and (c) model order over the budget $\varepsilon$, at "
            r"$\alpha = 0.05$."
        ),
        columns=_columns(results, plan),
        draw=lambda canvas: _draw(canvas, results, plan),
        height=3.6,
    )


def _series(results: Sequence[Result], plan: RunPlan) -> dict[str, tuple[Array, Array]]:
    found, T = _parts(results, plan), np.array([plan.size(full) for full in HORIZONS], dtype=float)
    ends = np.array([[r["distance"][-1] for r in group] for group in found["attenuating"]])
    return {
        "attenuating": (T, ends),
        "constant": (T, _late(found["constant"], "distance")),
        "distance": (np.array(BUDGETS), _late(found["budget"], "distance")),
        "order": (np.array(BUDGETS), _late(found["budget"], "order")),
    }


def _columns(results: Sequence[Result], plan: RunPlan) -> dict[str, Sequence[Any]]:
    rows = [
        (name, place, i, value)
        for name, (places, values) in _series(results, plan).items()
        for place, by_run in zip(places, values, strict=True)
        for i, value in enumerate(by_run)
    ]
    return as_columns(("series", "x", "run", "value"), rows)


def _draw(canvas: "Canvas", results: Sequence[Result], plan: RunPlan) -> None:
    panels, found = canvas.subplots(1, 3), _series(results, plan)
    for name, color in (("attenuating", "green"), ("constant", "blue")):
        x, values = found[name]
        band(panels[0], x, values.T, PALETTE[color], name, marker="o", markersize=3)
    panels[0].legend(loc="best")
    for axes, name in zip(panels[1:], ("distance", "order"), strict=True):
        x, values = found[name]
        band(axes, x, values.T, PALETTE["blue"], "", marker="o", markersize=3)
        axes.set_xlabel(r"budget $\varepsilon$")
    panels[0].set_xlabel("steps $T$")
    panels[0].set_ylabel(r"$\Vert f - f^{\star}\Vert^2$ in $H$")
    for axes, mark, title in zip(
        panels, "abc", ("Schedules", "Squared distance", "Model order"), strict=True
    ):
        axes.set_xscale("log")
        axes.set_yscale("log")
        letter(axes, mark, title)


def schedule_verdicts(
    results: Sequence[Result], convex: Sequence[Result], bent: Sequence[Result], plan: RunPlan
) -> list[Verdict]:
    """Judge the schedules, the trade of the budget, and the order over the accuracy."""
    return [
        _rates_of_order(_parts(results, plan)["rough"], convex, bent, plan),
        _attenuating(results, plan),
        _trade(results, plan),
    ]


def _attenuating(results: Sequence[Result], plan: RunPlan) -> Verdict:
    found = _series(results, plan)
    T, ends = found["attenuating"]
    late = plan.size(SETTLED) <= T
    falling = slope_interval(T, ends.T)
    settled = slope_interval(T[late], found["constant"][1][late].T)
    return Verdict(
        short="COLK converges under attenuating and under constant steps",
        claim="COLK converges both under attenuating and constant learning rates.",
        quote="This method, Compositional Online Learning with Kernels (COLK), converges both "
        "under attenuating and constant learning rates …",
        where="Section VI",
        found=[
            "With attenuating steps the squared distance to the optimum falls with exponent "
            f"{exponent(falling.value)} in $T$. With constant steps it settles: from {SETTLED} "
            f"steps on its exponent is {exponent(settled.value)}.",
        ],
        rule=f"There are two parts. With attenuating steps the exponent must lie below "
        f"{exponent(-TOLERANCE)}; with constant ones it must lie between {exponent(-TOLERANCE)} "
        f"and {exponent(TOLERANCE)}.",
        parts=[
            VerdictPart(
                "exponent of the squared distance", [Check("attenuating", falling, high=-TOLERANCE)]
            ),
            VerdictPart(
                "exponent of the squared distance",
                [Check("constant", settled, low=-TOLERANCE, high=TOLERANCE)],
            ),
        ],
        plan=plan,
        unit="exponent",
    )


def _trade(results: Sequence[Result], plan: RunPlan) -> Verdict:
    found = _series(results, plan)
    far, large = (slope_interval(x, values.T) for x, values in (found["distance"], found["order"]))
    return Verdict(
        short="a larger budget buys a smaller model with a larger error",
        claim=r"A larger budget $\varepsilon$ yields a lower model order, at the cost of greater "
        "sub-optimality.",
        quote=r"A larger radius may be attained by choosing a larger $\varepsilon$, meaning that "
        "fewer points are required to cover the data domain, and thus yields a lower model order, "
        "at the cost of incurring greater sub-optimality.",
        where="Section IV, below Theorem 1",
        found=[
            rf"Over budgets from {BUDGETS[0]:g} to {BUDGETS[-1]:g} at $\alpha = {STEP_SIZE:g}$, "
            f"the model order changes with exponent {exponent(large.value)} and the squared "
            f"distance to the optimum with exponent {exponent(far.value)}."
        ],
        rule="There are two parts: the exponent of the order lies below 0, and that of the squared "
        "distance above 0.",
        parts=[
            VerdictPart(r"exponent in $\varepsilon$", [Check("model order", large, high=0.0)]),
            VerdictPart(r"exponent in $\varepsilon$", [Check("squared distance", far, low=0.0)]),
        ],
        plan=plan,
        unit="exponent",
    )


def _rates_of_order(
    rough: list[Sequence[Result]],
    convex: Sequence[Result],
    bent: Sequence[Result],
    plan: RunPlan,
) -> Verdict:
    """Judge the exponents of the order in 1/δ for p = 1."""
    smooth = np.array([float(r["distance"][-1]) for r in rates(convex, plan, "inside")])
    atoms = np.array([float(r["order"][-1]) for r in rates(convex, plan, "inside")])
    series = {
        "Theorem 2, Gaussian": (smooth.reshape(-1, plan.runs), atoms.reshape(-1, plan.runs)),
        "Theorem 2, Laplacian": (
            np.array([[r["distance"][-1] for r in group] for group in rough]),
            np.array([[r["order"][-1] for r in group] for group in rough]),
        ),
        "Theorem 3, Gaussian": (
            least_gradients(bent, plan),
            np.reshape([r["order"][-1] for r in of_ratio(bent, plan)], (-1, plan.runs)),
        ),
    }
    found = {
        name: slope_interval(1.0 / far.mean(axis=1), order.mean(axis=1))
        for name, (far, order) in series.items()
    }
    rough_slope = found["Theorem 2, Laplacian"]
    checks = [
        Check(f"{where}, Laplacian, {at_most(bound)}", rough_slope, high=bound + TOLERANCE)
        for where, bound in (("Theorem 2", 2.0), ("Table I", 1.0))
    ]
    said = ", ".join(f"{exponent(slope.value)} ({name})" for name, slope in found.items())
    return Verdict(
        short="the model order grows with the accuracy as Theorem 2 and Table I say",
        claim=r"An accuracy $\delta$ needs $O((1/\delta)^{2p})$ atoms by Theorem 2, and "
        r"$O((1/\delta)^p)$ by Table I.",
        quote=r"… an model complexity upper bound $M$ as … $M \geq O(\max \{(5Z_3/\delta)^{2p}, "
        r"(Z_1/Z_4)^p\})$ … [and for non-convex objectives] $M \geq O(1/\delta^p)$ …",
        where="Section IV, Theorems 2 and 3, and Table I",
        found=[
            rf"For $p = 1$ the order grows in $1/\delta$ with exponents {said}. Theorem 2 allows 2 "
            "for strongly convex objectives, Table I prints 1 for them, and Theorem 3 allows 1.",
            "With a Gaussian kernel the order hardly grows, so a test cannot fail, and these "
            "exponents are not judged.",
        ],
        rule="The exponent with the Laplacian kernel counts twice: against the bound of Theorem 2 "
        f"and against that of Table I, with a tolerance of {exponent(TOLERANCE)}. The intervals "
        "are those of the regression.",
        parts=[VerdictPart(r"exponent of the order in $1/\delta$", [check]) for check in checks],
        plan=plan,
        unit="exponent",
        numbers=[Measured(f"exponent, {name}", slope.value) for name, slope in found.items()],
    )
