"""Theorems 1 to 3, Lemma 1 and Table I, compared with measurements."""

import numpy as np

from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.theory.convergence import (
    STEP_SIZES,
    convergence_figure,
    convergence_tasks,
    convergence_verdict,
    rate_tasks,
)
from colk_lab.reproduction.theory.model_order import (
    DIMENSIONS,
    RATIOS,
    model_order_figure,
    model_order_tasks,
    model_order_verdict,
)
from colk_lab.reproduction.theory.population import GRADIENT_BOUND, KERNEL, N_POINTS, REGULARIZATION
from colk_lab.reproduction.theory.stationarity import (
    stationarity_figure,
    stationarity_tasks,
    stationarity_verdict,
)
from colk_lab.reproduction.theory.table import rates_table
from colk_lab.reproduction.theory.tracking import tracking_figure, tracking_tasks, tracking_verdict
from colk_lab.tasks import Run, Task

__all__ = ["expected_tasks", "theory"]


def _tasks(plan: RunPlan) -> dict[str, list[Task]]:
    return {
        "order": model_order_tasks(plan),
        "tracking": tracking_tasks(plan),
        "convergence": convergence_tasks(plan),
        "stationarity": stationarity_tasks(plan),
        "polk": rate_tasks(plan, "mean"),
    }


def expected_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks that `theory` will run."""
    return [task for tasks in _tasks(plan).values() for task in tasks]


def theory(plan: RunPlan, run: Run) -> Chapter:
    """Run the experiment and return its chapter.

    Parameters
    ----------
    plan : RunPlan
        Size of the run.
    run : callable
        Runs tasks, such as a `Runner`.
    """
    found = {name: run(tasks) for name, tasks in _tasks(plan).items()}
    orders = np.reshape(
        [float(result["order"]) for result in found["order"]], (len(DIMENSIONS), len(RATIOS), -1)
    )
    ends = found["convergence"][len(STEP_SIZES) * plan.runs :]
    return Chapter(
        name="theory",
        title="Measured rates of the theorems",
        text=(
            "Streams are drawn from a finite population, so expectations, the optimum "
            r"$f^{\star}$ and gradients are exact. Exponents are slopes of a least-squares fit of "
            "logarithms. Brackets are 95 % intervals: over the runs for Theorems 1 and 2, and from "
            "the regression for Theorem 3."
        ),
        figures=[
            model_order_figure(orders),
            tracking_figure(found["tracking"]),
            convergence_figure(found["convergence"], plan),
            stationarity_figure(found["stationarity"], plan),
        ],
        verdicts=[
            model_order_verdict(orders, plan),
            tracking_verdict(found["tracking"], plan),
            convergence_verdict(found["convergence"], plan),
            stationarity_verdict(found["stationarity"], plan),
        ],
        settings={
            "population": f"{N_POINTS} points, $x$ uniform on [0, 1], "
            r"$y = (2x + 3 \sin(6x))/4 + 0.3 N(0, 1)$",
            r"kernel, $\lambda$": f"{KERNEL}, {REGULARIZATION:g}",
            "gradient bound": f"{GRADIENT_BOUND:g}",
        },
        tables=[rates_table(plan, ends, found["stationarity"], found["polk"])],
    )
