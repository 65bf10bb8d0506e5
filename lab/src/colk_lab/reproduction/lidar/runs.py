"""All runs on the lidar data: with and without outliers, printed and tuned settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.data import load_lidar
from colk.errors import DivergenceError
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.laws import generator
from colk_lab.reproduction.methods import (
    CLIP,
    CLIPS,
    COMPARED,
    METHODS,
    choose,
    clipped,
    column,
    trials,
)
from colk_lab.reproduction.streams import GRID, model_order
from colk_lab.tasks import Result, Run, Task

__all__ = ["CONDITIONS", "LidarRuns", "expected_tasks", "prepare", "run_all"]

N_TRIALS = 16
N_PASSES = 40
OUTLIER_SHARE = 0.2
OUTLIER_SIZE = 1.0
CONDITIONS = {"without outliers": 0.0, "with outliers": OUTLIER_SHARE}

Group = dict[str, list[Result]]


@dataclass(frozen=True)
class LidarRuns:
    """Results by condition, protocol and method, and the tuned settings."""

    plan: RunPlan
    order: int
    results: dict[tuple[str, str], Group]
    chosen: dict[str, dict[str, dict[str, float]]]


def prepare(share: float, seed: int, run: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Draw three quarters for training, with outliers, and a clean quarter for the test.

    Ranges are scaled to [0, 1].
    """
    distance, log_ratio = load_lidar()
    x = (distance - distance.min()) / (distance.max() - distance.min())
    rng = generator(seed, "lidar", run)
    order = rng.permutation(len(x))
    hit = rng.random(len(x)) < share
    noisy = log_ratio + np.where(hit, OUTLIER_SIZE * rng.normal(size=len(x)), 0.0)
    split = 3 * len(x) // 4
    first, last = order[:split], order[split:]
    return (x[first, None], noisy[first]), (x[last, None], log_ratio[last])


def learn_lidar(
    method: str,
    settings: Mapping[str, float],
    order: int,
    share: float,
    passes: int,
    seed: int,
    run: int,
    validating: bool,
) -> dict[str, NDArray[Any]]:
    """Learn a training set in several passes, each in a new order.

    Returns
    -------
    dict of arrays
        error (mean squared error on the clean test points; when validating, mean absolute error
        on a fifth of the training points), order, and function (values on a grid).
    """
    (X, y), (test_x, test_y) = prepare(share, seed, run)
    if validating:
        split = 4 * len(X) // 5
        X, y, test_x, test_y = X[:split], y[:split], X[split:], y[split:]
    rng = generator(seed, "lidar passes", run)
    learner = METHODS[method].make(settings, order, run)
    try:
        for _ in range(passes):
            rows = rng.permutation(len(X))
            learner.learn(X[rows], y[rows])
        gaps = learner.predict(test_x) - test_y
        function = learner.predict(GRID[:, None])
    except DivergenceError:
        gaps, function = np.full(len(test_y), np.inf), np.full(len(GRID), np.nan)
    error = np.abs(gaps).mean() if validating else (gaps**2).mean()
    return {
        "error": np.array(error),
        "order": np.array(model_order(learner)),
        "function": function,
    }


def expected_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks that `run_all` will run; settings that are not known yet are guessed."""
    tuned = {name: trials(method, 1, plan.seed)[0] for name, method in METHODS.items()}
    tasks = []
    for share in CONDITIONS.values():
        for clip in CLIPS:
            printed = {name: clipped(name, clip) for name in COMPARED}
            tasks += _learning(plan, printed, 1, share)
        tasks += _tuning(plan, 1, share)[1] + _learning(plan, tuned, 1, share)
    return tasks


def run_all(plan: RunPlan, run: Run) -> LidarRuns:
    """Run everything. COLK comes first, because its model order is the budget of the others."""
    results: dict[tuple[str, str], Group] = {}
    orders: dict[float, int] = {}
    for condition, share in reversed(CONDITIONS.items()):
        for clip in CLIPS:
            alone = {"colk": clipped("colk", clip)}
            first = _learn(plan, run, alone, 1, share)
            # The order with outliers, which is larger, is the budget under both conditions.
            found = np.mean([float(result["order"]) for result in first["colk"]])
            order = orders.setdefault(clip, max(round(float(found)), 1))
            others = {name: clipped(name, clip) for name in COMPARED if name != "colk"}
            rest = _learn(plan, run, others, order, share)
            results[condition, column(clip)] = {**first, **rest}
    order = orders[CLIP]
    chosen = {condition: _tune(plan, run, order, share) for condition, share in CONDITIONS.items()}
    for condition, share in CONDITIONS.items():
        results[condition, "tuned"] = _learn(plan, run, chosen[condition], order, share)
    return LidarRuns(plan, order, results, chosen)


def _task(
    plan: RunPlan,
    name: str,
    settings: Mapping[str, float],
    order: int,
    share: float,
    i: int,
    validating: bool = False,
) -> Task:
    values: dict[str, Any] = {
        "method": name,
        "settings": dict(settings),
        # COLK's printed settings have no budget.
        "order": 0 if "parsimony" in settings else order,
        "share": share,
        "passes": max(2, round(N_PASSES * plan.scale)),
        "seed": plan.seed,
        "run": i,
        "validating": validating,
    }
    stage = "Lidar, tuning" if validating else "Lidar"
    return Task(
        learn_lidar,
        values,
        name=f"{stage}: {METHODS[name].label}",
        seconds=1.8e-4 * values["passes"],
    )


def _learning(
    plan: RunPlan, settings: Mapping[str, Mapping[str, float]], order: int, share: float
) -> list[Task]:
    return [
        _task(plan, name, values, order, share, i)
        for name, values in settings.items()
        for i in range(plan.runs)
    ]


def _learn(
    plan: RunPlan, run: Run, settings: Mapping[str, Mapping[str, float]], order: int, share: float
) -> Group:
    results = iter(run(_learning(plan, settings, order, share)))
    return {name: [next(results) for _ in range(plan.runs)] for name in settings}


def _tuning(
    plan: RunPlan, order: int, share: float
) -> tuple[dict[str, list[dict[str, float]]], list[Task]]:
    """Return the trials of the synthetic experiment, on a split of one training set."""
    tried = {name: trials(method, N_TRIALS, plan.seed) for name, method in METHODS.items()}
    tasks = [
        _task(plan, name, settings, order, share, 0, validating=True)
        for name, listed in tried.items()
        for settings in listed
    ]
    return tried, tasks


def _tune(plan: RunPlan, run: Run, order: int, share: float) -> dict[str, dict[str, float]]:
    tried, tasks = _tuning(plan, order, share)
    return choose(tried, [float(result["error"]) for result in run(tasks)])
