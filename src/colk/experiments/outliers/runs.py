"""All runs of the synthetic experiment: both protocols, other laws, other sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Plan
from colk.experiments.laws import LAWS, OutlierLaw, signal
from colk.experiments.methods import COMPARED, METHODS, N_FEATURES, RISK, choose, trials
from colk.experiments.streams import draw_data, learn_stream, moments, validate
from colk.experiments.tasks import Result, Run, Task

__all__ = [
    "LAW",
    "N_SAMPLES",
    "N_TRIALS",
    "SIZES",
    "OutlierRuns",
    "count_tasks",
    "disagreement",
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
_LOOKS = 40
# The other methods need the model order of COLK before they can start.
_OTHERS = tuple(name for name in COMPARED if name != "colk")
_OTHER_LAWS = tuple(law for law in LAWS if law != LAW)

Group = dict[str, list[Result]]


@dataclass(frozen=True)
class OutlierRuns:
    """Results of all runs.

    Attributes
    ----------
    plan : Plan
        How much was run.
    order : int
        COLK's model order at its printed settings, the budget of the others.
    printed, tuned : dict of str to list
        Results by method, one for each training set.
    chosen : dict of str to dict
        The settings that tuning chose.
    laws : dict of OutlierLaw to dict
        Results of the printed settings by law and method.
    networks : dict of (str, int) to list
        Results of SCGD by protocol and number of features.
    literal : list
        COLK without a bound on the gradient.
    """

    plan: Plan
    order: int
    printed: Group
    tuned: Group
    chosen: dict[str, dict[str, float]]
    laws: dict[OutlierLaw, Group]
    networks: dict[tuple[str, int], list[Result]]
    literal: list[Result]


def stack(results: Sequence[Result], name: str) -> Array:
    """An array of all runs, one row for each."""
    return np.stack([result[name] for result in results])


def final(results: Sequence[Result], name: str) -> Array:
    """The last look of each run."""
    return np.array([result[name][-1] for result in results])


def objective(results: Sequence[Result]) -> Array:
    """Mean loss plus η times the moments 2 to 4 of the test losses, at each look of each run."""
    parts = stack(results, "moments")
    total: Array = parts[..., 0] + RISK.weight * parts[..., 1:].sum(axis=-1)
    return total


def signal_objective(plan: Plan) -> float:
    """Return the objective of the noiseless function on the test set."""
    _, (X, y) = draw_data(LAW, plan.size(N_SAMPLES), plan.seed, run=0)
    mean, *higher = moments(signal(X[:, 0]), y)
    return mean + RISK.weight * sum(higher)


def disagreement(results: Sequence[Result]) -> Array:
    """Root mean square distance of the functions of runs (0, 1), (2, 3), … on the grid."""
    functions, pairs = stack(results, "function"), len(results) // 2
    gaps = functions[0 : 2 * pairs : 2] - functions[1 : 2 * pairs : 2]
    distances: Array = np.sqrt((gaps**2).mean(axis=1))
    return distances


def count_tasks(plan: Plan) -> int:
    """How many tasks `run_all` will ask for."""
    printed = len(COMPARED) * plan.runs * len(LAWS)
    tuning = len(METHODS) * (N_TRIALS + plan.runs)
    sizes = 2 * (len(SIZES) - 1) * plan.runs
    return printed + tuning + sizes + plan.runs


def run_all(plan: Plan, run: Run) -> OutlierRuns:
    """Run everything, COLK first: its model order is the budget of the others."""
    first = _learn(plan, run, {"colk": METHODS["colk"].printed}, LAW, 1, _LOOKS)["colk"]
    order = int(np.round(np.nanmean(final(first, "order"))))
    others = {name: METHODS[name].printed for name in _OTHERS}
    printed = {"colk": first, **_learn(plan, run, others, LAW, order, _LOOKS)}
    everyone = {"colk": METHODS["colk"].printed, **others}
    laws = {LAW: printed}
    for law in _OTHER_LAWS:
        laws[law] = _learn(plan, run, everyone, law, order, looks=8)
    chosen = _tune(plan, run, order)
    tuned = _learn(plan, run, chosen, LAW, order, _LOOKS)
    networks = {
        **_resize(plan, run, "printed", METHODS["scgd"].printed, printed["scgd"]),
        **_resize(plan, run, "tuned", chosen["scgd"], tuned["scgd"]),
    }
    unbounded = {"colk": {**METHODS["colk"].printed, "gradient_bound": float("inf")}}
    return OutlierRuns(
        plan=plan,
        order=order,
        printed=printed,
        tuned=tuned,
        chosen=chosen,
        laws={law: laws[law] for law in LAWS},
        networks=networks,
        literal=_learn(plan, run, unbounded, LAW, order, looks=1)["colk"],
    )


def _learn(
    plan: Plan,
    run: Run,
    settings: Mapping[str, Mapping[str, float]],
    law: OutlierLaw,
    order: int,
    looks: int,
) -> Group:
    tasks = [
        Task(
            learn_stream,
            {
                "method": name,
                "settings": dict(values),
                "order": order,
                "law": law.settings,
                "n_samples": plan.size(N_SAMPLES),
                "seed": plan.seed,
                "run": i,
                "looks": looks,
            },
        )
        for name, values in settings.items()
        for i in range(plan.runs)
    ]
    results = iter(run(tasks))
    return {name: [next(results) for _ in range(plan.runs)] for name in settings}


def _resize(
    plan: Plan, run: Run, protocol: str, settings: Mapping[str, float], known: list[Result]
) -> dict[tuple[str, int], list[Result]]:
    """SCGD with other numbers of features; those with the paper's number are known.

    The step size goes with 1/features, so that a step moves a prediction equally far.
    """
    found = {(protocol, N_FEATURES): known}
    for size in SIZES:
        if size != N_FEATURES:
            step_size = settings["step_size"] * N_FEATURES / size
            resized = {"scgd": {**settings, "features": size, "step_size": step_size}}
            found[protocol, size] = _learn(plan, run, resized, LAW, 1, looks=1)["scgd"]
    return {(protocol, size): found[protocol, size] for size in SIZES}


def _tune(plan: Plan, run: Run, order: int) -> dict[str, dict[str, float]]:
    """The best of the same number of trials for each method, on a split of one training set."""
    tried = {name: trials(method, N_TRIALS, plan.seed) for name, method in METHODS.items()}
    tasks = [
        Task(
            validate,
            {
                "method": name,
                "settings": settings,
                "order": order,
                "law": LAW.settings,
                "n_samples": plan.size(N_SAMPLES),
                "seed": plan.seed,
                "run": 0,
            },
        )
        for name, listed in tried.items()
        for settings in listed
    ]
    return choose(tried, [float(result["score"]) for result in run(tasks)])
