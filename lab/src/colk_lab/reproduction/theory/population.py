"""A finite population, for which expectations, the optimum and gradients are exact."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colk.compressors import KOMP
from colk.kernels import Gaussian, Kernel, Laplacian
from colk.learners import COLK
from colk.losses import CustomLoss, Loss, Squared
from colk.risks import LossRisk, Mean, Semivariance, Variance
from colk.rkhs.batch import minimize
from colk.rkhs.expansion import KernelExpansion
from colk.schedules import PowerDecay
from colk.theory import Constants
from colk_lab.arrays import Array
from colk_lab.reproduction.laws import generator, signal

__all__ = ["PROBLEMS", "PopulationProblem", "constants", "curvature", "observe"]

N_POINTS = 400
# Residual at which Welsch's loss is 1 − 1/e of its upper bound.
WELSCH = 1.0
# Regularization of a function near a stationary point, if the problem has none.
_LITTLE = 1e-4


def welsch(f: float, y: float) -> float:
    """Return Welsch's loss, which is bounded and not convex."""
    return 0.5 * WELSCH**2 * (1.0 - math.exp(-(((f - y) / WELSCH) ** 2)))


def welsch_slope(f: float, y: float) -> float:
    """Return the slope of Welsch's loss."""
    return (f - y) * math.exp(-(((f - y) / WELSCH) ** 2))


@dataclass(frozen=True)
class PopulationProblem:
    """An objective on the population; by default, strongly convex and clipped (Assumption 5)."""

    risk: LossRisk
    loss: Loss = field(default_factory=Squared)
    kernel: Kernel = field(default_factory=lambda: Gaussian(0.15))
    regularization: float = 0.1
    gradient_bound: float = 10.0
    amplitude: float = 0.25


# With a small weight, the risk with the semivariance is convex and monotone on these data, so R is
# strongly convex. Theorem 2 asks for λ ≥ 2.49 + λ₀ if β = α: "inside" has it, "semivariance" not.
PROBLEMS = {
    "mean": PopulationProblem(Mean()),
    "semivariance": PopulationProblem(Semivariance(0.3)),
    "laplacian": PopulationProblem(Semivariance(0.3), kernel=Laplacian(0.15)),
    "inside": PopulationProblem(Semivariance(0.3), regularization=2.6),
    "welsch": PopulationProblem(
        Variance(1.0),
        CustomLoss(welsch, welsch_slope),
        regularization=0.0,
        gradient_bound=math.inf,
        amplitude=1.0,
    ),
}


@lru_cache
def _population(name: str, seed: int, offset: float) -> tuple[Array, Array, Array]:
    """Return points, targets and the Gram matrix of the points."""
    problem, rng = PROBLEMS[name], generator(seed, "population")
    X = rng.random((N_POINTS, 1))
    y = offset + problem.amplitude * signal(X[:, 0]) + 0.3 * rng.normal(size=N_POINTS)
    return X, y, problem.kernel.gram(X)


@lru_cache
def _optimum(name: str, seed: int, offset: float) -> KernelExpansion:
    problem, (X, y, _) = PROBLEMS[name], _population(name, seed, offset)
    decay = problem.regularization or _LITTLE
    return minimize(X, y, problem.kernel, problem.loss, problem.risk, decay).function


@lru_cache
def constants(name: str, seed: int) -> Constants:
    """Return the estimated constants of the theorems."""
    problem, (X, y, _) = PROBLEMS[name], _population(name, seed, 0.0)
    best = _optimum(name, seed, 0.0)
    return Constants.estimate(
        X,
        y,
        problem.kernel,
        problem.loss,
        problem.risk,
        best,
        regularization=problem.regularization,
        gradient_bound=problem.gradient_bound,
    )


def _gradient_norm(
    problem: PopulationProblem,
    f: KernelExpansion,
    values: Array,
    population: tuple[Array, Array, Array],
) -> float:
    """Return ‖∇R(f)‖² in H for the regularised risk R, given the values of f."""
    _, y, K = population
    c = problem.risk.gradient_at(problem.loss, values, y)
    decay = problem.regularization
    cross, own = decay * float(c @ values), (decay * f.norm()) ** 2
    return float(c @ K @ c) + 2.0 * cross + own


@lru_cache
def _root(name: str, seed: int, offset: float) -> Array:
    """Return the symmetric root of the Gram matrix."""
    values, vectors = np.linalg.eigh(_population(name, seed, offset)[2])
    root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def curvature(name: str, values: Array, seed: int, offset: float = 0.0) -> float:
    """Return the smallest eigenvalue of the Hessian of R in H, at a function with these values.

    The risk is the mean plus η times the variance, so with the losses l the Hessian in the values
    is diag(l''(1 + 2η(l − El)) + 2ηl'²)/n − 2ηl'l'ᵀ/n². On the population's span the Hessian in H
    is K^{1/2} times this times K^{1/2}, plus λ.
    """
    problem, (_, y, _) = PROBLEMS[name], _population(name, seed, offset)
    weight = problem.risk.weight if isinstance(problem.risk, Variance) else 0.0
    n, h = len(values), 1e-5
    losses, slopes = problem.loss.value(values, y), problem.loss.slope(values, y)
    bends = (problem.loss.slope(values + h, y) - problem.loss.slope(values - h, y)) / (2.0 * h)
    own = bends * (1.0 + 2.0 * weight * (losses - losses.mean())) + 2.0 * weight * slopes**2
    hessian = np.diag(own / n) - 2.0 * weight / n**2 * np.outer(slopes, slopes)
    root = _root(name, seed, offset)
    return float(np.linalg.eigvalsh(root @ hessian @ root)[0]) + problem.regularization


def observe(
    problem: str,
    step_size: float,
    tracking_rate: float,
    eps: float,
    n_steps: int,
    evaluations: int,
    seed: int,
    run: int,
    tracker: Literal["momentum", "average"] = "momentum",
    offset: float = 0.0,
    power: float = 0.0,
    bends: bool = False,
) -> dict[str, NDArray[Any]]:
    """Learn samples of the population and evaluate at evenly spaced steps.

    Parameters
    ----------
    problem, step_size, tracking_rate, n_steps, tracker
        Settings of the run; `problem` is a key of `PROBLEMS`.
    eps : float
        The compression bound; it is proportional to the square of an attenuating step size.
    evaluations : int
        Number of evaluations.
    seed, run : int
        Seed of the population, and index of the stream of samples.
    offset : float, default=0.0
        A number that is added to all targets.
    power : float, default=0.0
        α and β are divided by (1 + t/100)^power.
    bends : bool, default=False
        Whether to compute the smallest eigenvalue of the Hessian.

    Returns
    -------
    dict of arrays, one entry for each evaluation
        distance (‖f − f*‖²), gradient (‖∇R(f)‖²), order, tracking ((g − E inner)²), spread (the
        variance of the inner value), slope (E ℓ'²), moved (‖f_{t+1} − f_t‖²) and curvature.
    """
    population = _population(problem, seed, offset)
    X, y, _ = population
    form, best = PROBLEMS[problem], _optimum(problem, seed, offset)
    learner = COLK(
        form.kernel,
        form.loss,
        form.risk,
        step_size=PowerDecay(step_size, power, 100.0),
        tracking_rate=PowerDecay(tracking_rate, power, 100.0),
        regularization=form.regularization,
        compressor=KOMP(parsimony=eps / step_size**2),
        tracker=tracker,
        gradient_bound=form.gradient_bound,
        averaging=None,
    )
    pace = 2 if form.risk.n_inner else 1
    rows = generator(seed, "stream", run).integers(N_POINTS, size=pace * (n_steps + 1))
    marks = np.unique(np.linspace(1, n_steps, evaluations).astype(np.int64))
    names = ("distance", "gradient", "order", "tracking", "spread", "slope", "moved", "curvature")
    table, start = np.full((len(marks), len(names)), np.nan), 0
    for i, mark in enumerate(marks):
        learner.learn(X[rows[start : pace * mark]], y[rows[start : pace * mark]])
        f, order = learner.last_function, learner.n_atoms
        start = pace * (int(mark) + 1)
        learner.learn(X[rows[pace * mark : start]], y[rows[pace * mark : start]])
        values = f(X)
        losses = form.loss.value(values, y)
        error = learner.inner_estimate[0] - losses.mean() if form.risk.n_inner else np.nan
        table[i] = (
            f.distance(best) ** 2,
            _gradient_norm(form, f, values, population),
            order,
            error**2,
            losses.var(),
            (form.loss.slope(values, y) ** 2).mean(),
            learner.last_function.distance(f) ** 2,
            curvature(problem, values, seed, offset) if bends else np.nan,
        )
    return {"steps": marks, **{name: table[:, i] for i, name in enumerate(names)}}
