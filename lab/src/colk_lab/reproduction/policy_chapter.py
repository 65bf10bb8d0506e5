"""The chapter on policy evaluation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.rl import agreement
from colk_lab.reproduction import policy
from colk_lab.reproduction.chapter import Chapter, Figure, RunPlan, Table
from colk_lab.reproduction.verdict import Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import percent
from colk_lab.statistics import Interval, mean_interval
from colk_lab.tasks import Result, Run, Task

__all__ = ["expected_tasks", "policy_evaluation"]

_DIMENSIONS = (1, 2)
# Largest error of a solution, in per cent of the root mean square of the values.
_NEAR = 10.0
# Approximate processor seconds of a full run, by dimension or environment.
_SECONDS = {1: 4.0, 2: 36.0, "Pendulum": 33.0, "Mountain car": 15.0}
_CAPTIONS = {
    "value_surface": "Learned values over two-dimensional states, with the atoms. (a) The first "
    "run; the dashed lines are the closed form. (b) Grey dots are visited states.",
    "monte_carlo": "Learned values at held-out states, compared with Monte Carlo values.",
    "model_order": "Number of atoms of the function tracker over the transitions of the first run. "
    "The table also gives the range over the runs.",
}
_TITLES = {
    "value_surface": "Value functions",
    "monte_carlo": "Values against Monte Carlo",
    "model_order": "Model order of policy evaluation",
}


def evaluate_linear(dimension: int, seed: int, scale: float) -> dict[str, NDArray[Any]]:
    """Run every method on the linear-quadratic process, whose values are known."""
    return _flatten(policy._linear_quadratic(dimension, seed, scale))


def evaluate_environment(name: str, seed: int, scale: float) -> dict[str, NDArray[Any]]:
    """Compare the online learner and batch LSTD with Monte Carlo on an environment."""
    found = policy._environment(name, seed, scale)
    return _flatten({key: part for key, part in found.items() if "agreement" not in key})


def _flatten(tree: dict[str, Any], prefix: str = "") -> Result:
    """Return the arrays of a nested dict, keyed by their path."""
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


def expected_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks that `policy_evaluation` will run."""
    common = {"seed": plan.seed, "scale": plan.scale}
    linear = [
        Task(
            evaluate_linear,
            {"dimension": n, **common},
            name=f"Policy evaluation: linear-quadratic, {n}-D",
            seconds=_SECONDS[n] * plan.scale,
        )
        for n in _DIMENSIONS
    ]
    return linear + [
        Task(
            evaluate_environment,
            {"name": name, **common},
            name=f"Policy evaluation: {name}",
            seconds=_SECONDS[name] * plan.scale,
        )
        for name in policy.ENVIRONMENTS
    ]


def policy_evaluation(plan: RunPlan, run: Run) -> Chapter:
    """Run the experiment and return its chapter.

    Parameters
    ----------
    plan : RunPlan
        Size of the run.
    run : callable
        Runs tasks, such as a `Runner`.
    """
    found = [_unflatten(result) for result in run(expected_tasks(plan))]
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
            "The value function of a fixed policy is learned from its transitions. For the "
            "linear-quadratic processes, the values are known in closed form. For the "
            "environments, learned values are compared with Monte Carlo values at held-out states."
        ),
        figures=[_figure(name, results) for name in policy.DRAWINGS],
        verdicts=[_verdict(results, plan)],
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
                "Relative RMS is the root mean square error divided by the root mean square of the "
                "values. NRMSE is the same error divided by their standard deviation. Atoms are "
                "those of the first run, which the figures show; the brackets give the range over "
                "the runs. Each environment is learned once.",
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


def _error(part: dict[str, Any], name: str) -> Interval:
    """Return the error of a method in per cent of the root mean square of the values."""
    return mean_interval([100.0 * float(e) for e in part["methods"][name]["relative_rms"]])


def _verdict(results: dict[str, Any], plan: RunPlan) -> Verdict:
    solved, needed, sentences = [], [], []
    for n, part in results["linear_quadratic"].items():
        own, one = _error(part, "function tracker"), _error(part, "scalar tracker")
        solved.append(Check(f"{n}-D, a function", own, high=_NEAR))
        needed.append(Check(f"{n}-D, one number", one, low=_NEAR, color="brown"))
        sentences.append(
            f"In {n}-D, if the conditional expectation is tracked as a function of the state, the "
            f"error is {percent(own.value)}. If it is tracked as one number, the error is "
            f"{percent(one.value)}."
        )
    return Verdict(
        short="policy evaluation is an instance of the problem and needs the conditional "
        "expectation",
        claim="Policy evaluation is an instance of the problem, and needs the conditional "
        "expectation.",
        quote="Another instantiation … is the task of policy evaluation … the inner random "
        "variable … depends on the outer random variables …, necessitating the use of the "
        "conditional expectation operator. However, this generalization can be readily handled "
        "as detailed in [Wang, Fang and Liu, 2017].",
        where="Section II, Example 2",
        found=sentences,
        rule="The error is the root mean square error to the closed form, in per cent of the root "
        "mean square of the values. The claim holds if the error of the function tracker is below "
        f"{percent(_NEAR)} and that of one number is above.",
        parts=[
            *(VerdictPart("error with the expectation tracked as", [check]) for check in solved),
            *(VerdictPart("error with the expectation tracked as", [check]) for check in needed),
        ],
        plan=plan,
        numbers=[
            Measured(f"NRMSE against Monte Carlo, {name}", float(part["agreement"].nrmse))
            for name, part in results["environments"].items()
        ],
    )
