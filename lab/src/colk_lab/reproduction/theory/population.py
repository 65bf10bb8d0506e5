"""A finite population, for which expectations, the optimum and gradients are exact."""

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import CentralMoments, Mean, Risk, Semivariance
from colk.rkhs.batch import minimize
from colk.rkhs.expansion import KernelExpansion
from colk_lab.arrays import Array
from colk_lab.reproduction.laws import generator, signal

__all__ = ["KERNEL", "REGULARIZATION", "RISKS", "observe"]

KERNEL = Gaussian(0.15)
REGULARIZATION = 0.1
N_POINTS = 400
# The bound of Assumption 5.
GRADIENT_BOUND = 10.0

# With a small weight, the risk with the semivariance is convex and monotone, so R is strongly
# convex. The central moments are not convex in f.
RISKS: dict[str, Risk] = {
    "mean": Mean(),
    "semivariance": Semivariance(0.3),
    "moments": CentralMoments(order=4, weight=0.1),
}
_LOSS = Squared()


@lru_cache
def _population(seed: int, offset: float) -> tuple[Array, Array, Array]:
    """Return points, targets and the Gram matrix of the points."""
    rng = generator(seed, "population")
    X = rng.random((N_POINTS, 1))
    y = offset + 0.25 * signal(X[:, 0]) + 0.3 * rng.normal(size=N_POINTS)
    return X, y, KERNEL.gram(X)


@lru_cache
def _optimum(risk: str, seed: int, offset: float) -> KernelExpansion:
    X, y, _ = _population(seed, offset)
    return minimize(X, y, KERNEL, _LOSS, RISKS[risk], REGULARIZATION).function


def _gradient_norm(
    risk: Risk, f: KernelExpansion, values: Array, population: tuple[Array, Array, Array]
) -> float:
    """Return ‖∇R(f)‖² in H for the regularised risk R, given the values of f."""
    _, y, K = population
    c = risk.gradient_at(_LOSS, values, y)
    cross, own = REGULARIZATION * float(c @ values), (REGULARIZATION * f.norm()) ** 2
    return float(c @ K @ c) + 2.0 * cross + own


def observe(
    risk: str,
    step_size: float,
    tracking_rate: float,
    eps: float,
    n_steps: int,
    evaluations: int,
    seed: int,
    run: int,
    tracker: Literal["momentum", "average"] = "momentum",
    offset: float = 0.0,
) -> dict[str, NDArray[Any]]:
    """Learn samples of the population and evaluate at evenly spaced steps.

    Parameters
    ----------
    risk, step_size, tracking_rate, n_steps, tracker
        Settings of the run; `risk` is a key of `RISKS`.
    eps : float
        The compression bound.
    evaluations : int
        Number of evaluations.
    seed, run : int
        Seed of the population, and index of the stream of samples.
    offset : float, default=0.0
        A number that is added to all targets.

    Returns
    -------
    dict of arrays, one entry for each evaluation
        distance (‖f − f*‖²), gradient (‖∇R(f)‖²), order, tracking ((g − E inner)²), spread (the
        variance of the inner value), slope (E ℓ'²) and moved (‖f_{t+1} − f_t‖²).
    """
    population = _population(seed, offset)
    X, y, _ = population
    form, best = RISKS[risk], _optimum(risk, seed, offset)
    learner = COLK(
        KERNEL,
        _LOSS,
        form,
        step_size=step_size,
        tracking_rate=tracking_rate,
        regularization=REGULARIZATION,
        compressor=KOMP(eps=eps),
        tracker=tracker,
        gradient_bound=GRADIENT_BOUND,
        averaging=None,
    )
    pace = 2 if form.n_inner else 1
    rows = generator(seed, "stream", run).integers(N_POINTS, size=pace * (n_steps + 1))
    marks = np.unique(np.linspace(1, n_steps, evaluations).astype(np.int64))
    names = ("distance", "gradient", "order", "tracking", "spread", "slope", "moved")
    table, start = np.full((len(marks), len(names)), np.nan), 0
    for i, mark in enumerate(marks):
        learner.learn(X[rows[start : pace * mark]], y[rows[start : pace * mark]])
        f, order = learner.last_function, learner.n_atoms
        start = pace * (int(mark) + 1)
        learner.learn(X[rows[pace * mark : start]], y[rows[pace * mark : start]])
        values = f(X)
        losses = _LOSS.value(values, y)
        error = learner.inner_estimate[0] - losses.mean() if form.n_inner else np.nan
        table[i] = (
            f.distance(best) ** 2,
            _gradient_norm(form, f, values, population),
            order,
            error**2,
            losses.var(),
            (_LOSS.slope(values, y) ** 2).mean(),
            learner.last_function.distance(f) ** 2,
        )
    return {"steps": marks, **{name: table[:, i] for i, name in enumerate(names)}}
