"""Regression with outliers: the paper's synthetic experiment, Figures 1 and 2."""

from colk_lab.reproduction.chapter import Chapter, RunPlan
from colk_lab.reproduction.methods import BANDWIDTH, CLIP, COMPARED, METHODS, RISK, described
from colk_lab.reproduction.outliers.boxes import boxes_figure
from colk_lab.reproduction.outliers.clips_figure import clips_figure
from colk_lab.reproduction.outliers.curves import curves_figure
from colk_lab.reproduction.outliers.features import features_figure
from colk_lab.reproduction.outliers.functions import functions_figure
from colk_lab.reproduction.outliers.laws_figure import laws_figure
from colk_lab.reproduction.outliers.runs import (
    LAW,
    N_SAMPLES,
    N_TRIALS,
    OutlierRuns,
    expected_tasks,
    run_all,
)
from colk_lab.reproduction.outliers.verdicts import outlier_verdicts
from colk_lab.tasks import Run

__all__ = ["expected_tasks", "outliers"]


def outliers(plan: RunPlan, run: Run) -> Chapter:
    """Run the experiment and return its chapter.

    Parameters
    ----------
    plan : RunPlan
        Size of the run.
    run : callable
        Runs tasks, such as a `Runner`.
    """
    found = run_all(plan, run)
    return Chapter(
        name="outliers",
        title="Regression with outliers",
        text=(
            rf"The target is $y = 2x + 3 \sin(6x)$ plus Gaussian noise of standard deviation "
            f"{LAW.noise:g}, and $x$ is uniform on [0, 1]. Outliers: {LAW}. Of "
            f"{plan.size(N_SAMPLES)} samples a fifth is the test set. Each of {plan.runs} training "
            "sets is a random half of the rest. Every method learns each training set in one pass."
        ),
        figures=[
            boxes_figure(found),
            curves_figure(found),
            functions_figure(found),
            features_figure(found),
            laws_figure(found),
            clips_figure(found),
        ],
        verdicts=outlier_verdicts(found),
        settings=_settings(found),
    )


def _settings(found: OutlierRuns) -> dict[str, str]:
    rows = {
        "kernel": f"Gaussian({BANDWIDTH:g}) and squared loss for all methods; the risk of COLK and "
        f"of the other compositional methods is {RISK}",
        "gradient bound C": f"{CLIP:g}, the default of colk, for all printed settings, except in "
        "the figure and the verdicts that vary it",
        "λ and first g": "0 with printed settings, except 1e-6 for NPBSGD; g starts at the first "
        "inner value, as $g_0 = 0$ and $\\delta_{-1} = 0$ in Appendix C give",
        "test error": "mean squared distance to the noiseless function on the test points, not to "
        "the noisy targets",
        "budgets": f"{found.order} atoms, COLK's mean model order with printed settings",
        "tuning": f"{N_TRIALS} trials for each method; the best has the smallest mean absolute "
        "error on a fifth of the first training set. The lidar experiment tries the same settings",
    }
    for name in COMPARED:
        rows[f"{METHODS[name].label}, printed"] = described(METHODS[name].printed)
    for name, settings in found.chosen.items():
        rows[f"{METHODS[name].label}, tuned"] = described(settings)
    return rows
