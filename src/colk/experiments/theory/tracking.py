"""Lemma 1: the tracking error of both trackers over β."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._validation import Array
from colk.experiments.chapter import Figure, Measured, Plan, Verdict, as_columns, judge
from colk.experiments.statistics import slope_interval
from colk.experiments.style import PALETTE, band, letter
from colk.experiments.tasks import Result, Task
from colk.experiments.theory.population import observe

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["RATES", "tracking_figure", "tracking_tasks", "tracking_verdict"]

RATES = tuple(float(f"{rate:.3g}") for rate in np.geomspace(0.005, 0.5, 7))
STEP_SIZE = 0.05
# Steps and looks while f rises from 0 towards targets raised by an offset, and where it hovers
# about the optimum.
PHASES = {"transient": (60, 30), "stationary": (2000, 60)}
OFFSET = 3.0
TRACKERS = {"momentum": "blue", "average": "vermillion"}


def tracking_tasks(plan: Plan) -> list[Task]:
    """By phase, tracker, rate and run."""
    return [
        Task(
            observe,
            {
                "risk": "semivariance",
                "step_size": STEP_SIZE,
                "tracking_rate": rate,
                "eps": STEP_SIZE**2,
                "n_steps": steps if phase == "transient" else plan.size(steps),
                "looks": looks,
                "offset": OFFSET if phase == "transient" else 0.0,
                "seed": plan.seed,
                "run": i,
                "tracker": tracker,
            },
        )
        for phase, (steps, looks) in PHASES.items()
        for tracker in TRACKERS
        for rate in RATES
        for i in range(plan.runs)
    ]


def _grid(results: Sequence[Result], name: str) -> Array:
    """Mean over the looks (stationary: the second half), as (phase, tracker, rate, run)."""
    runs = len(results) // (len(PHASES) * len(TRACKERS) * len(RATES))
    half = len(results) // 2
    means = [float(result[name].mean()) for result in results[:half]]
    means += [float(result[name][len(result[name]) // 2 :].mean()) for result in results[half:]]
    return np.reshape(means, (len(PHASES), len(TRACKERS), len(RATES), runs))


def _bound(results: Sequence[Result]) -> Array:
    """Lemma 1 summed up for the momentum tracker in the stationary phase, by rate."""
    beta = np.array(RATES)
    parts = {name: _grid(results, name)[1, 0].mean(axis=1) for name in ("slope", "moved", "spread")}
    total: Array = 2.0 * (parts["slope"] * parts["moved"] + beta**2 * parts["spread"])
    return total / (1.0 - (1.0 - beta) ** 2)


def tracking_figure(results: Sequence[Result]) -> Figure:
    """Draw the tracking errors."""
    errors = _grid(results, "tracking")
    return Figure(
        name="theory-tracking",
        title="Lemma 1: error of the tracked mean loss over β",
        caption=(
            f"Squared distance of g to the exact mean loss, step size {STEP_SIZE:g}. Lines are "
            "medians, bands the middle 80 % of the runs. (a) The first 60 steps from f = 0 to "
            f"targets raised by {OFFSET:g}: the moving average lags behind. (b) Where f "
            "hovers: momentum accumulates the noise of its corrections as β falls. Dashed: the "
            "lemma's bound with the measured constants."
        ),
        columns=_columns(errors, _bound(results)),
        draw=lambda canvas: _draw(canvas, errors, _bound(results)),
        width=7.2,
        height=3.2,
    )


def _columns(errors: Array, bound: Array) -> Mapping[str, Sequence[Any]]:
    rows = [
        (phase, tracker, RATES[k], i, errors[p, t, k, i], bound[k])
        for p, phase in enumerate(PHASES)
        for t, tracker in enumerate(TRACKERS)
        for k in range(len(RATES))
        for i in range(errors.shape[-1])
    ]
    names = ("phase", "tracker", "tracking_rate", "run", "squared_error", "stationary_bound")
    return as_columns(names, rows)


def _draw(canvas: "Canvas", errors: Array, bound: Array) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    beta = np.array(RATES)
    for axes, mark, phase, found in zip(panels, "ab", PHASES, errors, strict=True):
        for (tracker, color), by_rate in zip(TRACKERS.items(), found, strict=True):
            label = "momentum (the paper's)" if tracker == "momentum" else "moving average"
            band(axes, beta, by_rate.T, PALETTE[color], label, marker="o", markersize=3)
        letter(axes, mark, f"{phase.capitalize()} phase")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("tracking rate β")
    panels[1].plot(beta, bound, "k--", linewidth=0.9, label="bound of Lemma 1, momentum")
    panels[0].set_ylabel("squared error of g (units of ℓ²)")
    handles, labels = panels[1].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3)


def tracking_verdict(results: Sequence[Result]) -> Verdict:
    """Judge the bound, and how the trackers compare."""
    errors, bound = _grid(results, "tracking"), _bound(results)
    momentum = errors[1, 0]
    share = float((momentum.mean(axis=1) / bound).max())
    # Where β is large the noise term βσ² rules: slope 1.
    slope = slope_interval(RATES[-3:], momentum[-3:].T)
    early = errors[0].mean(axis=(1, 2))
    late = errors[1].mean(axis=2)[:, 0]
    return Verdict(
        claim="Lemma 1: momentum tracking has E(g − E inner)² ≤ (1 − β)²(…) + 2L²‖f_t − f_{t−1}‖² "
        "+ 2β²σ², tighter than the moving average's.",
        where="Lemma 1",
        outcome=judge(share <= 1.0, bool(early[0] < early[1]), bool(late[0] < late[1])),
        numbers=[
            Measured("largest error over bound", share),
            Measured("exponent of β where noise rules", slope.value, slope.low, slope.high),
            Measured("transient error, momentum over average", float(early[0] / early[1])),
            Measured(
                f"stationary error at β = {RATES[0]:g}, momentum over average",
                float(late[0] / late[1]),
            ),
        ],
        reading="Holds if the error stays below the bound and momentum tracks better in both "
        "phases. The bound holds; momentum helps while f moves in one direction and costs where "
        "f only hovers.",
    )
