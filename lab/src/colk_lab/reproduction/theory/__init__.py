"""Theorems 1 to 3, Lemma 1 and Table I, compared with measurements."""

from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.theory.convergence import (
    INSIDE,
    convergence_figure,
    convergence_tasks,
    convergence_verdict,
    rate_tasks,
    rates,
)
from colk_lab.reproduction.theory.model_order import (
    model_order_figure,
    model_order_tasks,
    model_order_verdict,
)
from colk_lab.reproduction.theory.population import N_POINTS, PROBLEMS
from colk_lab.reproduction.theory.schedules import (
    schedule_tasks,
    schedule_verdicts,
    schedules_figure,
)
from colk_lab.reproduction.theory.statements import statement_tasks, statement_verdicts
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
        "schedules": schedule_tasks(plan),
        "statements": statement_tasks(plan),
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
    order, tracking, convergence, stationarity, schedules = (
        found[name] for name in ("order", "tracking", "convergence", "stationarity", "schedules")
    )
    separation, proposition, convexity = statement_verdicts(found["statements"], plan)
    complexity, attenuating, trade = schedule_verdicts(schedules, convergence, stationarity, plan)
    return Chapter(
        name="theory",
        title="Measured rates of the theorems",
        text=(
            "Streams are drawn from a finite population, so expectations, the optimum "
            r"$f^{\star}$ and gradients are exact. Exponents are slopes of a least-squares fit of "
            "logarithms. Brackets are 95 % intervals: over the runs for Theorems 1 and 2, and from "
            "the regression for Theorem 3 and for the order over the accuracy."
        ),
        figures=[
            model_order_figure(order, plan),
            tracking_figure(tracking),
            convergence_figure(convergence, plan),
            stationarity_figure(stationarity, plan),
            schedules_figure(schedules, plan),
        ],
        verdicts=[
            convexity,
            model_order_verdict(order, plan),
            separation,
            trade,
            tracking_verdict(tracking, plan),
            convergence_verdict(convergence, plan),
            stationarity_verdict(stationarity, plan),
            complexity,
            proposition,
            attenuating,
        ],
        settings={
            "population": f"{N_POINTS} points, $x$ uniform on [0, 1], "
            r"$y = a(2x + 3 \sin(6x)) + 0.3 N(0, 1)$",
            **{
                name: f"{problem.risk} of {problem.loss}, {problem.kernel}, "
                rf"$\lambda = {problem.regularization:g}$, gradient bound "
                f"{problem.gradient_bound:g}, $a = {problem.amplitude:g}$"
                for name, problem in PROBLEMS.items()
            },
        },
        tables=[rates_table(plan, rates(convergence, plan, INSIDE), stationarity, found["polk"])],
    )
