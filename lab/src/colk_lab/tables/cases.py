"""The cases on which `engines.py` compares two installations of the package.

All cases use only public names, so that they run with both installations.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from colk.compressors import KOMP
from colk.kernels import KERNELS, Constant, Gaussian, Kernel, Laplacian, Linear, Matern, Polynomial
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
    RandomFeatureSGD,
)
from colk.losses import Huber, Softmax, Squared
from colk.risks import Mean, Variance
from colk.rl import LinearQuadratic, PolicyEvaluator, simulate
from colk_lab.tables.streams import SEED, by_chunks, cube, named, one_by_one, wave
from colk_lab.tables.turns import Job

try:
    from colk.rkhs.features import RBFNetwork
except ModuleNotFoundError:  # versions before colk.rkhs, to compare with
    from colk.features import RBFNetwork

# No case may be slower than this, relative to the other installation.
REQUIRED = 0.97

# Chunks between the end of a warm-up and the first repetition.
CHUNKS = 20

MEAN, VARIANCE = Mean(), Variance(0.1)


class Ready(NamedTuple):
    """A job after its warm-up, the number of samples in a run, and a function for its size."""

    job: Job
    samples: int
    model: Any


class Case(NamedTuple):
    """A row of the table: its name, the speedup that it must reach, and how to create it."""

    name: str
    asked: float
    prepare: Callable[[], Ready]


def cases() -> Iterator[Case]:
    """Return every case, in the order of the table."""
    for family in (small, large, outputs, kernels, methods, batches, predictions, one_sample):
        yield from family()


# -- preparation of a case ----------------------------------------------------------------------


def learning(model: Any, data: Callable[[int], tuple], warm: int, chunk: int) -> Ready:
    arrays = data(warm + CHUNKS * chunk)
    return Ready(by_chunks(model.learn, arrays, warm, chunk), chunk, model)


def predicting(
    model: Any, data: Callable[[int], tuple], warm: int, n_points: int = 100_000
) -> Ready:
    X, y = data(warm + n_points)
    model.learn(X[:warm], y[:warm])
    return Ready(lambda: model.predict(X[warm:]), n_points, model)


def single_samples(learn_one: Callable, samples: list, model: Any, chunk: int = 500) -> Ready:
    warm = len(samples) - CHUNKS * chunk
    return Ready(one_by_one(learn_one, samples, warm, chunk), chunk, model)


def cube_of(n_features: int) -> Callable[[int], tuple]:
    return lambda n: cube(n, n_features)


# -- learners in the whole loop -----------------------------------------------------------------


# Compressors of the small learners. With the first one the data decide on the number of atoms, and
# two versions of the package may decide differently; with the second one it is 24 for both.
FREE, FULL = KOMP(parsimony=0.6), KOMP(max_atoms=24)


def small_learner(
    loss: Any = None, risk: Any = MEAN, compressor: KOMP = FREE, **settings: Any
) -> COLK:
    """Return a learner of `wave` that settles at about 24 atoms."""
    return COLK(
        Gaussian(0.06),
        Huber(1.0) if loss is None else loss,
        risk,
        step_size=0.02,
        tracking_rate=0.01,
        compressor=compressor,
        **settings,
    )


def large_colk(n_atoms: int, risk: Any = MEAN) -> COLK:
    """Return a learner of `cube` in 8 features with a full dictionary."""
    compressor = KOMP(eps=0.05, max_atoms=n_atoms)
    return COLK(Gaussian(0.4), Huber(1.0), risk, step_size=0.5, compressor=compressor)


def small() -> Iterator[Case]:
    for loss in (Huber(1.0), Squared()):
        for word, risk in (("mean", MEAN), ("variance, pairs", VARIANCE)):
            for tail, settings in (("", {}), (", no averaging", {"averaging": None})):
                for size, compressor in (("M ≈ 24", FREE), ("M = 24", FULL)):
                    make = partial(small_learner, loss, risk, compressor, **settings)
                    yield Case(
                        f"{size}, {word}, {type(loss).__name__}{tail}",
                        REQUIRED,
                        lambda make=make: learning(make(), wave, 10_000, 2000),
                    )


def large() -> Iterator[Case]:
    for n_atoms in (100, 200, 500, 1000):
        for word, risk in (("mean", MEAN), ("variance, pairs", VARIANCE)):
            make = partial(large_colk, n_atoms, risk)
            warm, chunk = max(3000, 6 * n_atoms), max(100_000 // n_atoms, 200)
            yield Case(
                f"8 features, M = {n_atoms}, {word}",
                REQUIRED,
                lambda make=make, warm=warm, chunk=chunk: learning(make(), cube_of(8), warm, chunk),
            )


def three_outputs(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = cube(n, 2)
    return X, np.stack([y, np.cos(4 * X[:, 0]), X[:, 1] ** 2], axis=1)


def five_classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, _ = cube(n, 2)
    return X, np.floor(2.5 * X.sum(axis=1)).clip(0, 4)


def outputs() -> Iterator[Case]:
    komp = KOMP(eps=0.01, max_atoms=50)
    for word, risk in (("mean", MEAN), ("variance, pairs", VARIANCE)):
        three = partial(COLK, Gaussian(0.15), Squared(), risk, compressor=komp)
        five = partial(COLK, Gaussian(0.15), Softmax(), risk, compressor=komp, n_outputs=5)
        yield Case(
            f"3 outputs, M = 50, {word}",
            REQUIRED,
            lambda make=three: learning(make(), three_outputs, 3000, 1000),
        )
        yield Case(
            f"softmax of 5 classes, M = 50, {word}",
            REQUIRED,
            lambda make=five: learning(make(), five_classes, 3000, 1000),
        )


def kernels_in_dimension() -> dict[str, tuple[Kernel, int]]:
    """Return all registered kernels and two combinations, with enough features for 50 atoms.

    A constant spans one dimension, and a linear kernel spans one for each feature.
    """
    chosen: dict[str, tuple[Kernel, int]] = {
        "constant": (Constant(1.0), 1),
        "linear": (Linear(), 50),
        "polynomial": (Polynomial(3), 5),
    }
    for name, kernel in KERNELS.items():
        if name not in chosen:
            chosen[name] = (kernel(0.2), 2)
    chosen["gaussian + linear"] = (Gaussian(0.15) + Linear(), 2)
    chosen["laplacian * matern"] = (Laplacian(0.4) * Matern(0.4, nu=2.5), 2)
    return chosen


def kernel_learner(kernel: Kernel, n_features: int) -> COLK:
    # κ(x, x) of inner-product kernels grows with the number of features, so the step shrinks.
    middle = np.full((1, n_features), 0.6)
    step_size = 0.1 / max(kernel(middle, middle)[0, 0], 1.0)
    return COLK(kernel, Huber(1.0), step_size=step_size, compressor=KOMP(eps=1e-3, max_atoms=50))


def kernels() -> Iterator[Case]:
    for name, (kernel, p) in kernels_in_dimension().items():
        make = partial(kernel_learner, kernel, p)
        yield Case(
            f"kernel {name}",
            REQUIRED,
            lambda make=make, p=p: learning(make(), cube_of(p), 3000, 1000),
        )


def with_most_atoms(method: type, older: str, *terms: Any, n_atoms: int, **settings: Any) -> Any:
    """Return a learner with at most `n_atoms`; older versions name this setting differently."""
    try:
        return method(*terms, max_atoms=n_atoms, **settings)
    except TypeError:
        return method(*terms, **{older: n_atoms}, **settings)


def methods(size: int = 50) -> Iterator[Case]:
    kernel, loss = Gaussian(0.05), Squared()
    komp = KOMP(max_atoms=size)
    network = RBFNetwork(size, 0.2, (0.0, 0.0), (1.0, 1.0))
    limited = partial(with_most_atoms, n_atoms=size)
    makers = {
        "COLK": lambda: COLK(kernel, loss, VARIANCE, compressor=komp),
        "POLK": lambda: POLK(kernel, loss, compressor=komp),
        "NORMA": lambda: limited(NORMA, "truncation", kernel, loss),
        "NPBSGD, removal": lambda: limited(NPBSGD, "budget", kernel, loss, horizon=10**9),
        "NPBSGD, projection": lambda: limited(
            NPBSGD, "budget", kernel, loss, horizon=10**9, maintenance="projection"
        ),
        "SCGD": lambda: SCGD(network, loss, VARIANCE),
        "AcceleratedSCGD": lambda: AcceleratedSCGD(network, loss, VARIANCE),
        "NASA": lambda: NASA(network, loss, VARIANCE),
        "RandomFeatureSGD": lambda: RandomFeatureSGD(kernel, loss, size),
    }
    for way in ("removal", "projection", "merging"):
        makers[f"BSGD, {way}"] = lambda way=way: limited(
            BSGD, "budget", kernel, loss, maintenance=way
        )
        makers[f"CompositionalBSGD, {way}"] = lambda way=way: limited(
            CompositionalBSGD, "budget", kernel, loss, VARIANCE, maintenance=way
        )
    for name in sorted(makers):
        yield Case(
            f"{name}, M = {size}",
            REQUIRED,
            lambda make=makers[name]: learning(make(), cube_of(2), 2000, 1000),
        )
    yield Case(f"DoublySGD, {4 * size} steps", REQUIRED, lambda: doubly(4 * size))
    yield Case("PolicyEvaluator, M ≈ 50", REQUIRED, policy)


def doubly(n_steps: int) -> Ready:
    """Return the job of DoublySGD. It has no budget, so every run starts from scratch."""
    X, y = cube(n_steps, 2)

    def job() -> None:
        DoublySGD(Gaussian(0.05), Squared()).learn(X, y)

    job()
    return Ready(job, n_steps, None)


def policy() -> Ready:
    evaluator = PolicyEvaluator(Gaussian(0.5), 0.9, compressor=KOMP(eps=1e-3, max_atoms=50))
    return learning(
        evaluator, lambda n: simulate(LinearQuadratic.spiral(2), n, seed=SEED), 20_000, 1000
    )


def large_learner(n_atoms: int, batch_size: int) -> POLK:
    """Return a learner of `cube` in 4 features whose dictionary stays at `n_atoms`."""
    # A batch uses the mean of its gradients, so each point moves by 1/32, and eps scales with it.
    compressor = KOMP(eps=0.05 / batch_size, max_atoms=n_atoms)
    return POLK(Gaussian(0.15), step_size=0.5, compressor=compressor, batch_size=batch_size)


def batches() -> Iterator[Case]:
    for size in (1, 32):
        make = partial(large_learner, 1000, size)
        name = "steps of one" if size == 1 else f"mini-batches of {size}"
        yield Case(
            f"POLK, 4 features, M = 1000, {name}",
            REQUIRED,
            lambda make=make: learning(make(), cube_of(4), 8000, 512),
        )


def predictions() -> Iterator[Case]:
    for size, compressor in (("M ≈ 24", FREE), ("M = 24", FULL)):
        yield Case(
            f"predict 10⁵ points, 1 feature, {size}",
            REQUIRED,
            lambda by=compressor: predicting(small_learner(compressor=by), wave, 10_000),
        )
    yield Case(
        "predict 10⁵ points, 8 features, M = 200",
        REQUIRED,
        lambda: predicting(large_colk(200), cube_of(8), 3000),
    )


# -- one sample at a time -----------------------------------------------------------------------


def learn_one(compressor: KOMP = FREE, chunk: int = 500) -> Ready:
    X, y = wave(10_000 + CHUNKS * chunk)
    learner = small_learner(compressor=compressor).learn(X[:10_000], y[:10_000])
    samples = list(zip(X[10_000:], y[10_000:].tolist(), strict=True))
    return single_samples(learner.learn_one, samples, learner, chunk)


def partial_fit(chunk: int = 50) -> Ready:
    """Return a job that calls `partial_fit` with one row; only the kernel is not the default."""
    from colk import COLKRegressor

    X, y = wave(3000 + CHUNKS * chunk)
    model = COLKRegressor(kernel="gaussian", bandwidth=0.06).partial_fit(X[:3000], y[:3000])
    rows = [(X[i : i + 1], y[i : i + 1]) for i in range(3000, len(X))]
    return single_samples(model.partial_fit, rows, model, chunk)


def river_case(
    n_features: int, kernel: str = "laplacian", solver: str = "gradient", chunk: int = 500
) -> Ready:
    from colk import river

    model = river.COLKRegressor(kernel=kernel, solver=solver, max_atoms=50)
    samples = named(3000 + CHUNKS * chunk, n_features)
    return single_samples(model.learn_one, samples, model, chunk)


def one_sample() -> Iterator[Case]:
    for size, compressor in (("M ≈ 24", FREE), ("M = 24", FULL)):
        yield Case(f"learner.learn_one, {size}", REQUIRED, partial(learn_one, compressor))
    yield Case("COLKRegressor.partial_fit, one row", REQUIRED, partial_fit)
    for n_features in (1, 5, 20):
        yield Case(
            f"River's learn_one, features: {n_features}",
            REQUIRED,
            lambda p=n_features: river_case(p),
        )
