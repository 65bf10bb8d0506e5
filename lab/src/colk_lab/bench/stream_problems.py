"""Streams: data sets that come with River, and generators with and without drift."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from river import datasets
from river.datasets import synth

__all__ = ["CLASSIFICATION_STREAMS", "REGRESSION_STREAMS", "Sample", "StreamProblem", "friedman"]

Sample = tuple[dict[str, Any], Any]


@dataclass(frozen=True)
class StreamProblem:
    """A problem whose samples are a stream.

    Parameters
    ----------
    name : str
        Name in the tables.
    make : callable
        Returns the samples for a number of samples and a seed; data sets ignore both.
    size : int
        Number of samples in a full run.
    is_drawn : bool, default=True
        Whether the stream depends on the seed.
    note : str, default=""
        A fact that a reader must know.
    cost : float, default=1.0
        Time per sample, relative to other streams.
    """

    name: str
    make: Callable[[int, int], Iterable[Sample]]
    size: int
    is_drawn: bool = True
    note: str = ""
    cost: float = 1.0

    def samples(self, seed: int, size: int) -> list[Sample]:
        """Return the first samples."""
        found = []
        for sample, _ in zip(self.make(size, seed), range(size), strict=False):
            found.append(sample)
        return found


def _named(X: Any, y: Any) -> Iterator[Sample]:
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        yield {f"x{j}": value for j, value in enumerate(x)}, target


def friedman(size: int, seed: int) -> Iterator[Sample]:
    """Yield samples of Friedman's first function of ten features, with noise 1."""
    rng = np.random.default_rng([seed, 1])
    X = rng.random((size, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return _named(X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=size))


def _wave(size: int, seed: int) -> Iterator[Sample]:
    """Yield samples of a travelling wave, a function that changes all the time."""
    rng = np.random.default_rng([seed, 2])
    X = rng.uniform(-2.0, 2.0, size=(size, 2))
    phase = 4.0 * np.pi * np.arange(size) / size
    y = np.sin(2.0 * X[:, 0] + phase) + X[:, 1] * np.cos(phase) + 0.2 * rng.normal(size=size)
    return _named(X, y)


def _walk(size: int, seed: int) -> Iterator[Sample]:
    """Yield a random walk, with its last three values as features."""
    rng = np.random.default_rng([seed, 3])
    path = np.cumsum(rng.normal(size=size + 3))
    return _named(np.column_stack([path[k : k + size] for k in range(3)]), path[3 : size + 3])


def _drifting_friedman(size: int, seed: int) -> Iterable[Sample]:
    third = size // 3
    found: Iterable[Sample] = synth.FriedmanDrift("gra", (third, 2 * third), size // 18, seed=seed)
    return found


def _rbf(size: int, seed: int) -> Iterable[Sample]:
    found: Iterable[Sample] = synth.RandomRBFDrift(
        seed_model=seed, seed_sample=seed, n_classes=4, n_features=6, n_centroids=20,
        change_speed=0.001, n_drift_centroids=10,
    )  # fmt: skip
    return found


def _sea(size: int, seed: int) -> Iterator[Sample]:
    """Yield four concepts one after the other, with a tenth of the labels wrong."""
    for variant in (0, 2, 3, 1):
        yield from synth.SEA(variant=variant, seed=seed + variant, noise=0.1).take(size // 4)


def _hyperplane(size: int, seed: int) -> Iterable[Sample]:
    found: Iterable[Sample] = synth.Hyperplane(
        seed=seed, n_features=10, n_drift_features=5, mag_change=0.002, noise_percentage=0.05
    )
    return found


def _of(dataset: Callable[[], Iterable[Sample]]) -> Callable[[int, int], Iterable[Sample]]:
    return lambda size, seed: dataset()


_SEEN = "River's data; defaults of colk were compared on them."

REGRESSION_STREAMS = {
    each.name: each
    for each in (
        StreamProblem("Friedman", friedman, 3600, cost=1.2),
        StreamProblem("Friedman, gradual drift", _drifting_friedman, 3600, cost=1.1),
        StreamProblem("travelling wave", _wave, 3000, cost=0.65),
        StreamProblem(
            "random walk", _walk, 2000, note="“No change” is the best prediction.", cost=0.8
        ),
        StreamProblem("TrumpApproval", _of(datasets.TrumpApproval), 1001, False, _SEEN, 0.6),
        StreamProblem("ChickWeights", _of(datasets.ChickWeights), 578, False, _SEEN, 0.5),
    )
}

CLASSIFICATION_STREAMS = {
    each.name: each
    for each in (
        StreamProblem("Bananas", _of(datasets.Bananas), 5300, False, _SEEN, 0.5),
        StreamProblem("Phishing", _of(datasets.Phishing), 1250, False, _SEEN, 0.5),
        StreamProblem("ImageSegments", _of(datasets.ImageSegments), 2310, False, _SEEN, 1.6),
        StreamProblem("SEA, four concepts", _sea, 3000, cost=0.6),
        StreamProblem("moving centres", _rbf, 3000, cost=0.7),
        StreamProblem(
            "turning plane", _hyperplane, 3000, note="The class boundary is linear.", cost=0.7
        ),
    )
}
