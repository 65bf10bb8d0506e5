"""Regression with outliers: the paper's synthetic experiment, Figures 1 and 2."""

from colk.experiments.chapter import Chapter, Plan
from colk.experiments.methods import BANDWIDTH, COMPARED, METHODS, RISK
from colk.experiments.outliers.boxes import boxes_figure
from colk.experiments.outliers.curves import curves_figure
from colk.experiments.outliers.features import features_figure
from colk.experiments.outliers.functions import functions_figure
from colk.experiments.outliers.laws_figure import laws_figure
from colk.experiments.outliers.runs import (
    LAW,
    N_SAMPLES,
    N_TRIALS,
    OutlierRuns,
    expected_tasks,
    run_all,
)
from colk.experiments.outliers.verdicts import outlier_verdicts
from colk.experiments.tasks import Run

__all__ = ["expected_tasks", "outliers"]


def outliers(plan: Plan, run: Run) -> Chapter:
    """Run the experiment and tell its story.

    Parameters
    ----------
    plan : Plan
        How much to run.
    run : callable
        Runs tasks: a `Runner`.
    """
    found = run_all(plan, run)
    return Chapter(
        name="outliers",
        title="Regression with outliers",
        text=(
            rf"$y = 2x + 3 \sin(6x)$ plus Gaussian noise of standard deviation {LAW.noise:g}, $x$ "
            f"uniform on [0, 1]; outliers: {LAW}. {plan.size(N_SAMPLES)} samples are drawn, a "
            f"fifth of them is the test set, and each of {plan.runs} training sets takes a random "
            "half of the rest. Every method learns each training set in one pass."
        ),
        figures=[
            boxes_figure(found),
            curves_figure(found),
            functions_figure(found),
            features_figure(found),
            laws_figure(found),
        ],
        verdicts=outlier_verdicts(found),
        settings=_settings(found),
    )


def _settings(found: OutlierRuns) -> dict[str, str]:
    def listed(settings: dict[str, float]) -> str:
        return ", ".join(f"{name} {value:g}" for name, value in settings.items())

    rows = {
        "kernel": f"Gaussian({BANDWIDTH:g}) for all; squared loss; risk of COLK and the other "
        f"compositional methods {RISK}",
        "budgets": f"{found.order} atoms, COLK's mean model order at its printed settings",
        "tuning": f"{N_TRIALS} trials for each method, least mean absolute error on a fifth of the "
        "first training set; the lidar data try the same settings",
    }
    for name in COMPARED:
        rows[f"{METHODS[name].label}, printed"] = listed(dict(METHODS[name].printed))
    for name, settings in found.chosen.items():
        rows[f"{METHODS[name].label}, tuned"] = listed(settings)
    return rows
