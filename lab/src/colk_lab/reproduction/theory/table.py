"""Table I of the paper with measured model orders and rates."""

from collections.abc import Sequence

import numpy as np

from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import RunPlan, Table
from colk_lab.reproduction.theory.convergence import horizons
from colk_lab.reproduction.theory.stationarity import least_gradients, of_ratio
from colk_lab.reproduction.words import show, span
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Result

__all__ = ["rates_table"]


# Objective, model order and number of samples for accuracy δ, as stated in the paper.
PAPER = {
    "BSGD": ("mean, strongly convex", r"$\Omega(1)$", r"$O(1/(\delta - E)^2)$"),
    "doubly stochastic": ("mean, strongly convex", r"$\Omega(T)$", r"$O(1/\delta)$"),
    "POLK": ("mean, strongly convex", r"$\Omega(T^p)$", r"$O(1/\delta^2)$"),
    "random features": (
        "mean, strongly convex",
        r"$\Omega(\sqrt{T} \log\,d_\lambda)$",
        r"$O(1/\delta^2)$",
    ),
    "COLK": (
        "compositional, strongly convex",
        r"$\Omega((1/\delta)^p)$",
        r"$O((1/\delta) \log(1/\delta))$",
    ),
    "COLK, non-convex": (
        "compositional, non-convex",
        r"$\Omega((1/\delta)^p)$",
        r"$O(1/\delta^2)$",
    ),
}
HEAD = (
    "method",
    "objective",
    "paper: model",
    "paper: samples",
    r"measured: exponent of $M$ in $1/\delta$",
    r"measured: exponent of $T$ in $1/\delta$",
    r"$\delta$ reached",
)
CAPTION = (
    r"$\delta$ is the mean of $\Vert f - f^{\star}\Vert^2$, or in the non-convex case the least "
    r"mean of $\Vert\nabla R\Vert^2$. Exponents of $1/\delta$ are fitted to means over the runs, "
    "over the horizons of Theorems 2 and 3, with the interval of the regression. They are not the "
    "reciprocals of the verdicts' exponents, which are means over the exponents of the runs. For "
    r"COLK and strongly convex objectives the paper's table says $(1/\delta)^p$, and its Theorem 2 "
    r"says $(1/\delta)^{2p}$."
)


def _row(accuracy: Array, orders: Array, plan: RunPlan) -> tuple[str, str, str]:
    """Return the exponents of M and T in 1/δ, fitted to means over the runs, and the last δ."""
    inverse = 1.0 / accuracy.mean(axis=1)
    atoms = orders.mean(axis=1)
    return (
        f"{span(slope_interval(inverse, atoms), 'exponent')}, $M = {atoms[-1]:.0f}$ at the end",
        span(slope_interval(inverse, horizons(plan)), "exponent"),
        show(float(accuracy.mean(axis=1)[-1])),
    )


def _ends(results: Sequence[Result], name: str, plan: RunPlan) -> Array:
    return np.reshape([float(result[name][-1]) for result in results], (-1, plan.runs))


def rates_table(
    plan: RunPlan, convex: Sequence[Result], bent: Sequence[Result], mean: Sequence[Result]
) -> Table:
    """Return the table with measured exponents of COLK (both cases) and POLK, for p = 1.

    Parameters
    ----------
    plan : RunPlan
        Size of the run.
    convex, bent, mean : sequence of results
        Results by horizon and run: COLK strongly convex, COLK non-convex (all ratios), POLK.
    """
    colk, polk = (_ends(results, "order", plan) for results in (convex, mean))
    measured = {
        "BSGD": ("fixed budget", "—", "—"),
        "doubly stochastic": ("$T$, by design", "—", "—"),
        "POLK": _row(_ends(mean, "distance", plan), polk, plan),
        "random features": ("fixed in advance", "—", "—"),
        "COLK": _row(_ends(convex, "distance", plan), colk, plan),
        "COLK, non-convex": _row(
            least_gradients(bent, plan), _ends(of_ratio(bent, plan), "order", plan), plan
        ),
    }
    return Table(
        name="theory-table",
        title="Table I of the paper with measured exponents ($p = 1$)",
        caption=CAPTION,
        head=HEAD,
        rows=[
            (name.partition(",")[0], *PAPER[name], *figures) for name, figures in measured.items()
        ],
    )
