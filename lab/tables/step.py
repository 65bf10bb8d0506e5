"""Time of a COLK step, relative to a lower bound and to another library, all in one run.

The lower bound ("floor") of an exact step is, for each sample, one kernel column of M evaluations
and two triangular products, M² multiply-adds together, with one thread of BLAS. Small triangles are
multiplied with many columns at once, which a stream cannot do. The floor therefore shows the speed
of the processor, and a step cannot reach it.

    python lab/tables/step.py
"""

import os

import numpy as np
from scipy.linalg.blas import dtrmm, dtrmv
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor
from streams import SEED, by_chunks, cube, wave
from threadpoolctl import threadpool_limits
from turns import Job, best_times

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK, POLK
from colk.losses import Squared
from colk.risks import CentralMoments

N, CHUNK = 24000, 2000
LARGE, BATCH = 1000, 32


def small_dictionary() -> None:
    X, y = wave(N)
    settings = {"step_size": 0.02, "compressor": KOMP(parsimony=0.6)}
    pairs = COLK(Gaussian(0.06), Squared(), CentralMoments(4, 0.1), tracking_rate=0.01, **settings)
    single = POLK(Gaussian(0.06), Squared(), **settings)
    pairs.learn(X, y)
    single.learn(X, y)
    part, targets = X[:CHUNK], y[:CHUNK]
    function = pairs.function
    with threadpool_limits(1):
        times = best_times(
            lambda: pairs.learn(part, targets),
            lambda: single.learn(part, targets),
            lambda: function(part),
            products_job(pairs.n_atoms, CHUNK),
            peer_job(X, y),
        )
    paired, sample, column, products, peer = (seconds / CHUNK for seconds in times)
    floor = column + products
    print(f"COLK, pairs, moments to order 4: M = {pairs.n_atoms}; for each sample")
    print(f"  M kernel evaluations   {column * 1e9:8.0f} ns")
    print(f"  M² multiply-adds       {products * 1e9:8.0f} ns")
    print(f"  half of a pair's step  {paired * 1e9:8.0f} ns, {paired / floor:.1f} times the floor")
    print(f"POLK: M = {single.n_atoms}")
    print(f"  a step                 {sample * 1e9:8.0f} ns, {sample / floor:.1f} times the floor")
    print(f"RBFSampler(50) + SGDRegressor, blocks of 100: {peer * 1e6:.2f} µs per sample")
    print(f"  COLK handles {peer / paired:.1f} times the samples per second (required: 30)")
    print(f"  POLK handles {peer / sample:.1f} times the samples per second (required: 30)")


def peer_job(X: np.ndarray, y: np.ndarray) -> Job:
    sampler = RBFSampler(gamma=1 / (2 * 0.06**2), n_components=50, random_state=SEED).fit(X[:100])
    model = SGDRegressor(random_state=SEED)

    def job() -> None:
        for start in range(0, CHUNK, 100):
            block = slice(start, start + 100)
            model.partial_fit(sampler.transform(X[block]), y[block])

    return job


def triangle(n_atoms: int) -> np.ndarray:
    return np.asfortranarray(np.triu(np.random.default_rng(SEED).random((n_atoms, n_atoms))))


def products_job(n_atoms: int, n_columns: int) -> Job:
    """Return a job: both triangular products with `n_columns` columns at once."""
    factor = triangle(n_atoms)
    panel = np.asfortranarray(np.ones((n_atoms, n_columns)))

    def job() -> None:
        dtrmm(1.0, factor, panel, trans_a=1)
        dtrmm(1.0, factor, panel)

    return job


def vector_job(n_atoms: int) -> Job:
    """Return a job: both triangular products with one column."""
    factor, vector = triangle(n_atoms), np.ones(n_atoms)

    def job() -> None:
        dtrmv(factor, vector, trans=1)
        dtrmv(factor, vector)

    return job


def large_learner(n_atoms: int, batch_size: int, trace: bool = False) -> POLK:
    """Return a learner of `cube` in 4 features whose dictionary stays at `n_atoms`."""
    # A batch uses the mean of its gradients, so each point moves by 1/32, and eps scales with it.
    compressor = KOMP(eps=0.05 / batch_size, max_atoms=n_atoms)
    return POLK(
        Gaussian(0.15), step_size=0.5, compressor=compressor, batch_size=batch_size, trace=trace
    )


def large_dictionary(rounds: int = 24, chunk: int = 512, warm: int = 8000) -> None:
    X, y = cube(warm + chunk * rounds, 4)
    learners = {size: large_learner(LARGE, size, trace=True) for size in (1, BATCH)}
    jobs = [by_chunks(learner.learn, (X, y), warm, chunk) for learner in learners.values()]
    single, batch = (seconds / chunk for seconds in best_times(*jobs, rounds=rounds, repeats=1))
    print(f"POLK at a large dictionary, 4 features, {os.cpu_count()} cores for BLAS")
    for (size, learner), seconds in zip(learners.items(), (single, batch), strict=True):
        added = learner.trace.added[warm // size :].sum() / (chunk * rounds)
        print(
            f"  batch of {size:2d}: M = {learner.n_atoms}, {added:.3f} atoms added per sample, "
            f"{seconds * 1e6:7.1f} µs per sample"
        )
    print(f"  mini-batches are {single / batch:.1f} times faster per sample (required: 2.5)")
    function = learners[1].function
    (panel,) = best_times(products_job(LARGE, BATCH))
    with threadpool_limits(1):
        vector, columns = best_times(vector_job(LARGE), lambda: function(X[:chunk]))
    column = columns / chunk
    print(f"  M kernel evaluations                 {column * 1e6:7.1f} µs per sample")
    print(
        f"  M² multiply-adds, a column at a time {vector * 1e6:7.1f} µs per sample: "
        f"single steps take {single / (column + vector):.1f} times the floor"
    )
    panel /= BATCH
    print(
        f"  M² multiply-adds, {BATCH} at a time      {panel * 1e6:7.1f} µs per sample: "
        f"mini-batches take {batch / (column + panel):.1f} times the floor"
    )


if __name__ == "__main__":
    small_dictionary()
    large_dictionary()
