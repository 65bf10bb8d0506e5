"""The paper's Table I, beside measured model orders and rates."""

from collections.abc import Sequence

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Plan, Table
from colk.experiments.statistics import Interval, slope_interval
from colk.experiments.tasks import Result
from colk.experiments.theory.convergence import horizons
from colk.experiments.theory.stationarity import least_gradients

__all__ = ["rates_table"]


def _show(interval: Interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _row(accuracy: Array, orders: Array, plan: Plan) -> tuple[str, str, str]:
    """Exponents of M and T in 1/δ, from means over the runs, and the last model order."""
    inverse = 1.0 / accuracy.mean(axis=1)
    atoms = orders.mean(axis=1)
    return (
        f"{_show(slope_interval(inverse, atoms))}; M = {atoms[-1]:.0f} at the end",
        _show(slope_interval(inverse, horizons(plan))),
        f"{accuracy.mean(axis=1)[-1]:.2g}",
    )


def _ends(results: Sequence[Result], name: str, plan: Plan) -> Array:
    return np.reshape([float(result[name][-1]) for result in results], (-1, plan.runs))


def rates_table(
    plan: Plan, convex: Sequence[Result], moments: Sequence[Result], mean: Sequence[Result]
) -> Table:
    """Measured exponents of COLK (both cases) and POLK; p = 1.

    Parameters
    ----------
    plan : Plan
        How much was run.
    convex, moments, mean : sequence of results
        Ends by horizon and run: COLK strongly convex, COLK non-convex, POLK.
    """
    rows = [
        ("BSGD", "mean, strongly convex", "Ω(1)", "O(1/(δ − E)²)", "fixed budget", "—", "—"),
        ("doubly stochastic", "mean, strongly convex", "Ω(T)", "O(1/δ)", "T, by design", "—", "—"),
        (
            "POLK",
            "mean, strongly convex",
            "Ω(T^p)",
            "O(1/δ²)",
            *_row(_ends(mean, "distance", plan), _ends(mean, "order", plan), plan),
        ),
        (
            "random features",
            "mean, strongly convex",
            "Ω(√T log d_λ)",
            "O(1/δ²)",
            "fixed in advance",
            "—",
            "—",
        ),
        (
            "COLK",
            "compositional, strongly convex",
            "Ω((1/δ)^p)",
            "O((1/δ) log(1/δ))",
            *_row(_ends(convex, "distance", plan), _ends(convex, "order", plan), plan),
        ),
        (
            "COLK",
            "compositional, non-convex",
            "Ω((1/δ)^p)",
            "O(1/δ²)",
            *_row(least_gradients(moments, plan), _ends(moments, "order", plan), plan),
        ),
    ]
    return Table(
        name="theory-table",
        title="Table I of the paper, beside what was measured (p = 1)",
        caption=(
            "δ is the mean ‖f − f*‖², for the non-convex case the least mean ‖∇R‖². Exponents of "
            "1/δ are fitted over the horizons of Theorem 2 and 3, with the regression's interval."
        ),
        head=(
            "method",
            "objective",
            "paper: model",
            "paper: samples",
            "measured: exponent of M in 1/δ",
            "measured: exponent of T in 1/δ",
            "δ reached",
        ),
        rows=rows,
    )
