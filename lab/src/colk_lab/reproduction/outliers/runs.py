"""All runs of the synthetic experiment: both protocols, other distributions and other sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.laws import LAWS, OutlierLaw, signal
from colk_lab.reproduction.methods import (
    CLIP,
    CLIPS,
    COMPARED,
    METHODS,
    N_FEATURES,
    RISK,
    choose,
    clipped,
    column,
    trials,
)
from colk_lab.reproduction.streams import draw_data, learn_stream, moments, validate
from colk_lab.tasks import Result, Run, Task

__all__ = [
    "LAW",
    "N_SAMPLES",
    "N_TRIALS",
    "SIZES",
    "OutlierRuns",
    "disagreement",
    "expected_tasks",
    "final",
    "objective",
    "run_all",
    "signal_objective",
    "stack",
]

LAW = LAWS[1]
N_SAMPLES = 60_000
N_TRIALS = 16
SIZES = (12, 25, 50, 100, 200)
_EVALUATIONS = 40
# COLK runs first, because its model order is the budget of these methods.
_OTHERS = tuple(name for name in COMPARED if name != "colk")
_OTHER_LAWS = tuple(law for law in LAWS if law != LAW)

_UNBOUNDED = {**METHODS["colk"].printed, "gradient_bound": float("inf")}

Group = dict[str, list[Result]]


@dataclass(frozen=True)
class OutlierRuns:
    """Results of all runs.

    Attributes
    ----------
    plan : RunPlan
        Size of the run.
    order : int
        COLK's model order with printed settings, which is the budget of the other methods.
    printed, tuned : dict of str to list
        Results by method, one for each training set.
    chosen : dict of str to dict
        The tuned settings.
    laws : dict of OutlierLaw to dict
        Results with printed settings by distribution and method.
    networks : dict of (str, int) to list
        Results of SCGD by protocol and number of features.
    clips : dict of float to dict
        Results with printed settings by the bound on the gradient and method; `printed` is that of
        the default bound.
    literal : list
        COLK without a bound on the gradient.
    """

    plan: RunPlan
    order: int
    printed: Group
    tuned: Group
    chosen: dict[str, dict[str, float]]
    laws: dict[OutlierLaw, Group]
    networks: dict[tuple[str, int], list[Result]]
    clips: dict[float, Group]
    literal: list[Result]

    @property
    def protocols(self) -> dict[str, Group]:
        """The methods of the paper with printed settings for each bound, and with tuned ones."""
        groups = {column(clip): group for clip, group in self.clips.items()}
        groups["tuned"] = self.tuned
        return {name: {key: group[key] for key in COMPARED} for name, group in groups.items()}


def stack(results: Sequence[Result], name: str) -> Array:
    """Stack an array of all runs, with one row per run."""
    return np.stack([result[name] for result in results])


def final(results: Sequence[Result], name: str) -> Array:
    """Return the last evaluation of each run."""
    return np.array([result[name][-1] for result in results])


def objective(results: Sequence[Result]) -> Array:
    """Return the mean plus η times the variance of the test losses over time, as the text says."""
    parts = stack(results, "moments")
    total: Array = parts[..., 0] + RISK.weight * parts[..., 1]
    return total


def signal_objective(plan: RunPlan) -> float:
    """Return the objective of the noiseless function on the test set."""
    _, (X, y) = draw_data(LAW, plan.size(N_SAMPLES), plan.seed, run=0)
    mean, variance, *_ = moments(signal(X[:, 0]), y)
    return mean + RISK.weight * variance


def disagreement(results: Sequence[Result]) -> Array:
    """Return the RMS distance between the functions of runs 0 and 1, 2 and 3, and so on."""
    functions, pairs = stack(results, "function"), len(results) // 2
    gaps = functions[0 : 2 * pairs : 2] - functions[1 : 2 * pairs : 2]
    distances: Array = np.sqrt((gaps**2).mean(axis=1))
    return distances


def expected_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks that `run_all` will run; settings that are not known yet are guessed."""
    printed = {name: METHODS[name].printed for name in COMPARED}
    tuned = {name: trials(method, 1, plan.seed)[0] for name, method in METHODS.items()}
    tasks = _learning(plan, printed, LAW, 1, _EVALUATIONS)
    for law in _OTHER_LAWS:
        tasks += _learning(plan, printed, law, 1, evaluations=8)
    tasks += _tuning(plan, 1)[1]
    tasks += _learning(plan, tuned, LAW, 1, _EVALUATIONS)
    for clip in CLIPS:
        for resized in _resized(clipped("scgd", clip)).values():
            tasks += _learning(plan, {"scgd": resized}, LAW, 1, evaluations=1)
        if clip != CLIP:
            tasks += _learning(plan, {"colk": clipped("colk", clip)}, LAW, 1, _EVALUATIONS)
            others = {name: clipped(name, clip) for name in _OTHERS}
            tasks += _learning(plan, others, LAW, 1, evaluations=8)
    for resized in _resized(tuned["scgd"]).values():
        tasks += _learning(plan, {"scgd": resized}, LAW, 1, evaluations=1)
    return tasks + _learning(plan, {"literal": _UNBOUNDED}, LAW, 1, evaluations=1)


def run_all(plan: RunPlan, run: Run) -> OutlierRuns:
    """Run everything. COLK comes first, because its model order is the budget of the others."""
    first = _learn(plan, run, {"colk": METHODS["colk"].printed}, LAW, 1, _EVALUATIONS)["colk"]
    order = int(np.round(np.nanmean(final(first, "order"))))
    others = {name: METHODS[name].printed for name in _OTHERS}
    printed = {"colk": first, **_learn(plan, run, others, LAW, order, _EVALUATIONS)}
    everyone = {"colk": METHODS["colk"].printed, **others}
    laws = {LAW: printed}
    for law in _OTHER_LAWS:
        laws[law] = _learn(plan, run, everyone, law, order, evaluations=8)
    chosen = _tune(plan, run, order)
    tuned = _learn(plan, run, chosen, LAW, order, _EVALUATIONS)
    clips = {clip: printed if clip == CLIP else _clip(plan, run, clip) for clip in CLIPS}
    networks = _resize(plan, run, "tuned", chosen["scgd"], tuned["scgd"])
    for clip, group in clips.items():
        settings = clipped("scgd", clip)
        networks |= _resize(plan, run, column(clip), settings, group["scgd"])
    return OutlierRuns(
        plan=plan,
        order=order,
        printed=printed,
        tuned=tuned,
        chosen=chosen,
        laws={law: laws[law] for law in LAWS},
        networks=networks,
        clips=clips,
        literal=_learn(plan, run, {"literal": _UNBOUNDED}, LAW, order, evaluations=1)["literal"],
    )


def _clip(plan: RunPlan, run: Run, clip: float) -> Group:
    """Run all methods with another bound on the gradient, at COLK's order with this bound."""
    group = _learn(plan, run, {"colk": clipped("colk", clip)}, LAW, 1, _EVALUATIONS)
    order = max(round(float(np.nanmean(final(group["colk"], "order")))), 1)
    others = {name: clipped(name, clip) for name in _OTHERS}
    return group | _learn(plan, run, others, LAW, order, evaluations=8)


def _learning(
    plan: RunPlan,
    settings: Mapping[str, Mapping[str, float]],
    law: OutlierLaw,
    order: int,
    evaluations: int,
) -> list[Task]:
    """Return a task for each method and training set; "literal" is COLK without gradient bound."""
    n_samples = plan.size(N_SAMPLES)
    return [
        Task(
            learn_stream,
            {
                "method": "colk" if name == "literal" else name,
                "settings": dict(values),
                "order": order,
                "law": law.settings,
                "n_samples": n_samples,
                "seed": plan.seed,
                "run": i,
                "evaluations": evaluations,
            },
            name=_named(name, values),
            seconds=(2e-7 + 5e-8 * evaluations) * n_samples,
        )
        for name, values in settings.items()
        for i in range(plan.runs)
    ]


def _named(name: str, settings: Mapping[str, float]) -> str:
    if name == "literal":
        return "Regression with outliers: COLK without gradient bound"
    features = f", {settings['features']:g} features" if "features" in settings else ""
    return f"Regression with outliers: {METHODS[name].label}{features}"


def _learn(
    plan: RunPlan,
    run: Run,
    settings: Mapping[str, Mapping[str, float]],
    law: OutlierLaw,
    order: int,
    evaluations: int,
) -> Group:
    results = iter(run(_learning(plan, settings, law, order, evaluations)))
    return {name: [next(results) for _ in range(plan.runs)] for name in settings}


def _resized(settings: Mapping[str, float]) -> dict[int, dict[str, float]]:
    """Return settings of SCGD with numbers of features that differ from the paper's.

    The step size is proportional to 1/features, so that a step changes a prediction by the same
    amount.
    """
    return {
        size: {
            **settings,
            "features": size,
            "step_size": settings["step_size"] * N_FEATURES / size,
        }
        for size in SIZES
        if size != N_FEATURES
    }


def _resize(
    plan: RunPlan, run: Run, protocol: str, settings: Mapping[str, float], known: list[Result]
) -> dict[tuple[str, int], list[Result]]:
    """Run SCGD with other numbers of features; `known` has the runs with the paper's number."""
    found = {(protocol, N_FEATURES): known}
    for size, resized in _resized(settings).items():
        found[protocol, size] = _learn(plan, run, {"scgd": resized}, LAW, 1, evaluations=1)["scgd"]
    return {(protocol, size): found[protocol, size] for size in SIZES}


def _tuning(plan: RunPlan, order: int) -> tuple[dict[str, list[dict[str, float]]], list[Task]]:
    """Return the trials of each method, all on the same split of one training set."""
    tried = {name: trials(method, N_TRIALS, plan.seed) for name, method in METHODS.items()}
    n_samples = plan.size(N_SAMPLES)
    tasks = [
        Task(
            validate,
            {
                "method": name,
                "settings": settings,
                "order": order,
                "law": LAW.settings,
                "n_samples": n_samples,
                "seed": plan.seed,
                "run": 0,
            },
            name=f"Regression with outliers, tuning: {METHODS[name].label}",
            seconds=2.5e-7 * n_samples,
        )
        for name, listed in tried.items()
        for settings in listed
    ]
    return tried, tasks


def _tune(plan: RunPlan, run: Run, order: int) -> dict[str, dict[str, float]]:
    """Return the best trial of each method."""
    tried, tasks = _tuning(plan, order)
    return choose(tried, [float(result["score"]) for result in run(tasks)])
