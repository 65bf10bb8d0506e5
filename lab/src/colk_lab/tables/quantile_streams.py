"""Quantiles of a stream: pinball loss compared with a fit of the same samples, and time.

    python -m colk_lab.tables quantile_streams [--seeds 3]

20,000 samples are learned by `partial_fit`, in chunks of 100, or by `fit`; 10,000 new samples
judge. The settings were chosen on seed 5. Writes docs/tables/quantile_streams.md, and
docs/tables/quantile_streams_time.md with the time of a sample by levels and atoms. Takes about
four minutes of one core per seed.
"""

import argparse
import time

import numpy as np
from sklearn.preprocessing import StandardScaler

from colk import COLKQuantileRegressor
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import QuantileCOLK
from colk.losses import Quantiles
from colk_lab.tables.output import publish
from colk_lab.tables.quantiles import LEVELS, Array, problem

N_TRAIN, N_TEST, CHUNK = 20_000, 10_000, 100


def friedman(size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Friedman's first function with noise 1."""
    X = rng.random((size, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=size)


PROBLEMS = {
    "1 feature, normal": lambda size, rng: problem(1, "normal", size, rng),
    "2 features, skewed": lambda size, rng: problem(2, "skewed", size, rng),
    "5 features, heavy": lambda size, rng: problem(5, "heavy", size, rng),
    "10 features, skewed": lambda size, rng: problem(10, "skewed", size, rng),
    "Friedman 1": friedman,
}


def compare(draw: object, seed: int) -> tuple[float, Array, float, float]:
    """Return the ratio of the losses, the shares below, and microseconds per sample of both."""
    X, y = draw(N_TRAIN + N_TEST, np.random.default_rng(seed))  # type: ignore[operator]
    X = StandardScaler().fit(X[:N_TRAIN]).transform(X)
    start = time.process_time()
    stream = COLKQuantileRegressor(LEVELS, random_state=seed)
    for k in range(0, N_TRAIN, CHUNK):
        stream.partial_fit(X[k : k + CHUNK], y[k : k + CHUNK])
    middle = time.process_time()
    batch = COLKQuantileRegressor(LEVELS, random_state=seed).fit(X[:N_TRAIN], y[:N_TRAIN])
    end = time.process_time()
    found, loss = stream.predict(X[N_TRAIN:]), Quantiles(LEVELS)
    assert (np.diff(found, axis=1) >= 0.0).all()
    losses = [loss.value(F, y[N_TRAIN:]).mean() for F in (found, batch.predict(X[N_TRAIN:]))]
    below = (y[N_TRAIN:, None] <= found).mean(axis=0)
    per_sample = 1e6 / N_TRAIN
    return (
        losses[0] / losses[1],
        below,
        per_sample * (middle - start),
        per_sample * (end - middle),
    )


def times(n_levels: int, n_atoms: int, forgetting: object) -> float:
    """Microseconds per sample of a learner with all its atoms."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 8))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=6000)
    levels = Quantiles(np.linspace(0.05, 0.95, n_levels) if n_levels > 1 else (0.5,))
    learner = QuantileCOLK(
        Gaussian(1.5), levels, forgetting=forgetting, compressor=KOMP(eps=1e-3, max_atoms=n_atoms)
    ).learn(X[:4000], y[:4000])
    start = time.process_time()
    learner.learn(X[4000:], y[4000:])
    return 1e6 * (time.process_time() - start) / 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1000, 1000 + parser.parse_args().seeds)
    rows = []
    for name, draw in PROBLEMS.items():
        runs = [compare(draw, seed) for seed in seeds]
        ratios = [run[0] for run in runs]
        below = np.mean([run[1] for run in runs], axis=0)
        spent = np.mean([run[2:] for run in runs], axis=0)
        rows.append(
            [
                name, f"{np.mean(ratios):.3f}", f"{max(ratios):.3f}",
                *(f"{share:.3f}" for share in below), *(f"{value:.0f}" for value in spent),
            ]
        )  # fmt: skip
        print(rows[-1], flush=True)
    names = [f"below {level:g}" for level in LEVELS]
    columns = ["problem", "loss / fit", "largest", *names, "µs per sample", "µs of the fit"]
    publish("quantile_streams", columns, rows)
    kinds = {"forgetting = 1": 1.0, 'forgetting = "auto"': "auto"}
    lines = [
        [str(levels), str(atoms), *(f"{times(levels, atoms, kind):.1f}" for kind in kinds.values())]
        for levels in (1, 3, 9)
        for atoms in (50, 200, 400)
    ]
    publish("quantile_streams_time", ["levels", "atoms", *kinds], lines)


if __name__ == "__main__":
    main()
