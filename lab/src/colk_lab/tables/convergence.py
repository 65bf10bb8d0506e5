"""COLK compared with the batch optimum, its distance to f* against α, and the two trackers of g.

    python -m colk_lab.tables convergence [--quick] [--trackers]

The script writes three tables. The first is the objective of COLK's averaged iterate on held-out
data, relative to that of `colk.rkhs.minimize`. The second is the H-distance of the last iterate to
f* for decreasing step sizes, with its log-log slope (Theorem 2: E‖f − f*‖² of order α, a slope of
1/2). The third is the mean squared error of g for momentum and moving average at equal β (Lemma 1),
over 20 streams with standard errors. Both trackers see the same streams; one of them is called
better if the 95 % interval of the paired ratio is more than 1 % away from 1.
"""

import argparse

import numpy as np

from colk import objective
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Huber, Squared
from colk.risks import CVaR, Entropic, Mean, Semivariance, Variance
from colk.rkhs.batch import minimize
from colk.schedules import PolyakRuppert
from colk_lab.statistics import percent_change, standard_error
from colk_lab.tables.output import publish

KERNEL, DECAY = Gaussian(0.2), 1e-2
CASES = [
    (loss, risk)
    for loss in (Squared(), Huber(0.5))
    for risk in (Mean(), Semivariance(0.2, 0.1), CVaR(0.3, 0.5, 0.2), Entropic(0.5))
]


def samples(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=n)


def optimum_of(loss, risk):
    """Return the minimiser of the empirical risk, on atoms dense enough to span X."""
    atoms = np.linspace(0.0, 1.0, 30)[:, None]
    return minimize(*samples(20000, seed=2), KERNEL, loss, risk, DECAY, atoms=atoms).function


def excess(loss, risk, n):
    """Return the held-out objective of COLK's average, relative to the batch optimum, minus 1."""
    X, y = samples(n, seed=0)
    held_out = samples(20000, seed=1)
    best_function = optimum_of(loss, risk)
    learner = COLK(
        KERNEL,
        loss,
        risk,
        step_size=0.1,
        tracking_rate=0.02,
        regularization=DECAY,
        compressor=KOMP(eps=1e-3),
        averaging=PolyakRuppert(growth=2.0),
    ).learn(X, y)
    ours, best = (
        objective(f, *held_out, loss, risk, regularization=DECAY).total
        for f in (learner.function, best_function)
    )
    return ours / best - 1.0, learner.n_atoms


def distances(loss, risk, step_sizes, n):
    """Return the RMS of ‖f_t − f*‖ over the second half of the stream, by step size."""
    optimum = optimum_of(loss, risk)
    found = []
    for step in step_sizes:
        learner = COLK(
            KERNEL,
            loss,
            risk,
            step_size=step,
            tracking_rate=min(1.0, step),
            regularization=DECAY,
            compressor=KOMP(eps=0.02 * step),
            averaging=None,
        )
        X, y = samples(n, seed=3)
        learner.learn(X[: n // 2], y[: n // 2])
        squares = []
        for rows in np.array_split(np.arange(n // 2, n), 100):
            learner.learn(X[rows], y[rows])
            squares.append(learner.last_function.distance(optimum) ** 2)
        found.append(np.sqrt(np.mean(squares)))
    return found


def tracking_error(tracker, step, rate, seed, n=2000):
    """Return the mean squared error of g against E inner of the f that g was computed with."""
    held_out = samples(5000, seed=10**6 + seed)
    X, y = samples(n, seed)
    learner = COLK(
        KERNEL,
        Squared(),
        Variance(0.1),
        step_size=step,
        tracking_rate=rate,
        regularization=DECAY,
        compressor=KOMP(eps=1e-3),
        tracker=tracker,
        averaging=None,
    )
    errors = []
    for first in range(0, n, 2):
        f = learner.last_function if first else None
        learner.learn(X[first : first + 2], y[first : first + 2])
        if first > 200 and first % 40 == 0:
            truth = np.mean((f(held_out[0]) - held_out[1]) ** 2)
            errors.append((learner.inner_estimate[0] - truth) ** 2)
    return float(np.mean(errors))


def show_objectives(n):
    rows = []
    for loss, risk in CASES:
        gap, atoms = excess(loss, risk, n)
        rows.append([f"`{loss!r}`", f"`{risk!r}`", f"{100 * gap:+.2f} %", str(atoms)])
    publish("convergence_objective", ["loss", "risk", "above the optimum", "atoms"], rows)


def show_distances(n):
    steps = [0.4, 0.2, 0.1, 0.05, 0.025]
    rows = []
    for loss, risk in CASES:
        found = distances(loss, risk, steps, n)
        slope = np.polyfit(np.log(steps), np.log(found), 1)[0]
        rows.append([f"`{loss!r}`", f"`{risk!r}`", *(f"{d:.3f}" for d in found), f"{slope:.2f}"])
    header = ["loss", "risk", *(f"α = {step:g}" for step in steps), "slope"]
    publish("convergence_distance", header, rows)


def show_trackers(seeds):
    rows = []
    for step in (1e-4, 0.01, 0.05, 0.2):
        for rate in (0.01, 0.05, 0.2):
            momentum, average = (
                [tracking_error(tracker, step, rate, seed) for seed in range(seeds)]
                for tracker in ("momentum", "average")
            )
            change = percent_change(momentum, average)
            better = "momentum" if change.high < -1.0 else "average" if change.low > 1.0 else "—"
            shown = [
                f"{np.mean(each):.2e} ± {standard_error(each):.0e}" for each in (momentum, average)
            ]
            ratio, low, high = (
                1.0 + end / 100.0 for end in (change.value, change.low, change.high)
            )
            between = f"{ratio:.2f} [{low:.2f}, {high:.2f}]"
            rows.append([f"{step:g}", f"{rate:g}", *shown, between, better])
    header = ["α", "β", "momentum", "average", "momentum / average", "better"]
    publish("convergence_trackers", header, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small streams and few seeds")
    parser.add_argument("--trackers", action="store_true", help="only the table of trackers")
    given = parser.parse_args()
    if not given.trackers:
        show_objectives(20000 if given.quick else 100000)
        show_distances(10000 if given.quick else 60000)
    show_trackers(3 if given.quick else 20)


if __name__ == "__main__":
    main()
