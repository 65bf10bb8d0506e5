"""Time of a KOMP step, compared with a lower bound and with brute force, all in one run.

A step is one of POLK. The lower bound ("floor") is the work that every exact step needs: one kernel
column and two triangular products of that size, with one thread of BLAS, for many points at once if
the factor fits into the caches. If it does not fit, a step can be faster than the floor, because it
reads the factor once for both products. A swap appends a point and drops another atom. Brute force
is `colk.reference.komp`.

    python lab/tables/komp.py
"""

import time
from collections.abc import Callable

import numpy as np
from step import products_job, vector_job
from threadpoolctl import threadpool_limits
from turns import best_times

from colk._engine.dictionary import Dictionary
from colk.compressors import KOMP
from colk.compressors.pursuit import append, drop
from colk.kernels import Gaussian
from colk.learners import POLK
from colk.losses import Squared
from colk.reference import komp

N_FEATURES = 4
SIZES = (20, 50, 100, 300, 1000)
# Brute force with 300 atoms takes hours; its time grows at least with M⁴.
BRUTE_FORCE_UP_TO = 100
# From here on a step is limited by the memory bandwidth of the factor.
CACHED_UP_TO = 250
# Steps per atom after which a weight has decayed to 1/e.
MEMORY = 10.0
STEP_SIZE = 0.02
REPEATS = 7

Array = np.ndarray


def best_time(run: Callable[[Array], object], streams: list[Array]) -> float:
    """Return the minimum time of `run` per point, in seconds."""
    times = []
    for X in streams:
        begin = time.perf_counter()
        run(X)
        times.append((time.perf_counter() - begin) / len(X))
    return min(times)


def points(n_atoms: int, n: int, rng: np.random.Generator) -> Array:
    """Return points of a cube whose volume grows with M."""
    return rng.uniform(0.0, 1.6 * n_atoms ** (1.0 / N_FEATURES), size=(n, N_FEATURES))


class Steady:
    """A learner whose model order is stationary near `n_atoms`, because of its eps."""

    def __init__(self, n_atoms: int, eps: float, rng: np.random.Generator) -> None:
        self.kernel, self.eps = Gaussian(1.0), eps
        self.regularization = 1.0 / (MEMORY * n_atoms * STEP_SIZE)
        self.learner = self.settled(n_atoms, rng)
        function = self.learner.function
        self.dictionary = Dictionary(
            self.kernel, N_FEATURES, block=1, capacity=self.learner.n_atoms + 1
        )
        append(self.dictionary, function.atoms, function.weights.reshape(-1, 1))
        self.rng = rng

    def settled(self, n_atoms: int, rng: np.random.Generator) -> POLK:
        """Search for the eps at which a new learner ends near `n_atoms`."""
        n = int(4.0 * MEMORY * n_atoms)
        while True:
            learner = self.step(self.new_learner(), points(n_atoms, n, rng))
            ratio = learner.n_atoms / n_atoms
            if 0.9 < ratio < 1.1:
                return learner
            self.eps *= min(max(ratio, 0.5), 2.0)

    def new_learner(self) -> POLK:
        """Return a learner without samples."""
        return POLK(
            self.kernel,
            Squared(),
            step_size=STEP_SIZE,
            regularization=self.regularization,
            compressor=KOMP(eps=self.eps),
            averaging=None,
            trace=True,
        )

    def step(self, learner: POLK, X: Array) -> POLK:
        """Make small steps towards a smooth function."""
        return learner.learn(X, np.cos(X.sum(axis=1)))

    def swap(self, X: Array) -> None:
        """Append each point and drop an atom for it."""
        amount = np.ones((1, 1))
        places = self.rng.integers(0, self.dictionary.size, len(X))
        for x, j in zip(X[:, None, :], places.tolist(), strict=True):
            append(self.dictionary, x, amount)
            drop(self.dictionary, j)

    def floor(self, X: Array) -> float:
        """Return the seconds of the work that every exact step needs."""
        atoms = self.dictionary.atoms
        (gram,) = best_times(lambda: self.kernel.gram(X, atoms), rounds=REPEATS)
        n = len(X) if len(atoms) < CACHED_UP_TO else 1
        job = products_job(len(atoms), n) if n > 1 else vector_job(len(atoms))
        (products,) = best_times(job, rounds=REPEATS)
        return gram / len(X) + products / n

    def brute_force(self, x: Array) -> float:
        """Return the seconds of `reference.komp` for a step that absorbs atom M + 1."""
        atoms = np.concatenate([self.dictionary.atoms, x])
        weights = np.concatenate([self.dictionary.weights, [[0.5 * self.eps]]])
        begin = time.perf_counter()
        komp(self.kernel, atoms, weights, eps=self.eps)
        return time.perf_counter() - begin


def main() -> None:
    rng = np.random.default_rng(0)
    print("µs per point; 'new' is the share of points that changed the factor")
    print(
        f"{'M':>11} {'step':>9} {'new':>5} {'floor':>9} {'step/floor':>11} {'swap':>9} "
        f"{'swap/floor':>11} {'brute force':>13} {'times':>9}"
    )
    eps = 0.01
    for n_atoms in SIZES:
        # Start the search for eps with that of the previous size.
        steady = Steady(n_atoms, eps, rng)
        eps = steady.eps
        learner, n = steady.learner, max(100_000 // n_atoms, 500)
        streams = [points(n_atoms, n, rng) for _ in range(REPEATS)]
        before = learner.n_atoms
        step = best_time(lambda X: steady.step(learner, X), streams)  # noqa: B023 -- called at once
        bound, swap = steady.floor(streams[0]), best_time(steady.swap, streams)
        new = learner.trace.added[-REPEATS * n :].mean()
        line = f"{before:>5}→{learner.n_atoms:<5} {step * 1e6:>9.2f} {new:>5.0%}"
        line += f" {bound * 1e6:>9.2f} {step / bound:>11.2f}"
        line += f" {swap * 1e6:>9.2f} {swap / bound:>11.2f}"
        if n_atoms <= BRUTE_FORCE_UP_TO:
            brute = steady.brute_force(streams[0][:1])
            line += f" {brute * 1e6:>13.0f} {brute / step:>9.0f}"
        else:
            line += f" {'not run':>13}"
        print(line, flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
