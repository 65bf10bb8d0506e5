"""The lidar data, with and without added outliers: Figure 3 of the paper."""

from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.lidar.errors import errors_figure, lidar_verdict
from colk_lab.reproduction.lidar.functions import functions_figure
from colk_lab.reproduction.lidar.runs import (
    CONDITIONS,
    N_PASSES,
    N_TRIALS,
    OUTLIER_SHARE,
    OUTLIER_SIZE,
    expected_tasks,
    run_all,
)
from colk_lab.reproduction.methods import METHODS, described
from colk_lab.tasks import Run

__all__ = ["expected_tasks", "lidar"]


def lidar(plan: RunPlan, run: Run) -> Chapter:
    """Run the experiment and return its chapter.

    Parameters
    ----------
    plan : RunPlan
        Size of the run.
    run : callable
        Runs tasks, such as a `Runner`.
    """
    found = run_all(plan, run)
    settings = {
        "data": "221 points, ranges scaled to [0, 1]. Each run draws its own split: three quarters "
        "for training, one quarter for the test",
        "outliers": f"a normal number of standard deviation {OUTLIER_SIZE:g} is added to "
        f"{100 * OUTLIER_SHARE:g} % of the training points",
        "passes": f"{max(2, round(N_PASSES * plan.scale))}, each in a new order",
        "budgets": f"{found.order} atoms",
        "tuning": f"{N_TRIALS} trials for each method and condition; the best has the smallest "
        "mean absolute error on a fifth of the first training set, including its outliers. The "
        "trials are those of regression with outliers, so equal settings in both chapters are the "
        "same trial",
    }
    for condition, by_method in found.chosen.items():
        for name, values in by_method.items():
            settings[f"{METHODS[name].label}, tuned {condition}"] = described(values)
    return Chapter(
        name="lidar",
        title="Lidar",
        text=(
            "The data are the log ratio of the light received from two lasers, as a function of "
            "the range. The kernel and the printed settings are those of the synthetic experiment."
        ),
        figures=[
            errors_figure(found),
            *(functions_figure(found, condition) for condition in reversed(CONDITIONS)),
        ],
        verdicts=[lidar_verdict(found)],
        settings=settings,
    )
