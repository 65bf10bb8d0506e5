"""How long a KOMP step takes, against the floor and against brute force, all in one run.

The floor is what no exact step can do without: one kernel column and two triangular products of
that size, in the same language. Where the factor outgrows the caches a step can be below it: it
reads the factor once for both products. Brute force is `colk.reference.komp`.

    python benchmarks/komp.py
"""

import time
from collections.abc import Callable

import numpy as np

from colk._core.buffers import GHOSTS, SIZE, buffers_at
from colk._core.dictionary import Dictionary
from colk._core.jit import stepper
from colk._core.kernels import column
from colk._core.komp import absorb_points
from colk._validation import Array
from colk.kernels import Gaussian
from colk.reference import komp

N_FEATURES = 4
SIZES = (20, 50, 100, 300, 1000)
# Brute force at 300 atoms takes hours; its time grows at least with the fourth power of M.
BRUTE_FORCE_UP_TO = 100
# Steps, for each atom, after which a weight has faded to 1/e.
MEMORY = 10.0
REPEATS = 7


@stepper
def stream(
    address: int, X: Array, amounts: Array, eps: float, decay: float, one: int, undo: int
) -> int:
    """POLK's step with given amounts: shrink, append, prune to eps; returns how many stayed.

    With `undo` 1, each point is appended whatever it costs and taken back by the counter alone,
    so that M stays the same: that is an append without a drop.
    """
    d = buffers_at(address)
    stayed, at_most = 0, d.atoms.shape[1] - one
    for t in range(X.shape[0]):
        before = d.counters[SIZE]
        d.counters[GHOSTS] = 0
        for j in range(before):
            d.weights[0, j] *= decay
        for feature in range(X.shape[1]):
            d.points[0, feature] = X[t, feature]
        d.amounts[0, 0] = amounts[t]
        absorb_points(address, one, eps, undo * (before + one), at_most)
        stayed += d.counters[SIZE] - before + d.counters[GHOSTS]
        if undo > 0:
            for j in range(before):
                d.diagonal[j] -= d.factor[before, j] * d.factor[before, j]
            d.weights[0, before] = 0.0
            d.counters[SIZE] = before
    return stayed


@stepper
def floor(address: int, X: Array, out: Array) -> None:
    """One kernel column and two triangular products, Uᵀk and U(Uᵀk), for each point."""
    d = buffers_at(address)
    n, factor, k, z, v = d.counters[SIZE], d.factor, out[0], out[1], out[2]
    for t in range(X.shape[0]):
        column(d.column, d.program, d.atoms, n, X[t], k, d.work)
        for j in range(n):
            v[j] = 0.0
        for i in range(n):
            total = 0.0
            for j in range(i + 1):
                total += factor[i, j] * k[j]
            z[i] = total
        for i in range(n):
            total = z[i]
            for j in range(i + 1):
                v[j] += total * factor[i, j]


def best_time(run: Callable[[Array], object], streams: list[Array]) -> float:
    """Shortest time of `run` for a point, in seconds: the others were disturbed."""
    times = []
    for X in streams:
        begin = time.perf_counter()
        run(X)
        times.append((time.perf_counter() - begin) / len(X))
    return min(times)


def points(n_atoms: int, n: int, rng: np.random.Generator) -> Array:
    """Points of a cube whose volume grows with M."""
    return rng.uniform(0.0, 1.6 * n_atoms ** (1.0 / N_FEATURES), size=(n, N_FEATURES))


class Steady:
    """A dictionary whose order is stationary near `n_atoms`: eps is what keeps it there."""

    def __init__(self, n_atoms: int, rng: np.random.Generator) -> None:
        self.kernel = Gaussian(1.0)
        self.decay, self.eps = 1.0 - 1.0 / (MEMORY * n_atoms), 0.01
        program = self.kernel.program(N_FEATURES)
        self.dictionary = Dictionary(program, N_FEATURES, block=1, capacity=2 * n_atoms)
        hits = 0
        while hits < 3:
            self.step(points(n_atoms, int(4.0 * MEMORY * n_atoms), rng))
            ratio = self.dictionary.size / n_atoms
            hits = hits + 1 if 0.9 < ratio < 1.1 else 0
            if hits == 0:
                self.eps *= min(max(ratio, 0.5), 2.0)

    def step(self, X: Array) -> int:
        """Small steps towards a smooth function; returns how many points stayed."""
        amounts = 0.02 * np.cos(X.sum(axis=1))
        return stream(self.dictionary.address, X, amounts, self.eps, self.decay, 1, 0)

    def append(self, X: Array) -> None:
        """Append each point and take it back."""
        stream(self.dictionary.address, X, np.ones(len(X)), 0.0, 1.0, 1, 1)

    def floor(self, X: Array) -> None:
        """Do only what no exact step can do without."""
        floor(self.dictionary.address, X, np.zeros((3, self.dictionary.capacity)))

    def brute_force(self, x: Array) -> float:
        """Seconds of `reference.komp` for such a step: M + 1 atoms, the new one absorbed."""
        atoms = np.concatenate([self.dictionary.atoms, x])
        weights = np.concatenate([self.dictionary.weights, [[0.5 * self.eps]]])
        begin = time.perf_counter()
        komp(self.kernel, atoms, weights, eps=self.eps)
        return time.perf_counter() - begin


def main() -> None:
    rng = np.random.default_rng(0)
    print("µs for each point; 'new' is the share of points that changed the factor")
    print(
        f"{'M':>11} {'step':>9} {'new':>5} {'floor':>9} {'step/floor':>11} {'append':>9} "
        f"{'append/floor':>13} {'brute force':>13} {'times':>9}"
    )
    for n_atoms in SIZES:
        steady = Steady(n_atoms, rng)
        d = steady.dictionary
        streams = [points(n_atoms, max(100_000 // n_atoms, 500), rng) for _ in range(REPEATS)]
        before, stayed = d.size, []
        step = best_time(lambda X: stayed.append(steady.step(X)), streams)  # noqa: B023 -- called at once
        bound, append = best_time(steady.floor, streams), best_time(steady.append, streams)
        line = f"{before:>5}→{d.size:<5} {step * 1e6:>9.2f}"
        line += f" {sum(stayed) / REPEATS / len(streams[0]):>5.0%} {bound * 1e6:>9.2f}"
        line += f" {step / bound:>11.2f} {append * 1e6:>9.2f} {append / bound:>13.2f}"
        if n_atoms <= BRUTE_FORCE_UP_TO:
            brute = steady.brute_force(streams[0][:1])
            line += f" {brute * 1e6:>13.0f} {brute / step:>9.0f}"
        else:
            line += f" {'not run':>13}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
