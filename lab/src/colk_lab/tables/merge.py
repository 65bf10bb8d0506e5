"""Learners of shards merged in information form, compared with one learner of all samples.

    python -m colk_lab.tables merge            three seeds; 2 and 8 shards
    python -m colk_lab.tables merge --quick    one seed

Each problem has 6,000 samples, and 4,000 others for the test loss. The shards are alike, or sorted
by the first feature, so that no two of them see the same region; inside a shard the samples come in
random order. The numbers are test losses divided by that of one `NewtonCOLK` of all samples with
the same settings: the mean of all seeds, and the largest in brackets. The last column is the
largest certificate relative to the norm of the function.
"""

import argparse

import numpy as np
from sklearn.datasets import make_friedman1

import colk
from colk.compressors import KOMP
from colk.kernels import Gaussian, Kernel, Matern
from colk.learners import NewtonCOLK
from colk.losses import Huber, Logistic, Loss, Squared
from colk_lab.tables.output import publish, table

TRAINING, TEST, MOST_ATOMS = 6000, 4000, 200
SHARDS = (2, 8)


def friedman(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(TRAINING + TEST, noise=1.0, random_state=int(rng.integers(2**31)))
    return X, (y - y.mean()) / y.std()


def wave(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.random((TRAINING + TEST, 1))
    return X, np.sin(12.0 * X[:, 0]) + 0.3 * rng.normal(size=len(X))


def classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(TRAINING + TEST, 2))
    noise = 0.5 * rng.normal(size=len(X))
    return X, np.where(X[:, 0] ** 2 + 0.5 * X[:, 1] + noise > 0.7, 1.0, -1.0)


PROBLEMS = {
    "Friedman 1, Huber": (friedman, Matern(1.5), Huber(1.0)),
    "wave, squared": (wave, Gaussian(0.1), Squared()),
    "two classes, logistic": (classes, Gaussian(1.0), Logistic()),
}


def learner(kernel: Kernel, loss: Loss) -> NewtonCOLK:
    return NewtonCOLK(kernel, loss, compressor=KOMP(eps=0.05, max_atoms=MOST_ATOMS))


def ratios(name: str, is_sorted: bool, seed: int) -> list[tuple[float, float]]:
    """Return for each number of shards the ratio of losses, and the relative certificate."""
    make, kernel, loss = PROBLEMS[name]
    rng = np.random.default_rng(seed)
    X, y = make(rng)
    test, X, y_test, y = X[TRAINING:], X[:TRAINING], y[TRAINING:], y[:TRAINING]

    def test_loss(model: NewtonCOLK) -> float:
        return float(np.mean(loss.value(model.predict(test)[:, None], y_test[:, None])))

    whole, found = test_loss(learner(kernel, loss).learn(X, y)), []
    order = np.argsort(X[:, 0], kind="stable") if is_sorted else np.arange(TRAINING)
    for shards in SHARDS:
        parts = [rng.permutation(rows) for rows in np.array_split(order, shards)]
        merged = colk.merge([learner(kernel, loss).learn(X[rows], y[rows]) for rows in parts])
        norm = merged.model.function.norm()
        found.append((test_loss(merged.model) / whole, merged.error / norm))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    seeds = range(1 if parser.parse_args().quick else 3)
    rows = []
    for name in PROBLEMS:
        for is_sorted in (False, True):
            each = np.array([ratios(name, is_sorted, seed) for seed in seeds])
            mean, worst = each.mean(axis=0)[:, 0], each.max(axis=0)
            label = "sorted" if is_sorted else "alike"
            found = zip(mean, worst[:, 0], strict=True)
            rows.append([name, label, *(f"{m:.3f} ({w:.3f})" for m, w in found)])
            rows[-1].append(f"{worst[:, 1].max():.2f}")
            print(rows[-1], flush=True)
    columns = ["problem", "shards", *(f"{shards} shards" for shards in SHARDS)]
    columns.append("largest certificate / norm")
    if len(seeds) > 1:
        publish("merge", columns, rows)
    else:
        print(table(columns, rows))


if __name__ == "__main__":
    main()
