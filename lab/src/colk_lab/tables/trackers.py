"""Trackers of the later literature against the paper's, at equal numbers of samples, in NumPy.

    python -m colk_lab.tables trackers > docs/tables/trackers.md

f is a weighted sum of 20 radial bumps on a finite population, so that the objective and its
gradient are exact. Both problems have m = 1. The convex one is the entropic risk of the squared
loss, 4 log E exp(ℓ/4), with a tracked E exp(ℓ/4). The one that is not convex is Welsch's loss
with twice its variance. The steps are those of SCGD (along the quasi-gradient) and of NASA (along
a running mean of it). α, β and the rate of the mean are chosen for each method on 4 streams, by
the mean over the last quarter; the table shows 16 other streams. A method that takes several
evaluations of one sample pays for the sample once; one that draws a batch pays for the batch.

The paper's tracker is SCSC (Chen, Sun and Yin, 2021), and the estimate of g in STORM: (1 − β)(g +
h(f_t) − h(f_{t−1})) + βh(f_t) is the same number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from colk_lab.statistics import mean_interval, standard_error

Array = NDArray[np.float64]

N_POINTS, N_BUMPS, N_SAMPLES = 400, 20, 16_000
DEVELOPMENT, TEST = range(4), range(100, 116)
STEP_SIZES = (0.001, 0.003, 0.01, 0.03, 0.1)
RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
MEANS = (0.03, 0.3)
PERIOD, BATCH = 200, 100  # of SPIDER, in steps and in samples
TRACKERS = ("momentum", "average", "spider", "adaptive")


@dataclass(frozen=True)
class TrackedProblem:
    """E outer(ℓ_θ, g) with g = E inner(ℓ), in the losses."""

    name: str
    loss: Callable[[Array], tuple[Array, Array]]  # ℓ and ℓ' of a residual
    inner: Callable[[Array], tuple[Array, Array]]
    outer: Callable[[Array, Array], tuple[Array, Array, Array]]  # value, by ℓ, by g


def squared(r: Array) -> tuple[Array, Array]:
    return r * r, 2.0 * r


def welsch(r: Array) -> tuple[Array, Array]:
    u = np.exp(-((r / 0.7) ** 2))
    return 0.245 * (1.0 - u), r * u


def exponential(u: Array) -> tuple[Array, Array]:
    value = np.exp(np.minimum(u / 4.0, 30.0))
    return value, value / 4.0


def logarithm(u: Array, g: Array) -> tuple[Array, Array, Array]:
    g = np.maximum(g, 0.5)  # E exp(ℓ/4) ≥ 1
    return 4.0 * np.log(g) + 0.0 * u, 0.0 * u, 4.0 / g + 0.0 * u


def spread(u: Array, g: Array) -> tuple[Array, Array, Array]:
    return u + 2.0 * (u - g) ** 2, 1.0 + 4.0 * (u - g), -4.0 * (u - g)


PROBLEMS = (
    TrackedProblem("convex", squared, exponential, logarithm),
    TrackedProblem("not convex", welsch, lambda u: (u, np.ones_like(u)), spread),
)


def population() -> tuple[Array, Array]:
    """Return features (N, d) and targets (N,); a tenth of the targets are far away."""
    rng = np.random.default_rng(7)
    x = rng.uniform(0.0, 1.0, N_POINTS)
    centres = np.linspace(0.0, 1.0, N_BUMPS)
    y = np.sin(6.0 * x) + rng.uniform(-0.8, 0.8, N_POINTS)
    y[rng.random(N_POINTS) < 0.1] += 1.5
    return np.exp(-(((x[:, None] - centres) / 0.08) ** 2)), y


FEATURES, TARGETS = population()


def exact(problem: TrackedProblem, W: Array) -> tuple[Array, Array, Array]:
    """Return R (runs,), ∇R (runs, d) and E inner (runs,) at the weights W (runs, d)."""
    loss, slope = problem.loss(W @ FEATURES.T - TARGETS)
    h, by_loss = problem.inner(loss)
    g = h.mean(axis=1, keepdims=True)
    value, direct, by_g = problem.outer(loss, g)
    through = by_g.mean(axis=1, keepdims=True) * by_loss
    return value.mean(axis=1), ((direct + through) * slope) @ FEATURES / N_POINTS, g[:, 0]


def optimum(problem: TrackedProblem) -> float:
    def both(w: Array) -> tuple[float, Array]:
        value, gradient, _ = exact(problem, w[None])
        return float(value[0]), gradient[0]

    found = minimize(both, np.zeros(N_BUMPS), jac=True, method="BFGS", options={"gtol": 1e-9})
    return float(found.fun)


def run(
    problem: TrackedProblem, step: str, tracker: str, settings: Array, seeds: range
) -> tuple[Array, Array]:
    """Return the score of each setting (α, β, a) on each stream, and the relative error of g."""
    n_settings, n_streams = len(settings), len(seeds)
    alpha, beta, share = np.repeat(settings, n_streams, axis=0).T
    streams = [np.random.default_rng(seed).integers(N_POINTS, size=N_SAMPLES) for seed in seeds]
    rows = np.tile(np.array(streams), (n_settings, 1))
    runs = len(rows)
    W, before, d = np.zeros((3, runs, N_BUMPS))
    g, error, noise, drift = np.zeros((4, runs))
    mark, scores, t, used = 3 * N_SAMPLES // 4, [], 0, 0

    def at(weights: Array, places: Array) -> tuple[Array, Array]:
        return problem.loss(np.einsum("rd,rd->r", weights, FEATURES[places]) - TARGETS[places])

    with np.errstate(over="ignore", invalid="ignore"):
        while used + 2 <= N_SAMPLES:
            if tracker == "spider" and t % PERIOD == 0 and used + BATCH + 2 <= N_SAMPLES:
                batch = rows[:, used : used + BATCH]
                r = np.einsum("rd,rbd->rb", W, FEATURES[batch]) - TARGETS[batch]
                g, before, used = problem.inner(problem.loss(r)[0])[0].mean(axis=1), W, used + BATCH
            theta, xi = rows[:, used], rows[:, used + 1]
            loss, slope = at(W, xi)
            h, by_loss = problem.inner(loss)
            earlier = problem.inner(at(before, xi)[0])[0]
            if t == 0:
                g = h if tracker != "spider" else g
                noise = h * h
            elif tracker == "momentum":
                g = (1.0 - beta) * (g - earlier) + h
            elif tracker == "average":
                g = (1.0 - beta) * g + beta * h
            elif tracker == "spider":
                g = g + h - earlier
            else:  # the gain of a Kalman filter, β its forgetting
                noise = (1.0 - beta) * noise + beta * (earlier - g) ** 2
                drift = (1.0 - beta) * drift + beta * (h - earlier) ** 2
                predicted = error + drift
                gain = np.clip(predicted / (predicted + noise + 1e-300), 1e-3, 1.0)
                g, error = (1.0 - gain) * (g - earlier) + h, (1.0 - gain) * predicted
            own, own_slope = at(W, theta)
            _, direct, by_g = problem.outer(own, g)
            gradient = (direct * own_slope)[:, None] * FEATURES[theta]
            gradient = gradient + (by_g * by_loss * slope)[:, None] * FEATURES[xi]
            before = W
            d = gradient if step == "SCGD" or t == 0 else d + share[:, None] * (gradient - d)
            W = W - alpha[:, None] * d
            t, used = t + 1, used + 2
            if used > mark and t % 100 == 0:
                value, full, inner = exact(problem, W)
                score = value if problem.name == "convex" else np.sum(full**2, axis=1)
                scores.append((score, (g / inner - 1.0) ** 2))
    mean = np.mean(scores, axis=0).reshape(2, n_settings, n_streams)
    mean = np.where(np.isfinite(mean), mean, np.inf)
    return mean[0], np.sqrt(mean[1])


def main() -> None:
    print("| problem | step | tracker | α, β | score | against momentum | error of g |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for problem, step in product(PROBLEMS, ("SCGD", "NASA")):
        best = optimum(problem) if problem.name == "convex" else 0.0
        first = None
        for tracker in TRACKERS:
            means = MEANS if step == "NASA" else (1.0,)
            rates = RATES if tracker != "spider" else (1.0,)
            settings = np.array(list(product(STEP_SIZES, rates, means)))
            tuned = run(problem, step, tracker, settings, DEVELOPMENT)[0].mean(axis=1)
            chosen = settings[int(np.argmin(tuned))]
            found, tracking = run(problem, step, tracker, chosen[None], TEST)
            scores = found[0] - best
            first = scores if first is None else first
            ratio = np.log(scores / first)
            change = mean_interval(ratio)
            low, middle, high = np.exp([change.low, change.value, change.high])
            against = "1" if tracker == "momentum" else f"{middle:.2f} [{low:.2f}, {high:.2f}]"
            rate = "" if tracker == "spider" else f", {chosen[1]:g}"
            error = standard_error(scores)
            print(
                f"| {problem.name} | {step} | {tracker} | {chosen[0]:g}{rate} "
                f"| {scores.mean():.2e} ± {error:.0e} | {against} "
                f"| {100.0 * tracking.mean():.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
