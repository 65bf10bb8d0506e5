"""Policy evaluation: learned values compared with a closed form and with Monte Carlo.

`run` computes plain numbers, `table` puts them in rows and `figures` draws them. Each drawing of
`DRAWINGS` takes an empty matplotlib figure and the numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from colk.cli.pages.colors import FAINT, PALETTE, RC
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.rl import (
    TDC,
    KernelTD,
    LinearQuadratic,
    PolicyEvaluator,
    ResidualGradient,
    Transitions,
    ValueLearner,
    agreement,
    held_out_values,
    kernel_lstd,
    rollout,
    simulate,
)
from colk.rl.environments import Policy
from colk_lab.arrays import Array
from colk_lab.checks import check_count, check_fraction
from colk_lab.reproduction.chapter import WIDTH
from colk_lab.reproduction.panels import letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DRAWINGS", "ENVIRONMENTS", "Setting", "figures", "run", "table"]

DISCOUNT = 0.9
BANDWIDTH = 0.5
N_TRANSITIONS = 400_000
N_SEEDS = 5
N_MARKS = 40
GRID = 61
# Colours on a coloured surface, which do not follow the page's light or dark mode.
_WHITE, _BLACK = "#fefefe", "#010101"

Results = dict[str, Any]
METHODS: dict[str, Callable[[], ValueLearner]] = {
    "function tracker": lambda: PolicyEvaluator(Gaussian(BANDWIDTH), DISCOUNT),
    "scalar tracker": lambda: PolicyEvaluator(Gaussian(BANDWIDTH), DISCOUNT, tracks="scalar"),
    "TDC": lambda: TDC(Gaussian(BANDWIDTH), DISCOUNT),
    "TD(0)": lambda: KernelTD(Gaussian(BANDWIDTH), DISCOUNT),
    "residual gradient": lambda: ResidualGradient(Gaussian(BANDWIDTH), DISCOUNT),
}


def swing_up(seed: int) -> Policy:
    """Return a policy for the pendulum that swings it up and then holds it upright.

    The torque is ω(5 − E) with the energy E = ω²/6 + 5 cos θ, or −12θ − 2.5ω if cos θ > 0.9 and
    |ω| < 3, plus normal noise of standard deviation 0.5, clipped to [−2, 2].
    """
    rng = np.random.default_rng(seed)

    def act(observation: Array) -> NDArray[np.float32]:
        cosine, sine, speed = (float(part) for part in observation)
        if cosine > 0.9 and abs(speed) < 3.0:
            torque = -12.0 * np.arctan2(sine, cosine) - 2.5 * speed
        else:
            torque = speed * (5.0 - speed**2 / 6.0 - 5.0 * cosine)
        return np.array([np.clip(torque + 0.5 * rng.normal(), -2.0, 2.0)], dtype=np.float32)

    return act


def push_along(seed: int) -> Policy:
    """Return a policy for the car that pushes in the direction of motion.

    The force is 100v clipped to [−1, 1], plus normal noise of standard deviation 0.3.
    """
    rng = np.random.default_rng(seed)

    def act(observation: Array) -> NDArray[np.float32]:
        push = np.clip(100.0 * float(observation[1]), -1.0, 1.0)
        return np.array([np.clip(push + 0.3 * rng.normal(), -1.0, 1.0)], dtype=np.float32)

    return act


@dataclass(frozen=True)
class Setting:
    """Settings of an environment; the bandwidth is in standard deviations of each feature."""

    environment: str
    policy: Callable[[int], Policy]
    discount: float
    bandwidth: float
    step_size: float
    eps: float

    def __str__(self) -> str:
        return (
            f"{self.environment}, policy {self.policy.__name__}, discount {self.discount:g}, "
            f"bandwidth {self.bandwidth:g}, step size {self.step_size:g}, eps {self.eps:g}"
        )


ENVIRONMENTS = {
    "Pendulum": Setting("Pendulum-v1", swing_up, 0.95, 1.0, 1.0, 0.1),
    "Mountain car": Setting("MountainCarContinuous-v0", push_along, 0.95, 0.5, 2.0, 0.05),
}


def run(seed: int = 0, scale: float = 1.0) -> Results:
    """Compute all numbers of the experiment.

    Parameters
    ----------
    seed : int, default=0
        Seed of all random numbers.
    scale : float, default=1.0
        Share of the full number of transitions, in (0, 1].

    Returns
    -------
    dict
        "linear_quadratic" has an entry for each dimension, 1 and 2; "environments" has an entry
        for each name.
    """
    check_count(seed, "seed", at_least=0)
    check_fraction(scale, "scale")
    return {
        "linear_quadratic": {n: _linear_quadratic(n, seed, scale) for n in (1, 2)},
        "environments": {name: _environment(name, seed, scale) for name in ENVIRONMENTS},
    }


def _learn_in_parts(learner: ValueLearner, transitions: Transitions) -> tuple[Array, Array]:
    """Learn in parts; return the number of transitions and the model order after each part."""
    size = transitions.n_transitions
    marks = np.unique(np.linspace(0, size, N_MARKS + 1).astype(int))
    orders = [0]
    for start, stop in pairwise(marks):
        learner.learn(*transitions.part(slice(start, stop)))
        orders.append(learner.n_atoms)
    return marks.astype(float), np.array(orders, dtype=float)


def _linear_quadratic(n_features: int, seed: int, scale: float) -> Results:
    """Return the errors of every method over the seeds, and the function of the first seed."""
    mdp = LinearQuadratic.spiral(n_features)
    n_seeds = max(2, round(N_SEEDS * scale)) if scale < 1.0 else N_SEEDS
    states = simulate(mdp, 5000, seed=10_000 + seed).states
    truth = mdp.value(states, DISCOUNT)
    found: Results = {name: {"relative_rms": [], "nrmse": [], "n_atoms": []} for name in METHODS}
    drawn: Results = {}
    for run_seed in range(seed, seed + n_seeds):
        transitions = simulate(mdp, max(500, round(scale * N_TRANSITIONS)), seed=run_seed)
        for name, make in METHODS.items():
            learner = make()
            steps, orders = _learn_in_parts(learner, transitions)
            error = np.sqrt(np.mean((learner.value(states) - truth) ** 2))
            found[name]["relative_rms"].append(float(error / np.sqrt(np.mean(truth**2))))
            found[name]["nrmse"].append(float(error / truth.std()))
            found[name]["n_atoms"].append(learner.n_atoms)
            if name == "function tracker" and run_seed == seed:
                drawn = {"steps": steps, "orders": orders, "states": states, "truth": truth}
                drawn |= {"values": learner.value(states), "atoms": learner.function.atoms}
                known = partial(mdp.value, discount=DISCOUNT)
                drawn |= _surface(states, grid_value=learner.value, grid_truth=known)
    return {"methods": found, **drawn}


def _surface(states: Array, **functions: Callable[[Array], Array]) -> Results:
    """Evaluate functions on a grid over the visited states, if these have two features."""
    if states.shape[1] != 2:
        return {}
    low, high = np.quantile(states, [0.001, 0.999], axis=0)
    x, y = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
    points = np.column_stack([x.ravel(), y.ravel()])
    values = {name: function(points).reshape(GRID, GRID) for name, function in functions.items()}
    return {"grid_x": x, "grid_y": y, **values}


def _environment(name: str, seed: int, scale: float) -> Results:
    """Compare the online learner and batch LSTD, on the same transitions, with Monte Carlo."""
    setting = ENVIRONMENTS[name]
    size, n_states = max(2000, round(scale * N_TRANSITIONS)), max(30, round(scale * 200))
    transitions = rollout(setting.environment, setting.policy(seed), size, seed)
    kernel = Gaussian(tuple(setting.bandwidth * transitions.states.std(axis=0)))
    learner = PolicyEvaluator(
        kernel,
        setting.discount,
        step_size=setting.step_size,
        compressor=KOMP(eps=setting.eps),
    )
    steps, orders = _learn_in_parts(learner, transitions)
    anchor = kernel_lstd(kernel, setting.discount, *transitions)
    truth = held_out_values(
        setting.environment, setting.policy(seed + 1), setting.discount, n_states, seed=seed + 1
    )
    values, anchors = learner.value(truth.states), anchor(truth.states)
    return {
        "steps": steps,
        "orders": orders,
        "states": transitions.states[:: max(1, size // 4000)],
        "atoms": learner.function.atoms,
        "held_out": truth.states,
        "values": values,
        "lstd_values": anchors,
        "monte_carlo": truth.mean,
        "half_width": truth.half_width,
        "agreement": agreement(values, truth.mean),
        "lstd_agreement": agreement(anchors, truth.mean),
        "lstd_atoms": anchor.n_atoms,
        **_surface(transitions.states, grid_value=learner.value),
    }


def table(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of all numbers."""
    rows = []
    for n_features, part in results["linear_quadratic"].items():
        for name, found in part["methods"].items():
            errors, atoms = found["relative_rms"], found["n_atoms"]
            rows.append(
                [
                    f"linear-quadratic, {n_features}-D",
                    name,
                    f"{atoms[0]:.0f} ({min(atoms):.0f} to {max(atoms):.0f})",
                    f"{100 * np.mean(errors):.1f} % (worst {100 * max(errors):.1f} %)",
                    f"{np.mean(found['nrmse']):.3f}",
                    "",
                ]
            )
    for name, part in results["environments"].items():
        for method, key, atoms in (
            ("function tracker", "agreement", part["atoms"].shape[0]),
            ("batch LSTD", "lstd_agreement", part["lstd_atoms"]),
        ):
            found = part[key]
            low, high = found.nrmse_interval
            rows.append(
                [
                    name,
                    method,
                    str(atoms),
                    "",
                    f"{found.nrmse:.3f} [{low:.3f}, {high:.3f}]",
                    f"{found.correlation:.3f}",
                ]
            )
    return ["process", "method", "atoms", "relative RMS", "NRMSE", "correlation"], rows


def draw_surfaces(canvas: "Figure", results: Results) -> None:
    """Draw V over two-dimensional states, with the atoms."""
    linear, car = results["linear_quadratic"][2], results["environments"]["Mountain car"]
    left, right = canvas.subplots(1, 2)
    for axes, part in ((left, linear), (right, car)):
        shown = axes.contourf(
            part["grid_x"], part["grid_y"], part["grid_value"], levels=20, cmap="cividis"
        )
        shown.set_rasterized(True)
        canvas.colorbar(shown, ax=axes, label="$V$")
        atoms = part["atoms"]
        axes.plot(atoms[:, 0], atoms[:, 1], "o", color=_WHITE, mec=_BLACK, ms=3.5, mew=0.6)
        axes.set_xlim(part["grid_x"].min(), part["grid_x"].max())
        axes.set_ylim(part["grid_y"].min(), part["grid_y"].max())
        axes.grid(visible=False)
    left.contour(
        linear["grid_x"],
        linear["grid_y"],
        linear["grid_truth"],
        levels=6,
        colors=_WHITE,
        linewidths=0.9,
        linestyles="dashed",
    )
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    letter(left, "a", f"linear-quadratic, {len(linear['atoms'])} atoms")
    right.set(xlabel="position", ylabel="velocity")
    right.plot(*car["states"].T, ".", color=FAINT, ms=0.7, zorder=1, alpha=0.5, rasterized=True)
    letter(right, "b", f"mountain car, {len(car['atoms'])} atoms")


def draw_monte_carlo(canvas: "Figure", results: Results) -> None:
    """Draw learned values over Monte Carlo values at held-out states."""
    names = list(results["environments"])
    for axes, mark, name in zip(canvas.subplots(1, len(names)), "ab", names, strict=True):
        part = results["environments"][name]
        truth, found, anchor = part["monte_carlo"], part["agreement"], part["lstd_agreement"]
        ends = [truth.min(), truth.max()]
        axes.plot(ends, ends, color=PALETTE["grey"], lw=0.8)
        axes.plot(
            truth,
            part["lstd_values"],
            "x",
            color=PALETTE["brown"],
            ms=4,
            label=f"batch LSTD, NRMSE {anchor.nrmse:.3f}",
        )
        axes.errorbar(
            truth,
            part["values"],
            xerr=part["half_width"],
            fmt="o",
            color=PALETTE["blue"],
            ms=3,
            lw=0.7,
            label=f"online, NRMSE {found.nrmse:.3f}",
        )
        axes.set(xlabel="Monte-Carlo value, 95 % interval", ylabel="learned value")
        axes.legend(loc="upper left")
        letter(axes, mark, name)


def draw_orders(canvas: "Figure", results: Results) -> None:
    """Draw the model order over the transitions."""
    axes = canvas.subplots()
    curves = {f"linear-quadratic, {n}-D": part for n, part in results["linear_quadratic"].items()}
    curves |= results["environments"]
    for line, (name, part) in zip(("-", "--", "-.", ":"), curves.items(), strict=True):
        label = f"{name}, $M = {part['orders'][-1]:.0f}$"
        axes.plot(part["steps"], part["orders"], line, color=PALETTE["blue"], label=label)
    axes.set(xlabel="transitions", ylabel="model order", ylim=(0, None))
    canvas.legend(loc="outside lower center", ncols=2)


DRAWINGS: dict[str, Callable[["Figure", Results], None]] = {
    "value_surface": draw_surfaces,
    "monte_carlo": draw_monte_carlo,
    "model_order": draw_orders,
}


def figures(results: Results) -> "dict[str, Figure]":
    """Draw all figures from the numbers of `run`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn = {}
    with mpl.rc_context(cast(Any, RC)):
        for name, draw in DRAWINGS.items():
            canvas = Figure(figsize=(WIDTH, 3.6))
            draw(canvas, results)
            drawn[name] = canvas
    return drawn
