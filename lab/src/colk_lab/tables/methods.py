"""Time per sample of every method at equal size, all in one run.

    python -m colk_lab.tables methods

Methods with atoms have a budget of M atoms, methods with features have M features. DoublySGD has no
budget; it makes as many steps as give M features on average. The table is also written to
docs/tables. The reference is one kernel column of M atoms.
"""

import time
from collections.abc import Callable

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import (
    BSGD,
    COLK,
    NASA,
    NORMA,
    NPBSGD,
    POLK,
    SCGD,
    AcceleratedSCGD,
    CompositionalBSGD,
    DoublySGD,
    OnlineLearner,
    RandomFeatureSGD,
)
from colk.losses import Squared
from colk.risks import Variance
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork
from colk_lab.tables.output import TABLES

SIZES, N, REPEATS, SEED = (50, 200), 1000, 15, 0
TABLE = TABLES / "methods_speed.md"


def stream(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 2))
    return X, np.sin(6.0 * X[:, 0]) * np.cos(4.0 * X[:, 1]) + 0.1 * rng.normal(size=n)


def methods(size: int) -> dict[str, Callable[[], OnlineLearner]]:
    # With a narrow kernel every sample becomes an atom until the budget is full.
    kernel, loss, risk = Gaussian(0.05), Squared(), Variance(0.1)
    komp = KOMP(max_atoms=size)
    network = RBFNetwork(size, 0.2, (0.0, 0.0), (1.0, 1.0))
    return {
        "POLK": lambda: POLK(kernel, loss, compressor=komp, averaging=None),
        "NORMA": lambda: NORMA(kernel, loss, size),
        "BSGD, removal": lambda: BSGD(kernel, loss, size, "removal"),
        "BSGD, merging": lambda: BSGD(kernel, loss, size, "merging"),
        "BSGD, projection": lambda: BSGD(kernel, loss, size, "projection"),
        "NPBSGD, removal": lambda: NPBSGD(kernel, loss, size, horizon=10 * N),
        "NPBSGD, projection": lambda: NPBSGD(kernel, loss, size, 1.0, 10 * N, "projection"),
        "random features": lambda: RandomFeatureSGD(kernel, loss, size, averaging=None),
        "DoublySGD": lambda: DoublySGD(kernel, loss),
        "COLK": lambda: COLK(kernel, loss, risk, compressor=komp, averaging=None),
        "compositional BSGD, removal": lambda: CompositionalBSGD(
            kernel, loss, risk, size, "removal"
        ),
        "compositional BSGD, merging": lambda: CompositionalBSGD(
            kernel, loss, risk, size, "merging"
        ),
        "compositional BSGD, projection": lambda: CompositionalBSGD(
            kernel, loss, risk, size, "projection"
        ),
        "SCGD, RBF network": lambda: SCGD(network, loss, risk),
        "SCGD, Fourier features": lambda: SCGD(RandomFourierFeatures(kernel, size), loss, risk),
        "accelerated SCGD, RBF network": lambda: AcceleratedSCGD(network, loss, risk),
        "NASA, RBF network": lambda: NASA(network, loss, risk),
    }


def microseconds(make: Callable[[], OnlineLearner], n: int) -> float:
    """Return the minimum time per sample of several runs with a full model."""
    X, y = stream(n + 1000)
    times = []
    for _ in range(REPEATS):
        learner = make()
        if not isinstance(learner, DoublySGD):
            learner.learn(X[n:], y[n:])
        start = time.perf_counter()
        learner.learn(X[:n], y[:n])
        times.append(time.perf_counter() - start)
    return 1e6 * min(times) / n


def column_microseconds(size: int) -> float:
    """Return the time of f(x) for `size` atoms: one kernel column and its weights."""
    X, y = stream(N)
    f = KernelExpansion(Gaussian(0.05), X[:size], y[:size])
    f(X)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        f(X)
        times.append(time.perf_counter() - start)
    return 1e6 * min(times) / N


def table() -> str:
    rows = {"one kernel column": [column_microseconds(size) for size in SIZES]}
    for name in methods(SIZES[0]):
        rows[name] = [
            microseconds(methods(size)[name], 2 * size if name == "DoublySGD" else N)
            for size in SIZES
        ]
    lines = [
        "# Learning time in µs per sample",
        "",
        f"Two features, Gaussian kernel, {N} samples, the minimum of {REPEATS} runs. M is the",
        "number of atoms, or of features for methods with features. The compositional methods,",
        "from COLK on, minimise mean plus variance on independent pairs, so a step needs two",
        "samples. The others minimise the mean and make a step with every sample. Made by",
        "`colk_lab.tables.methods`.",
        "",
        "| method | " + " | ".join(f"M = {size}" for size in SIZES) + " |",
        "| --- |" + " --- |" * len(SIZES),
    ]
    lines += [
        f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |"
        for name, values in rows.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = table()
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(text)
    print(text)
