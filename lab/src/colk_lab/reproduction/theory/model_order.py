"""Theorem 1: model order over α/ε and over α, with a smooth and with a rough kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colk.cli.pages.colors import PALETTE
from colk.compressors import KOMP
from colk.kernels import Gaussian, Kernel, Laplacian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Variance
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import Figure, RunPlan, as_columns
from colk_lab.reproduction.laws import generator
from colk_lab.reproduction.panels import letter
from colk_lab.reproduction.theory.tolerance import TOLERANCE, at_most
from colk_lab.reproduction.verdict import Check, Measured, Verdict, VerdictPart
from colk_lab.reproduction.words import exponent, listed
from colk_lab.statistics import slope_interval
from colk_lab.tasks import Result, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["CASES", "RATIOS", "model_order_figure", "model_order_tasks", "model_order_verdict"]

# Kernel and dimension. The order of a Gaussian kernel grows so slowly that the bound is never near.
CASES = (("Gaussian", 1), ("Gaussian", 2), ("Gaussian", 3), ("Laplacian", 1))
_KERNELS: dict[str, Callable[[float], Kernel]] = {"Gaussian": Gaussian, "Laplacian": Laplacian}
RATIOS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
STEP_SIZE = 0.1
BANDWIDTH = 0.3
N_SAMPLES = 10_000
# Step sizes at one ratio α/ε, in one dimension.
FALLING = (0.2, 0.1, 0.05, 0.025, 0.0125)
FIXED = 16.0
_MOST_RUNS = 5
_MARKERS = ("o", "s", "^", "D")
_COLORS = ("blue", "sky", "green", "vermillion")


def measure_order(
    kernel: str, dimension: int, step_size: float, eps: float, n_samples: int, seed: int, run: int
) -> dict[str, NDArray[Any]]:
    """Return the largest model order during a stream of uniform points in the unit cube."""
    rng = generator(seed, "model order", dimension, run)
    X = rng.random((n_samples, dimension))
    y = np.sin(6.0 * X).sum(axis=1) + 0.1 * rng.normal(size=n_samples)
    learner = COLK(
        _KERNELS[kernel](BANDWIDTH),
        Squared(),
        Variance(0.1),
        step_size=step_size,
        compressor=KOMP(eps=eps),
        averaging=None,
        trace=True,
    ).learn(X, y)
    return {"order": np.array(learner.trace.n_atoms.max())}


def _places() -> list[tuple[str, int, float, float]]:
    """Return kernel, dimension, step size and eps: over the ratios, then over the step sizes."""
    over = [(*case, STEP_SIZE, STEP_SIZE / ratio) for case in CASES for ratio in RATIOS]
    fixed = [(kernel, 1, step, step / FIXED) for kernel in _KERNELS for step in FALLING]
    return over + fixed


def _runs(plan: RunPlan) -> int:
    return min(plan.runs, _MOST_RUNS)


def model_order_tasks(plan: RunPlan) -> list[Task]:
    """Return tasks by place and run."""
    tasks = []
    for kernel, dimension, step, eps in _places():
        samples = plan.size(round(N_SAMPLES * max(STEP_SIZE / step, 1.0)))
        tasks += [
            Task(
                measure_order,
                {
                    "kernel": kernel,
                    "dimension": dimension,
                    "step_size": step,
                    "eps": eps,
                    "n_samples": samples,
                    "seed": plan.seed,
                    "run": i,
                },
                name=f"Theorem 1: {kernel}, dimension {dimension}, α/ε = {step / eps:g}",
                seconds=(6e-7 if kernel == "Gaussian" else 3e-6) * samples,
            )
            for i in range(_runs(plan))
        ]
    return tasks


def orders(results: Sequence[Result], plan: RunPlan) -> tuple[Array, Array]:
    """Return the orders by case, ratio and run, and those by kernel, step size and run."""
    found = np.array([float(result["order"]) for result in results])
    count = len(CASES) * len(RATIOS) * _runs(plan)
    return (
        found[:count].reshape(len(CASES), len(RATIOS), -1),
        found[count:].reshape(len(_KERNELS), len(FALLING), -1),
    )


def model_order_figure(results: Sequence[Result], plan: RunPlan) -> Figure:
    """Draw the orders over both axes."""
    return Figure(
        name="theory-model-order",
        title=r"Theorem 1: model order over $\alpha/\varepsilon$ and over $\alpha$",
        caption=(
            f"Largest model order during a run of COLK with kernels of bandwidth {BANDWIDTH:g} and "
            "points uniform on the unit cube. Bars show the range of the runs. (a) Step size "
            rf"{STEP_SIZE:g}. The dashed lines are the growth $(\alpha/\varepsilon)^{{2p}}$ that "
            "the theorem allows, starting at the first point. (b) Falling step sizes with "
            rf"$\alpha/\varepsilon = {FIXED:g}$, in one dimension."
        ),
        columns=_columns(results, plan),
        draw=lambda canvas: _draw(canvas, *orders(results, plan)),
        height=4.0,
    )


def _columns(results: Sequence[Result], plan: RunPlan) -> dict[str, Sequence[Any]]:
    runs = _runs(plan)
    rows = [
        (*place, i, float(results[k * runs + i]["order"]))
        for k, place in enumerate(_places())
        for i in range(runs)
    ]
    names = ("kernel", "dimension", "step_size", "eps", "run", "order")
    return as_columns(names, rows)


def _named(kernel: str, dimension: int) -> str:
    return f"{kernel}, $p = {dimension}$"


def _bars(axes: "Axes", x: Array, found: Array, **style: Any) -> None:
    middle = found.mean(axis=1)
    spread = [middle - found.min(axis=1), found.max(axis=1) - middle]
    axes.errorbar(x, middle, yerr=spread, markersize=5, **style)


def _draw(canvas: "Canvas", over: Array, fixed: Array) -> None:
    left, right = canvas.subplots(1, 2, sharey=True)
    ratios, steps = np.array(RATIOS), np.array(FALLING)
    for case, marker, color, found in zip(CASES, _MARKERS, _COLORS, over, strict=True):
        style = {"color": PALETTE[color], "marker": marker, "label": _named(*case)}
        _bars(left, ratios, found, **style)
        allowed = found[0].mean() * (ratios / ratios[0]) ** (2 * case[1])
        left.plot(ratios, allowed, "--", color=PALETTE[color], linewidth=0.8)
    for kernel, found in zip(_KERNELS, fixed, strict=True):
        place = CASES.index((kernel, 1))
        _bars(right, steps, found, color=PALETTE[_COLORS[place]], marker=_MARKERS[place])
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    left.set_ylim(1.0, 3.0 * over.max())
    left.set_xlabel(r"$\alpha/\varepsilon$")
    right.set_xlabel(r"step size $\alpha$")
    left.set_ylabel("model order $M$ (atoms)")
    letter(left, "a", r"Over $\alpha/\varepsilon$")
    letter(right, "b", rf"Over $\alpha$, at $\alpha/\varepsilon = {FIXED:g}$")
    canvas.legend(loc="outside lower center", ncols=4)


def model_order_verdict(results: Sequence[Result], plan: RunPlan) -> Verdict:
    """Judge whether the exponents stay below those of the bound."""
    over, fixed = orders(results, plan)
    slopes = {
        case: slope_interval(RATIOS, found.T) for case, found in zip(CASES, over, strict=True)
    }
    checks = [
        Check(f"{_named(*case)}, {at_most(2.0 * case[1])}", slope, high=2.0 * case[1] + TOLERANCE)
        for case, slope in slopes.items()
        if case[0] != "Gaussian"
    ]
    still = [slope_interval(1.0 / np.array(FALLING), found.T) for found in fixed]
    values = [
        f"{exponent(slope.value)} ({kernel}, p = {dimension}, allowed {2 * dimension})"
        for (kernel, dimension), slope in slopes.items()
    ]
    return Verdict(
        short="the model order stays within the bound of Theorem 1",
        claim=r"Theorem 1: the model order is bounded by $O((\alpha/\varepsilon)^{2p})$.",
        quote=r"… $M_t$ satisfies $1 \leq M_t \leq O(\alpha/\varepsilon)^{2p}$.",
        where="Section IV, Theorem 1",
        found=[
            rf"The order grows in $\alpha/\varepsilon$ with exponents {listed(values)}. With a "
            "Gaussian kernel the order stays so small that a test cannot fail, so these exponents "
            "are not judged.",
            r"The ratio does not determine the order: at a fixed $\alpha/\varepsilon$ it changes "
            f"with exponents {listed([exponent(found.value) for found in still])} in "
            r"$1/\alpha$ (Gaussian and Laplacian). This does not contradict a bound, but its proof "
            "has an error; see the next claim.",
        ],
        rule="The exponent with the Laplacian kernel decides. Its interval must lie below "
        f"$2p + {TOLERANCE:g}$.",
        parts=[
            VerdictPart(r"exponent of the order in $\alpha/\varepsilon$", [check])
            for check in checks
        ],
        plan=plan,
        unit="exponent",
        numbers=[
            *(
                Measured(f"exponent, {_named(*case)}", slope.value)
                for case, slope in slopes.items()
            ),
            *(
                Measured(rf"exponent in $1/\alpha$ at a fixed ratio, {kernel}", found.value)
                for kernel, found in zip(_KERNELS, still, strict=True)
            ),
        ],
    )
