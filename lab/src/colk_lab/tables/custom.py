"""Time of a user-defined function: as plain Python, compiled by Numba, and built in.

    python -m colk_lab.tables custom

The three versions alternate in one run; the table shows the minimum over several turns. The Numba
column is NaN if Numba is not installed. The table is also written to docs/tables.
"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from colk.errors import SlowFunctionWarning
from colk.kernels import CustomKernel, Gaussian
from colk.losses import CustomLoss, LogCosh, Squared
from colk.risks import Composition, CustomRisk, Variance
from colk_lab.tables.output import TABLES

TURNS, SEED = 25, 0
TABLE = TABLES / "custom.md"
HEADING = f"""# Time of user-defined functions

Nanoseconds per call, the minimum of {TURNS} turns in one run. A call computes a loss and its slope,
or a kernel of two points. The built-in counterpart of the composition is the risk of a loss. Made
by `colk_lab.tables.custom`.
"""
RNG = np.random.default_rng(SEED)
F, Y = RNG.normal(size=(2, 20_000))
LOSSES, G = np.abs(F), np.ones(1)
POINTS = RNG.normal(size=(100, 8))


def log_cosh(f, y):
    r = abs(f - y)
    return r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)


def log_cosh_slope(f, y):
    return np.tanh(f - y)


def gaussian(u, v):
    return np.exp(-0.5 * np.sum((u - v) ** 2))


def squared(f, y):
    return (f - y) ** 2


def squared_slope(f, y):
    return 2.0 * (f - y)


def identity(loss):
    return loss


def one(loss):
    return 1.0


def outer(loss, g):
    return loss + 0.1 * (loss - g) ** 2


def outer_slope_loss(loss, g):
    return 1.0 + 0.2 * (loss - g)


def outer_slope_inner(loss, g):
    return -0.2 * (loss - g)


def residual(f, y):
    return (f[0] - y[0]) ** 2


def residual_slope(f, y):
    return 2.0 * (f[0] - y[0])


def spread(f, y, g):
    loss = (f[0] - y[0]) ** 2
    return loss + 0.1 * (loss - g[0]) ** 2


def spread_slope(f, y, g):
    r = f[0] - y[0]
    return 2.0 * r * (1.0 + 0.2 * (r**2 - g[0]))


def spread_slope_inner(f, y, g):
    return -0.2 * ((f[0] - y[0]) ** 2 - g[0])


Run = Callable[[], object]
Maker = Callable[[Callable[..., Any]], Run]


def rows() -> dict[str, tuple[Maker, Run, int]]:
    """Return, by name, a factory of the user's run, the built-in run, and the calls in a run.

    A factory wraps the user's functions: Numba compiles functions, and not their `partial`.
    """

    def loss(by: Any) -> Run:
        made = CustomLoss(*map(by, (squared, squared_slope)))
        return lambda: made.value(F, Y)

    def rich_loss(by: Any) -> Run:
        made = CustomLoss(*map(by, (log_cosh, log_cosh_slope)))
        return lambda: made.value(F, Y)

    def kernel(by: Any) -> Run:
        made = CustomKernel(by(gaussian))
        return lambda: made.gram(POINTS)

    def risk(by: Any) -> Run:
        made = CustomRisk(*map(by, (identity, one, outer, outer_slope_loss, outer_slope_inner)))
        return lambda: made.outer(LOSSES, G)

    def composition(by: Any) -> Run:
        parts = (residual, residual_slope, spread, spread_slope, spread_slope_inner)
        made = Composition(*map(by, parts))
        return lambda: made.tabulate("outer", F, Y, G)

    variance = Variance(0.1)
    of_losses = lambda: variance.outer(LOSSES, G)  # noqa: E731
    return {
        "loss (f − y)², value and slope": (loss, lambda: Squared().value(F, Y), len(F)),
        "loss log cosh, value and slope": (rich_loss, lambda: LogCosh().value(F, Y), len(F)),
        "Gaussian kernel, 8 features": (kernel, lambda: Gaussian(1.0).gram(POINTS), 100**2),
        "risk of a loss, outer": (risk, of_losses, len(F)),
        "composition, outer": (composition, of_losses, len(F)),
    }


def nanoseconds(runs: list[Callable[[], object]], calls: int) -> list[float]:
    """Return the minimum time of each run; the runs alternate."""
    for run in runs:
        run()
    best = [np.inf] * len(runs)
    for _ in range(TURNS):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e9 * least / calls for least in best]


def as_it_is(function: Any) -> Any:
    return function


def main() -> None:
    warnings.simplefilter("ignore", SlowFunctionWarning)
    lines = [
        HEADING,
        "| ns per call | plain Python | Numba | built in |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, (make, built_in, calls) in rows().items():
        times = nanoseconds([make(partial), make(as_it_is), built_in], calls)
        if find_spec("numba") is None:
            times[1] = np.nan
        lines.append(f"| {name} | {times[0]:.0f} | {times[1]:.0f} | {times[2]:.0f} |")
        print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
