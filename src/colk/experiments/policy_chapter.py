"""Policy evaluation as a chapter of the report."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.experiments import policy
from colk.experiments.chapter import Chapter, Figure, Measured, Plan, Table, Verdict, judge
from colk.experiments.statistics import mean_interval
from colk.experiments.tasks import Result, Run, Task
from colk.rl import agreement

__all__ = ["count_tasks", "policy_evaluation"]

_DIMENSIONS = (1, 2)
_CAPTIONS = {
    "value_surface": "Learned values over two-dimensional states, with the atoms.",
    "monte_carlo": "Learned values at states that were not learned from, against Monte Carlo.",
    "model_order": "Atoms over the transitions.",
}
_TITLES = {
    "value_surface": "Value functions",
    "monte_carlo": "Values against Monte Carlo",
    "model_order": "Model order of policy evaluation",
}


def evaluate_linear(dimension: int, seed: int, scale: float) -> dict[str, NDArray[Any]]:
    """Every method on the linear-quadratic process, whose values are known."""
    return _flatten(policy._linear_quadratic(dimension, seed, scale))


def evaluate_environment(name: str, seed: int, scale: float) -> dict[str, NDArray[Any]]:
    """The online learner and batch LSTD on an environment, against Monte Carlo."""
    found = policy._environment(name, seed, scale)
    return _flatten({key: part for key, part in found.items() if "agreement" not in key})


def _flatten(tree: dict[str, Any], prefix: str = "") -> Result:
    """Arrays by the path of their names."""
    flat: Result = {}
    for name, part in tree.items():
        if isinstance(part, dict):
            flat |= _flatten(part, f"{prefix}{name}|")
        else:
            flat[prefix + name] = np.asarray(part)
    return flat


def _unflatten(flat: Result) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, part in flat.items():
        *parents, name = path.split("|")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[name] = part
    return tree


def count_tasks(plan: Plan) -> int:
    """How many tasks `policy_evaluation` will ask for."""
    return len(_DIMENSIONS) + len(policy.ENVIRONMENTS)


def policy_evaluation(plan: Plan, run: Run) -> Chapter:
    """Run the experiment and tell its story.

    Parameters
    ----------
    plan : Plan
        How much to run.
    run : callable
        Runs tasks: a `Runner`.
    """
    common = {"seed": plan.seed, "scale": plan.scale}
    tasks = [Task(evaluate_linear, {"dimension": n, **common}) for n in _DIMENSIONS]
    tasks += [Task(evaluate_environment, {"name": n, **common}) for n in policy.ENVIRONMENTS]
    found = [_unflatten(result) for result in run(tasks)]
    for part in found[len(_DIMENSIONS) :]:
        part["agreement"] = agreement(part["values"], part["monte_carlo"])
        part["lstd_agreement"] = agreement(part["lstd_values"], part["monte_carlo"])
    results = {
        "linear_quadratic": dict(zip(_DIMENSIONS, found, strict=False)),
        "environments": dict(zip(policy.ENVIRONMENTS, found[len(_DIMENSIONS) :], strict=True)),
    }
    head, rows = policy.table(results)
    return Chapter(
        name="policy",
        title="Policy evaluation",
        text=(
            "Values of a fixed policy from its transitions. On the linear-quadratic processes the "
            "values are known in closed form; on the environments they are compared with Monte "
            "Carlo at held-out states."
        ),
        figures=[_figure(name, results) for name in policy.DRAWINGS],
        verdicts=[_verdict(results)],
        settings={
            "transitions": f"{round(plan.scale * policy.N_TRANSITIONS)}",
            "discount, bandwidth": f"{policy.DISCOUNT:g}, {policy.BANDWIDTH:g} on the "
            "linear-quadratic processes",
            **{name: str(setting) for name, setting in policy.ENVIRONMENTS.items()},
        },
        tables=[
            Table(
                "policy-table",
                "Errors of policy evaluation",
                "RMS: root mean square error over that of the values; NRMSE: over their standard "
                "deviation.",
                head,
                rows,
            )
        ],
    )


def _figure(name: str, results: dict[str, Any]) -> Figure:
    return Figure(
        name="policy-" + name.replace("_", "-"),
        title=_TITLES[name],
        caption=_CAPTIONS[name],
        columns=_columns(name, results),
        draw=lambda canvas: policy.DRAWINGS[name](canvas, results),
        width=9.0,
        height=3.6,
    )


def _columns(name: str, results: dict[str, Any]) -> dict[str, Any]:
    linear = {f"linear-quadratic {n}-D": part for n, part in results["linear_quadratic"].items()}
    names: tuple[str, ...] = ("steps", "orders")
    if name == "model_order":
        chosen = {**linear, **results["environments"]}
    elif name == "monte_carlo":
        names = ("monte_carlo", "half_width", "values", "lstd_values")
        chosen = results["environments"]
    else:
        names = ("grid_x", "grid_y", "grid_value")
        chosen = {
            "linear-quadratic 2-D": results["linear_quadratic"][2],
            "Mountain car": results["environments"]["Mountain car"],
        }
    columns: dict[str, Any] = {
        "process": [key for key, part in chosen.items() for _ in range(part[names[0]].size)]
    }
    for column in names:
        columns[column] = np.concatenate([part[column].ravel() for part in chosen.values()])
    return columns


def _verdict(results: dict[str, Any]) -> Verdict:
    numbers, checks = [], []
    for n, part in results["linear_quadratic"].items():
        for name in ("scalar tracker", "function tracker"):
            error = mean_interval(part["methods"][name]["relative_rms"])
            what = f"{n}-D, relative error, {name}"
            numbers.append(Measured(what, error.value, error.low, error.high))
            if name == "scalar tracker":
                checks.append(error.value < 0.1)
    return Verdict(
        claim="The compositional form solves policy evaluation: one number tracks the average "
        "temporal difference.",
        where="Section II, example of policy evaluation",
        outcome=judge(*checks),
        numbers=numbers,
        reading="Holds if the scalar tracker ends within 10 % of the closed form. The objective "
        "needs E[δ | x], a function of the state: with a tracker that is itself a function, the "
        "method converges.",
    )
