"""How fast a COLK step is, as ratios to a kernel column and to a peer, all in one run.

    python benchmarks/step.py
"""

import time
from collections.abc import Callable

import numpy as np

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


def best_time(job: Callable[[], object], repeats: int = 7) -> float:
    """Least seconds of several runs: what the machine can do when it is left alone."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


@stepper
def columns(program, atoms, n, X, out, work):
    total = 0.0
    for i in range(X.shape[0]):
        column(program, atoms, n, X[i], out, work)
        total += out[0]
    return total


def stream(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 1))
    y = 2 * X[:, 0] + 3 * np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, y


def column_time(dictionary: Dictionary, X: np.ndarray) -> float:
    d = dictionary.buffers
    out = np.empty(dictionary.capacity)
    arguments = (d.program, d.atoms, dictionary.size, X, out, d.work)
    columns(*arguments)
    return best_time(lambda: columns(*arguments)) / len(X)


def small_dictionary() -> None:
    X, y = stream()
    settings = {"step_size": 0.02, "compressor": KOMP(parsimony=5.0)}

    def colk() -> COLK:
        return COLK(Gaussian(0.06), Squared(), CentralMoments(4, 0.1), tracking_rate=0.01, **settings)

    def polk() -> POLK:
        return POLK(Gaussian(0.06), Squared(), **settings)

    warm = colk().learn(X, y)
    per_step = best_time(lambda: warm.learn(X, y)) / (N / 2)
    one_column = column_time(warm._dictionary, X)
    print(f"COLK, pairs, moments to order 4: M = {warm.n_atoms}")
    print(f"  kernel column             {one_column * 1e9:8.0f} ns")
    print(f"  step with its two samples {per_step * 1e9:8.0f} ns = {per_step / one_column:.1f} columns")
    single = polk().learn(X, y)
    per_sample = best_time(lambda: single.learn(X, y)) / N
    print(f"POLK: M = {single.n_atoms}, {per_sample * 1e9:.0f} ns a sample")
    peer = best_time(lambda: peer_run(X, y), repeats=3) / N
    print(f"RBFSampler(50) + SGDRegressor, blocks of 100: {peer * 1e6:.2f} µs a sample")
    print(f"  COLK handles {peer / (per_step / 2):.1f} times, POLK {peer / per_sample:.1f} times the samples a second")


def peer_run(X: np.ndarray, y: np.ndarray) -> None:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDRegressor

    sampler = RBFSampler(gamma=1 / (2 * 0.06**2), n_components=50, random_state=SEED).fit(X[:100])
    model = SGDRegressor(random_state=SEED)
    for start in range(0, len(X), 100):
        block = slice(start, start + 100)
        model.partial_fit(sampler.transform(X[block]), y[block])


def large_dictionary(n_atoms: int = 1000) -> None:
    rng = np.random.default_rng(SEED)
    X = rng.random((12000, 4))
    y = np.sin(5 * X).sum(axis=1) + 0.1 * rng.normal(size=len(X))
    print(f"POLK at {n_atoms} atoms, 4 features")
    times = {}
    for batch_size in (1, 32):
        learner = POLK(
            Gaussian(0.15), step_size=0.5, compressor=KOMP(eps=1e-3, max_atoms=n_atoms), batch_size=batch_size
        )
        learner.learn(X[:6000], y[:6000])
        chunk = slice(6000, 8048)
        times[batch_size] = best_time(lambda: learner.learn(X[chunk], y[chunk]), repeats=3) / 2048
        print(f"  batch of {batch_size:2d}: M = {learner.n_atoms}, {times[batch_size] * 1e6:7.1f} µs a sample")
    print(f"  mini-batches are {times[1] / times[32]:.1f} times faster a sample")


if __name__ == "__main__":
    small_dictionary()
    large_dictionary()
