"""Missing features in River's streams: ways to fill them.

    python -m colk_lab.tables river_gaps [--seeds 3]

A fifth of all features is dropped at random, or, in the second half of the table, two fifths of the
values above their medians. The model is `drop_missing | StandardScaler() | COLKRegressor()`, or the
classifier; it fills gaps itself ("colk"). The other columns fill gaps before the scaler: with the
mean so far, with the latest value, and with the expected value given the other features
(`colk._encoding.gaps`, from the latest 300 samples); "flags" adds a feature for each feature that
tells whether it is missing. Error is the mean absolute error, or the share of wrong labels, divided
by that on the stream without gaps. Writes docs/tables/river_gaps.md; takes about ten minutes of one
core.
"""

import argparse
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from river import datasets, preprocessing

from colk._encoding.gaps import FEWEST_ROWS, GapFiller
from colk.data import load_bike_rentals
from colk.river import COLKClassifier, COLKRegressor
from colk_lab.tables.output import publish

Sample = tuple[dict[str, float], Any]
SHARE, LATEST, RENEWED = 0.2, 300, 100


def factors(seed: int) -> Iterator[Sample]:
    """Six features that depend on three factors."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(3, 6))
    for _ in range(3000):
        z = rng.normal(size=3)
        x = z @ loadings + 0.2 * rng.normal(size=6)
        yield dict(zip("abcdef", x.tolist(), strict=True)), np.sin(z[0]) + z[1] * z[2]


def streams(seed: int) -> dict[str, Iterable[tuple[dict[Any, Any], Any]]]:
    return {
        "Friedman": datasets.synth.Friedman(seed=seed).take(3000),
        "TrumpApproval": datasets.TrumpApproval(),
        "ChickWeights": datasets.ChickWeights(),
        "bike rentals": load_bike_rentals()[:3000],
        "three factors": factors(seed),
        "Phishing (labels)": datasets.Phishing(),
        "ImageSegments (labels)": datasets.ImageSegments(),
    }


class Filler:
    """Fills the gaps of a sample in one of several ways."""

    def __init__(self, method: str, names: list[str]) -> None:
        self.method, self.names, self.n_seen = method, names, 0
        self.sums, self.counts = np.zeros(len(names)), np.zeros(len(names))
        self.latest = np.zeros(len(names))
        self.rows: list[np.ndarray] = []
        self.expected: GapFiller | None = None

    def __call__(self, x: dict[str, float]) -> dict[str, float]:
        """Return the sample without gaps, and learn from it."""
        row = np.array([x.get(name, np.nan) for name in self.names])
        self._learn(row)
        if self.method == "colk":
            return x
        filled = np.where(np.isnan(row), self.sums / np.maximum(self.counts, 1.0), row)
        if self.method == "latest":
            filled = self.latest
        elif self.method == "expected" and self.expected is not None:
            filled = self.expected.filled(row[None])[0]
        full = dict(zip(self.names, filled.tolist(), strict=True))
        if self.method == "flags":
            full |= {f"{name} is missing": float(name not in x) for name in self.names}
        return full

    def _learn(self, row: np.ndarray) -> None:
        known = ~np.isnan(row)
        self.sums, self.counts = self.sums + np.where(known, row, 0.0), self.counts + known
        self.latest = np.where(known, row, self.latest)
        self.n_seen += 1
        if self.method == "expected":
            self.rows = [*self.rows[1 - LATEST :], row]
            if self.n_seen == FEWEST_ROWS or self.n_seen % RENEWED == 0:
                self.expected = GapFiller.of(np.array(self.rows))


METHODS = ("colk", "mean", "latest", "expected", "flags")


def with_gaps(data: list[Sample], above_median: bool, seed: int) -> list[Sample]:
    generator = random.Random(seed)
    middle = {name: np.median([x[name] for x, _ in data]) for name in data[0][0]}

    def share(name: str, value: float) -> float:
        return SHARE if not above_median else 2.0 * SHARE if value > middle[name] else 0.0

    return [({k: v for k, v in x.items() if generator.random() >= share(k, v)}, y) for x, y in data]


def error(data: list[Sample], method: str, names: list[str], labels: bool) -> float:
    """Mean absolute error, or share of wrong labels, of predictions before learning."""
    model = preprocessing.StandardScaler() | (COLKClassifier() if labels else COLKRegressor())
    fill, errors = Filler(method, names), []
    for x, y in data:
        full = fill(x)
        predicted = model.predict_one(full)
        errors.append(float(predicted != y) if labels else abs(predicted - y))
        model.learn_one(full, y)
    return float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds, rows = parser.parse_args().seeds, []
    for above_median in (False, True):
        for stream in streams(0):
            ratios = []
            for seed in range(seeds):
                found = streams(seed)[stream]
                data = [({str(k): float(v) for k, v in x.items()}, y) for x, y in found]
                names, labels = sorted(data[0][0]), "labels" in stream
                whole = error(data, "colk", names, labels)
                gapped = with_gaps(data, above_median, seed)
                ratios.append([error(gapped, m, names, labels) / whole for m in METHODS])
            name = f"{stream}, large values missing" if above_median else stream
            rows.append([name, *(f"{ratio:.2f}" for ratio in np.mean(ratios, axis=0))])
            print(rows[-1], flush=True)
    publish("river_gaps", ["stream", *METHODS], rows)


if __name__ == "__main__":
    main()
