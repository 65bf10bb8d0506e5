"""Lemma 1: tracking error of momentum and moving average over β."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk.cli.pages.colors import PALETTE
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.panels import band, letter
from colk_lab.reproduction.theory.population import observe
from colk_lab.reproduction.verdict import Check, Verdict, VerdictPart
from colk_lab.reproduction.words import count
from colk_lab.statistics import mean_interval, percent_change
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["RATES", "tracking_figure", "tracking_tasks", "tracking_verdict"]

RATES = tuple(float(f"{rate:.3g}") for rate in np.geomspace(0.005, 0.5, 7))
STEP_SIZE = 0.05
# Number of steps and of evaluations in each phase. In the transient phase, f rises from 0 towards
# targets with an offset; in the stationary phase, it stays near the optimum.
PHASES = {"transient": (60, 30), "stationary": (2000, 60)}
OFFSET = 3.0
# COLK uses momentum and SCGD the moving average, so the trackers have the colours of these methods.
TRACKERS = {"momentum": "blue", "average": "purple"}
_LABELS = {"momentum": "momentum (COLK)", "average": "moving average (SCGD)"}


def tracking_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by phase, tracker, rate and run."""
    return [
        Task(
            observe,
            {
                "problem": "semivariance",
                "step_size": STEP_SIZE,
                "tracking_rate": rate,
                "eps": STEP_SIZE**2,
                "n_steps": steps if phase == "transient" else plan.size(steps),
                "evaluations": evaluations,
                "offset": OFFSET if phase == "transient" else 0.0,
                "seed": plan.seed,
                "run": i,
                "tracker": tracker,
            },
            name=f"Lemma 1: {phase} phase",
            seconds=1.6e-3 * evaluations,
        )
        for phase, (steps, evaluations) in PHASES.items()
        for tracker in TRACKERS
        for rate in RATES
        for i in range(plan.runs)
    ]


def _grid(results: Sequence[Result], name: str) -> Array:
    """Return means over the evaluations, by phase, tracker, rate and run.

    In the stationary phase, only the second half of the evaluations counts.
    """
    runs = len(results) // (len(PHASES) * len(TRACKERS) * len(RATES))
    half = len(results) // 2
    means = [float(result[name].mean()) for result in results[:half]]
    means += [float(result[name][len(result[name]) // 2 :].mean()) for result in results[half:]]
    return np.reshape(means, (len(PHASES), len(TRACKERS), len(RATES), runs))


def bounds(results: Sequence[Result]) -> Array:
    """Return bounds on the error in the stationary phase, by tracker, rate and run.

    In the limit, Lemma 1 bounds the error of momentum by 2(L²D + β²σ²)/(1 − (1 − β)²), where D is
    the mean of ‖f_t − f_{t−1}‖². For the moving average, Wang, Fang and Liu (2017) prove the
    recursion (1 − β)(…) + L²D/β + 2β²σ², whose limit is (L²D/β + 2β²σ²)/β. L²D and σ² are
    measured.
    """
    beta = np.array(RATES)[:, None]
    slope, moved, spread = (_grid(results, name)[1] for name in ("slope", "moved", "spread"))
    moves = slope * moved
    momentum = 2.0 * (moves[0] + beta**2 * spread[0]) / (1.0 - (1.0 - beta) ** 2)
    average = (moves[1] / beta + 2.0 * beta**2 * spread[1]) / beta
    return np.stack([momentum, average])


def tracking_figure(results: Sequence[Result]) -> Figure:
    """Draw the tracking errors and the bounds."""
    errors, allowed = _grid(results, "tracking"), bounds(results)
    return Figure(
        name="theory-tracking",
        title=r"Lemma 1: error of the tracked mean loss over $\beta$",
        caption=(
            f"Squared distance of $g$ to the exact mean loss, with step size {STEP_SIZE:g}. Lines "
            "are medians, bands the middle 80 % of the runs. (a) The first 60 steps from $f = 0$ "
            f"to targets with an offset of {OFFSET:g}. (b) $f$ stays near the optimum. The dashed "
            "lines are the bounds with measured constants: the lemma's for momentum, the bound of "
            "Wang, Fang and Liu (2017) for the moving average."
        ),
        columns=_columns(errors, allowed.mean(axis=2)),
        draw=lambda canvas: _draw(canvas, errors, allowed.mean(axis=2)),
        height=3.8,
    )


def _columns(errors: Array, allowed: Array) -> Mapping[str, Sequence[Any]]:
    rows = [
        (phase, tracker, RATES[k], i, errors[p, t, k, i], allowed[t, k])
        for p, phase in enumerate(PHASES)
        for t, tracker in enumerate(TRACKERS)
        for k in range(len(RATES))
        for i in range(errors.shape[-1])
    ]
    names = ("phase", "tracker", "tracking_rate", "run", "squared_error", "stationary_bound")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", errors: Array, allowed: Array) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    beta = np.array(RATES)
    for axes, mark, phase, found in zip(panels, "ab", PHASES, errors, strict=True):
        for (tracker, color), by_rate in zip(TRACKERS.items(), found, strict=True):
            label = _LABELS[tracker]
            band(axes, beta, by_rate.T, PALETTE[color], label, marker="o", markersize=3)
        letter(axes, mark, f"{phase.capitalize()} phase")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(r"tracking rate $\beta$")
    for (tracker, color), bound in zip(TRACKERS.items(), allowed, strict=True):
        label = f"bound, {_LABELS[tracker]}"
        panels[1].plot(beta, bound, "--", color=PALETTE[color], linewidth=0.9, label=label)
    panels[0].set_ylabel("squared error of $g$")
    handles, labels = panels[1].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2)


def _below(errors: Array, allowed: Array) -> list[Check]:
    """Compare the mean error with the bound, in per cent, at each rate."""
    return [
        Check(
            _at(k),
            mean_interval(100.0 * (errors[1, 0, k] / allowed[0, k].mean() - 1.0)),
            high=0.0,
            column="stationary",
        )
        for k in range(len(RATES))
    ]


def _beside(first: Array, second: Array, column: str) -> list[Check]:
    """Compare momentum with the moving average, in per cent, at each rate."""
    return [
        Check(_at(k), percent_change(first[k], second[k]), high=0.0, column=column)
        for k in range(len(RATES))
    ]


def _at(k: int) -> str:
    return rf"$\beta = {RATES[k]:g}$"


def _won(checks: Sequence[Check]) -> str:
    return count(sum(check.interval.below_zero for check in checks), len(checks))


def tracking_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge the bounds and the errors of both trackers at every rate."""
    errors, allowed = _grid(results, "tracking"), bounds(results)
    kept = _below(errors, allowed)
    tighter = _beside(allowed[0], allowed[1], "stationary")
    moving = _beside(errors[0, 0], errors[0, 1], "transient")
    hovering = _beside(errors[1, 0], errors[1, 1], "stationary")
    return Verdict(
        short="momentum tracks better than the moving average, as Lemma 1 says",
        claim="Lemma 1: momentum has a tighter bound on the tracking error than the moving "
        "average, and tracks better.",
        quote="… the gradient tracking scheme enables us to obtain tighter bounds on the "
        "estimation error … [and in Section VI] Different from classic stochastic "
        "quasi-gradient, we introduce a momentum scheme to tighten the estimation error of the "
        "faster time-scale.",
        where="Section IV, Lemma 1; Section VI",
        found=[
            "The paper compares bounds. The measured error is below the lemma's bound at "
            f"{_won(kept)} rates. The lemma's bound is below that of the moving average at "
            f"{_won(tighter)} rates.",
            f"The measured error of momentum is lower than that of the moving average at "
            f"{_won(moving)} rates while $f$ moves in one direction, and at {_won(hovering)} rates "
            "while $f$ stays near the optimum.",
        ],
        rule=r"There are four parts, each at every $\beta$ of the figure: the error is below the "
        "moving average's in each of the two phases, the mean error is below its bound, and the "
        "bound is below the moving average's.",
        parts=[
            VerdictPart("momentum's error compared with the moving average's", moving),
            VerdictPart("momentum's error compared with the moving average's", hovering),
            VerdictPart("momentum's error compared with its bound", kept),
            VerdictPart("momentum's bound compared with the moving average's", tighter),
        ],
        plan=plan,
    )
