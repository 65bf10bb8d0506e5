"""forgetting="auto" on streams, compared with gradient steps and fixed rates of forgetting.

    python -m colk_lab.tables newton_streams --data FOLDER

The table shows the mean absolute error, or the share of mistakes, of predictions before each sample
is learned. Features and targets are standardised by the samples before. All models have the
Laplacian kernel at its standard bandwidth, the Huber, logistic or softmax loss, and at most 200
atoms. "Ratio" is the error of "auto" divided by the smallest error of the others; for labels it is
the best accuracy of the others divided by that of "auto". The constants of "auto" were chosen on
bike, River's streams and other seeds of the generated ones.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets
from river.datasets import synth

from colk.compressors import KOMP
from colk.kernels import Laplacian
from colk.learners import POLK, NewtonCOLK
from colk.losses import Huber, Logistic, Loss, Softmax
from colk.losses.scale import loss_scale
from colk.model.defaults import eps_share
from colk_lab.tables.data import bike
from colk_lab.tables.output import publish

RATES = (1.0, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
SIZE = 8000

Stream = tuple[np.ndarray, list[Any]]
Maker = Callable[[Laplacian, Loss, int | None], Any]


def tabled(stream: Any) -> Stream:
    samples = list(stream)
    names = sorted({name for x, _ in samples for name in x})
    rows = [[float(x.get(name, 0.0)) for name in names] for x, _ in samples]
    return np.array(rows), [y for _, y in samples]


def walk(seed: int) -> Stream:
    """Twenty bumps whose heights are random walks."""
    rng = np.random.default_rng(seed)
    X, places = rng.normal(size=(SIZE, 3)), rng.uniform(-1.5, 1.5, size=(20, 3))
    heights = np.cumsum(0.05 * rng.normal(size=(SIZE, 20)), axis=0)
    bumps = np.exp(-0.5 * ((X[:, None] - places) ** 2).sum(axis=2))
    return X, list((bumps * heights).sum(axis=1) + 0.1 * rng.normal(size=SIZE))


def wave(seed: int) -> Stream:
    """A travelling wave."""
    rng = np.random.default_rng(seed)
    X, phases = rng.normal(size=(SIZE, 2)), 12.0 * np.arange(SIZE) / SIZE
    return X, list(np.sin(1.5 * X[:, 0] + phases) + np.cos(X[:, 1]) + 0.2 * rng.normal(size=SIZE))


def reversals(seed: int) -> Stream:
    """A function that changes its sign three times."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(SIZE, 4)), np.where(np.arange(SIZE) // (SIZE // 4) % 2, -1.0, 1.0)
    return X, list(signs * np.sin(X.sum(axis=1)) + 0.3 * X[:, 0] + 0.2 * rng.normal(size=SIZE))


def rotating(seed: int) -> Stream:
    """Two classes with a rotating boundary."""
    rng = np.random.default_rng(seed)
    X, angles = rng.normal(size=(SIZE, 2)), 3.0 * np.pi * np.arange(SIZE) / SIZE
    side = np.cos(angles) * X[:, 0] + np.sin(angles) * X[:, 1] + 0.2 * rng.normal(size=SIZE)
    return X, (side > 0.0).tolist()


def still(seed: int) -> Stream:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SIZE, 4))
    f = np.sin(1.5 * X[:, 0]) + X[:, 1] * np.tanh(X[:, 2])
    return X, list(f + 0.3 * rng.normal(size=SIZE))


def streams(folder: Path | None) -> dict[str, tuple[Callable[[], Stream], int]]:
    drift = synth.FriedmanDrift("gra", (3000, 6000), 500, seed=21)
    return {
        "bike": (lambda: tabled(bike(folder)), 200),
        "bike, 500 atoms": (lambda: tabled(bike(folder)), 500),
        "TrumpApproval": (lambda: tabled(datasets.TrumpApproval()), 200),
        "Bananas (labels)": (lambda: tabled(datasets.Bananas()), 200),
        "Phishing (labels)": (lambda: tabled(datasets.Phishing()), 200),
        "ImageSegments (labels)": (lambda: tabled(datasets.ImageSegments()), 200),
        "Friedman": (lambda: tabled(synth.Friedman(seed=21).take(SIZE)), 200),
        "still": (lambda: still(21), 200),
        "FriedmanDrift": (lambda: tabled(drift.take(9000)), 200),
        "random walk": (lambda: walk(21), 200),
        "travelling wave": (lambda: wave(22), 200),
        "reversals": (lambda: reversals(23), 200),
        "turning border (labels)": (lambda: rotating(24), 200),
    }


def standardised(X: np.ndarray) -> np.ndarray:
    """Standardise each row by mean and standard deviation of the rows up to it."""
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(X * X, axis=0) / count - mean * mean, 0.0))
    known = spread > 1e-9
    return np.where(known, (X - mean) / np.where(known, spread, 1.0), 0.0)


def mistakes(make: Maker, X: np.ndarray, y: list[Any]) -> float:
    labels = sorted(set(y))
    targets = np.array([float(labels.index(label)) for label in y])
    binary = len(labels) == 2
    if binary:
        learner = make(Laplacian(X.shape[1] / 2.0), Logistic(), None)
        targets = 2.0 * targets - 1.0
    else:
        learner = make(Laplacian(X.shape[1] / 2.0), Softmax(), len(labels))
    wrong = 1
    for t, x in enumerate(standardised(X)):
        if t > 0:
            scores = learner.predict(x[None])[0]
            wrong += (np.sign(scores) if binary else np.argmax(scores)) != targets[t]
        learner.learn(x[None], targets[t : t + 1])
    return wrong / len(y)


def absolute_error(make: Maker, X: np.ndarray, y: list[Any]) -> float:
    learner = make(Laplacian(X.shape[1] / 2.0), Huber(1.0), None)
    total, mean, squares, spread = 0.0, 0.0, 0.0, 1.0
    for t, x in enumerate(standardised(X)):
        guess = mean + spread * learner.predict(x[None])[0] if t > 0 else 0.0
        total += abs(guess - y[t])
        gap = y[t] - mean
        mean += gap / (t + 1)
        squares += gap * (y[t] - mean)
        spread = np.sqrt(squares / (t + 1)) if squares > 0.0 else 1.0
        learner.learn(x[None], [(y[t] - mean) / spread])
    return total / len(y)


def first_order(n_atoms: int) -> Maker:
    def make(kernel: Laplacian, loss: Loss, n_outputs: int | None) -> POLK:
        rule = KOMP(fraction=eps_share(loss), max_atoms=n_atoms)
        return POLK(
            kernel, loss, step_size=1.0 / loss_scale(loss), compressor=rule, averaging=None,
            gradient_bound=10.0 * loss_scale(loss), n_outputs=n_outputs,
        )  # fmt: skip

    return make


def second_order(n_atoms: int, forgetting: Any) -> Maker:
    rule = KOMP(eps=0.05, max_atoms=n_atoms)
    return lambda kernel, loss, n_outputs: NewtonCOLK(
        kernel, loss, forgetting=forgetting, compressor=rule, n_outputs=n_outputs
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with bike_hour.csv")
    rows = []
    for name, (load, n_atoms) in streams(parser.parse_args().data).items():
        X, y = load()
        of_labels = "(labels)" in name
        error = mistakes if of_labels else absolute_error
        first = error(first_order(n_atoms), X, y)
        fixed = [error(second_order(n_atoms, rate), X, y) for rate in RATES]
        auto = error(second_order(n_atoms, "auto"), X, y)
        best = min(first, *fixed)
        ratio = (1.0 - best) / (1.0 - auto) if of_labels else auto / best
        at = RATES[int(np.argmin(fixed))]
        numbers = (f"{value:.4g}" for value in (first, fixed[0], min(fixed)))
        rows.append([name, *numbers, f"{at:g}", f"{auto:.4g}", f"{ratio:.3f}"])
        print(*rows[-1], flush=True)
    columns = ["stream", "first order", "γ = 1", "best fixed γ", "its γ", '"auto"', "ratio"]
    publish("newton_streams", columns, rows)


if __name__ == "__main__":
    main()
