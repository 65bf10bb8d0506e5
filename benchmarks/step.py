"""How fast a COLK step is, as ratios to a kernel column and to a peer, all in one run.

python benchmarks/step.py
"""

import math
import os
import time
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg.blas import dtrmm
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

from colk._core.dictionary import Dictionary
from colk._core.jit import stepper
from colk._core.kernels import column
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, POLK
from colk.losses import Squared
from colk.risks import CentralMoments

SEED = 0
N = 24000


def best_times(*jobs: Callable[[], object], rounds: int = 40, repeats: int = 10) -> list[float]:
    """Least seconds of many short runs of each job, by turns: the machine may be busy for a while.

    What is left is what the machine can do when it is left alone.
    """
    best = [math.inf] * len(jobs)
    for _ in range(rounds):
        for which, job in enumerate(jobs):
            for _ in range(repeats):
                start = time.perf_counter()
                job()
                best[which] = min(best[which], time.perf_counter() - start)
    return best


@stepper
def columns(unit, program, atoms, n, X, out, work):
    total = 0.0
    for i in range(X.shape[0]):
        column(unit, program, atoms, n, X[i], out, work)
        total += out[0]
    return total


@stepper
def plain_columns(scale, atoms, n, X, out):
    """The same, as one would write it, by the C library's exponential."""
    total = 0.0
    for i in range(X.shape[0]):
        for j in range(n):
            difference = (atoms[0, j] - X[i, 0]) * scale
            out[j] = math.exp(-0.5 * difference * difference)
        total += out[0]
    return total


def stream(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 1))
    y = 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, y


def column_jobs(dictionary: Dictionary, X: np.ndarray) -> list[Callable[[], object]]:
    """Columns at the points X in one feature, ours and plain ones."""
    d = dictionary.buffers
    out = np.empty(dictionary.capacity)
    ours = (d.column, d.program, d.atoms, dictionary.size, X, out, d.work)
    plain = (d.program[-1], d.atoms, dictionary.size, X, out)
    assert columns(*ours) == pytest.approx(plain_columns(*plain), rel=1e-12)
    return [lambda: columns(*ours), lambda: plain_columns(*plain)]


def small_dictionary() -> None:
    X, y = stream()
    chunk = slice(0, 2000)
    settings = {"step_size": 0.02, "compressor": KOMP(parsimony=0.6)}
    pairs = COLK(Gaussian(0.06), Squared(), CentralMoments(4, 0.1), tracking_rate=0.01, **settings)
    single = POLK(Gaussian(0.06), Squared(), **settings)
    pairs.learn(X, y)
    single.learn(X, y)
    times = best_times(
        lambda: pairs.learn(X[chunk], y[chunk]),
        lambda: single.learn(X[chunk], y[chunk]),
        *column_jobs(pairs._dictionary, X[chunk]),
        peer_job(X, y),
    )
    step, sample, one_column, plain, peer = (seconds / 2000 for seconds in times)
    step *= 2
    print(f"COLK, pairs, moments to order 4: M = {pairs.n_atoms}")
    print(f"  kernel column              {one_column * 1e9:8.0f} ns")
    print(f"  the C library's exp in it  {plain * 1e9:8.0f} ns")
    print(
        f"  step with its two samples  {step * 1e9:8.0f} ns, {step / one_column:.1f} columns, "
        f"{step / plain:.1f} plain ones"
    )
    print(f"POLK: M = {single.n_atoms}, {sample * 1e9:.0f} ns a sample")
    print(f"RBFSampler(50) + SGDRegressor, blocks of 100: {peer * 1e6:.2f} µs a sample")
    print(f"  COLK handles {2 * peer / step:.1f} times the samples a second")
    print(f"  POLK handles {peer / sample:.1f} times the samples a second")


def peer_job(X: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    sampler = RBFSampler(gamma=1 / (2 * 0.06**2), n_components=50, random_state=SEED).fit(X[:100])
    model = SGDRegressor(random_state=SEED)

    def job() -> None:
        for start in range(0, 2000, 100):
            block = slice(start, start + 100)
            model.partial_fit(sampler.transform(X[block]), y[block])

    return job


def large_learner(X: np.ndarray, y: np.ndarray, n_atoms: int, batch_size: int) -> POLK:
    # A batch takes the mean of its gradients: each point moves by a 32nd, and eps with it.
    compressor = KOMP(eps=0.05 / batch_size, max_atoms=n_atoms)
    learner = POLK(
        Gaussian(0.15), step_size=0.5, compressor=compressor, batch_size=batch_size, trace=True
    )
    return learner.learn(X, y)


def large_dictionary(n_atoms: int = 1000, rounds: int = 24, chunk: int = 512) -> None:
    rng = np.random.default_rng(SEED)
    X = rng.random((8000 + chunk * rounds, 4))
    y = np.sin(5 * X).sum(axis=1) + 0.1 * rng.normal(size=len(X))
    cores = os.cpu_count()
    print(f"POLK at a large dictionary, 4 features, {cores} cores, which BLAS may use")
    learners = {size: large_learner(X[:8000], y[:8000], n_atoms, size) for size in (1, 32)}

    def job(learner: POLK) -> Callable[[], None]:
        chunks = iter(range(8000, len(X), chunk))

        def learn() -> None:
            start = next(chunks)
            learner.learn(X[start : start + chunk], y[start : start + chunk])

        return learn

    jobs = [job(learner) for learner in learners.values()]
    single, batch = (seconds / chunk for seconds in best_times(*jobs, rounds=rounds, repeats=1))
    for (size, learner), seconds in zip(learners.items(), (single, batch), strict=True):
        added = learner.trace.added[8000 // size :].sum() / (chunk * rounds)
        print(
            f"  batch of {size:2d}: M = {learner.n_atoms}, {added:.3f} atoms added a sample, "
            f"{seconds * 1e6:7.1f} µs a sample"
        )
    print(f"  mini-batches are {single / batch:.1f} times faster a sample")
    print(f"  the two BLAS products of a batch take {products(n_atoms) * 1e6:.1f} µs a sample")


def products(n_atoms: int, batch_size: int = 32) -> float:
    """Seconds a sample of the two triangular products of a mini-batch, by BLAS's own threads."""
    rng = np.random.default_rng(SEED)
    triangle = np.asfortranarray(np.triu(rng.random((n_atoms, n_atoms))))
    panel = np.asfortranarray(rng.random((n_atoms, batch_size)))
    there, back = best_times(
        lambda: dtrmm(1.0, triangle, panel, trans_a=1), lambda: dtrmm(1.0, triangle, panel)
    )
    return (there + back) / batch_size


if __name__ == "__main__":
    small_dictionary()
    large_dictionary()
