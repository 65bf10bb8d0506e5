"""Which features matter: the estimators at their defaults, on data with few and many such features.

Friedman 1 has 50, 100 and 200 features, of which five matter; "the five alone" is the fit to these.
The inverse dynamics have 32 inputs, of which four matter much. The table shows R² or accuracy on
new data, as means over seeds, compared with `HistGradientBoosting` at its defaults. Two other
tables compare the automatic choice with the same race without feature scales, paired over seeds.
The rules were chosen on the sets DESIGN; the sets HELD_OUT were not used before the rules were
fixed. "arm" compares the default with the race without feature scales and with 400 atoms, by the
mean squared error of the end of an arm on new rows without noise. The rule for more atoms was
chosen on planar arms, not on the arm in space.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from race import few_of_32, heavy_tails, smooth, steps
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.preprocessing import StandardScaler
from tables import publish

from colk import COLKClassifier, COLKRegressor

# In `colk.selection` the module and its function have the same name.
race_module: Any = import_module("colk.selection.race")

Sample = tuple[Any, Any]
N_TEST = 5000
FEATURES = (50, 100, 200)
ROWS = (2000, 10_000)
ARM_ROWS, ARM_JOINTS, ARM_NOISE = 30_000, 8, 0.05


def friedman(n: int, p: int, seed: int) -> Sample:
    return datasets.make_friedman1(n, p, noise=1.0, random_state=seed)


def inverse_dynamics(n: int, seed: int) -> Sample:
    """Acceleration of a joint of an arm: 32 angles, speeds, torques and lengths."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 32))
    angles, speeds, torques = 0.75 * np.pi * X[:, :6], 0.5 * X[:, 6:12], X[:, 12:18]
    masses, lengths, damping = 1 + 0.1 * X[:, 18:24], 1 + 0.05 * X[:, 24:30], 1 + 0.05 * X[:, 30]
    bent = 3.0 * torques[:, 4] * np.sin(angles[:, 4])
    turned = 1.5 * torques[:, 3] * np.cos(angles[:, 3] + angles[:, 4])
    f = (bent + turned + 0.1 * damping * speeds[:, 4]) / (masses[:, 4] * lengths[:, 4] ** 2)
    return X, f + 0.15 * f.std() * rng.normal(size=n)


def borehole(n: int, seed: int) -> Sample:
    """Flow of water through a borehole, eight inputs."""
    rng = np.random.default_rng(seed)
    low = np.array([0.05, 100.0, 63070.0, 990.0, 63.1, 700.0, 1120.0, 9855.0])
    high = np.array([0.15, 50000.0, 115600.0, 1110.0, 116.0, 820.0, 1680.0, 12045.0])
    X = rng.uniform(low, high, size=(n, 8))
    radius, influence, upper, upper_head, lower, lower_head, length, conductivity = X.T
    log = np.log(influence / radius)
    resistance = 1.0 + 2.0 * length * upper / (log * radius**2 * conductivity) + upper / lower
    f = 2.0 * np.pi * upper * (upper_head - lower_head) / (log * resistance)
    return X, f + 0.05 * f.std() * rng.normal(size=n)


def circuit(n: int, seed: int) -> Sample:
    """Midpoint voltage of a push-pull circuit, six inputs."""
    rng = np.random.default_rng(seed)
    low = np.array([50.0, 25.0, 0.5, 1.2, 0.25, 50.0])
    high = np.array([150.0, 70.0, 3.0, 2.5, 1.2, 300.0])
    X = rng.uniform(low, high, size=(n, 6))
    b1, b2, f_, c1, c2, beta = X.T
    middle = 12.0 * b2 / (b1 + b2)
    gain = beta * (c2 + 9.0)
    f = (middle + 0.74) * gain / (gain + f_) + 11.35 * f_ / (gain + f_)
    f = f + 0.74 * f_ * gain / ((gain + f_) * c1)
    return X, f + 0.05 * f.std() * rng.normal(size=n)


def planar_arm(n: int, seed: int) -> Sample:
    """Height of the end of an arm of equal links in a plane."""
    turns = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, ARM_JOINTS))
    return turns, np.cos(np.cumsum(turns, axis=1)).sum(axis=1)


def arm_in_space(n: int, seed: int) -> Sample:
    """Distance of the end of an arm from a point; its joints turn about two axes in turn."""
    turns = np.random.default_rng(seed).uniform(-0.5 * np.pi, 0.5 * np.pi, size=(n, ARM_JOINTS))
    end, frame = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    for joint, angle in enumerate(turns.T):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.tile(np.eye(3), (n, 1, 1))
        a, b = ((0, 1), (0, 2))[joint % 2]
        turn[:, a, a], turn[:, a, b], turn[:, b, a], turn[:, b, b] = c, -s, s, c
        frame = frame @ turn
        end += frame[:, :, 0] / ARM_JOINTS
    return turns, np.linalg.norm(end - np.array([0.1, 0.1, 0.1]), axis=1)


ARMS = {"planar arm": planar_arm, "arm in space": arm_in_space}

DESIGN: dict[str, Callable[[int], Sample]] = {
    "Friedman 1": lambda seed: friedman(4000, 10, seed),
    "Friedman 2": lambda seed: datasets.make_friedman2(4000, noise=50.0, random_state=seed),
    "4 of 32 features": lambda seed: few_of_32(5000, seed),
    "inverse dynamics": lambda seed: inverse_dynamics(6000, seed),
    "heavy tails": lambda seed: heavy_tails(5000, seed),
    "steps, 12 features": lambda seed: steps(5000, seed),
    "smooth, 8 features": lambda seed: smooth(6000, 8, seed),
    "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
    "breast cancer (classes)": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "Hastie (classes)": lambda seed: datasets.make_hastie_10_2(5000, random_state=seed),
    "5 of 100 features (classes)": lambda seed: datasets.make_classification(
        4000, 100, n_informative=5, n_redundant=0, n_classes=3, random_state=seed
    ),
}
HELD_OUT: dict[str, Callable[[int], Sample]] = {
    "Friedman 3": lambda seed: datasets.make_friedman3(4000, noise=0.1, random_state=seed),
    "borehole": lambda seed: borehole(4000, seed),
    "circuit": lambda seed: circuit(4000, seed),
    "linear, 20 features": lambda seed: datasets.make_regression(
        3000, 20, n_informative=5, noise=20.0, random_state=seed
    ),
    "sparse uncorrelated": lambda seed: datasets.make_sparse_uncorrelated(
        3000, 10, random_state=seed
    ),
    "Swiss roll": lambda seed: datasets.make_swiss_roll(4000, noise=0.3, random_state=seed),
    "smooth, 15 features": lambda seed: smooth(6000, 15, seed),
    "smooth, 3 features": lambda seed: smooth(600, 3, seed),
    "wine (classes)": lambda seed: datasets.load_wine(return_X_y=True),
    "5 of 20 features (classes)": lambda seed: datasets.make_classification(
        4000, 20, n_informative=5, n_classes=3, random_state=seed
    ),
    "shells (classes)": lambda seed: datasets.make_gaussian_quantiles(
        n_samples=4000, n_features=6, n_classes=3, random_state=seed
    ),
}


def split(X: Any, y: Any, seed: int, n_train: int | None = None) -> tuple[Any, Any, Any, Any]:
    """Return standardised training and test samples; four fifths are for training by default."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = np.split(order, [len(order) * 4 // 5 if n_train is None else n_train])
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def measured(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float]:
    """Return the score, and the processor seconds of the fit."""
    start = time.process_time()
    model.fit(X, y)
    return float(model.score(X_test, y_test)), time.process_time() - start


def few_matter(name: str, sample: Sample, n: int, n_matter: int, seed: int) -> list[float]:
    """Return scores and seconds: colk, colk on the features that matter, boosting."""
    X, y, X_test, y_test = split(*sample, seed, n)
    ours = measured(COLKRegressor(random_state=seed), X, y, X_test, y_test)
    alone = measured(
        COLKRegressor(random_state=seed), X[:, :n_matter], y, X_test[:, :n_matter], y_test
    )
    peer = measured(HistGradientBoostingRegressor(random_state=seed), X, y, X_test, y_test)
    return [ours[0], alone[0], peer[0], ours[1], peer[1]]


def table_of_few(seeds: range) -> list[list[str]]:
    rows = []
    cases: list[tuple[str, int, int, Callable[[int], Sample]]] = [
        (f"Friedman 1, {p} features, {n} rows", n, 5, partial(friedman, n + N_TEST, p))
        for n in ROWS
        for p in FEATURES
    ]
    cases.append(("inverse dynamics, 8000 rows", 8000, 32, partial(inverse_dynamics, 13_000)))
    for name, n, n_matter, make in cases:
        runs = [few_matter(name, make(seed), n, n_matter, seed) for seed in seeds]
        ours, alone, peer, seconds, peer_seconds = np.mean(runs, axis=0)
        shown = f"{alone:.4f}" if n_matter == 5 else "–"
        cells = [f"{ours:.4f}", shown, f"{peer:.4f}", f"{seconds:.2f}", f"{peer_seconds:.2f}"]
        rows.append([name, *cells])
        print(*rows[-1], flush=True)
    return rows


def compared(name: str, make: Callable[[int], Sample], seeds: range) -> list[str]:
    """Return the scores without feature scales, with them, and their paired difference."""
    is_classes = "(classes)" in name
    kind = COLKClassifier if is_classes else COLKRegressor
    peer = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    runs, used = [], 0
    for seed in seeds:
        X, y, X_test, y_test = split(*make(seed), seed)
        model = kind(random_state=seed)
        after, _ = measured(model, X, y, X_test, y_test)
        used += model.race_.winner.scaled
        with without_scales():
            before, _ = measured(kind(random_state=seed), X, y, X_test, y_test)
        boosted, _ = measured(peer(random_state=seed), X, y, X_test, y_test)
        runs.append([before, after, boosted])
    before, after, boosted = np.array(runs).T
    gain = after - before
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    return [
        name,
        f"{before.mean():.4f}",
        f"{after.mean():.4f}",
        f"{gain.mean():+.4f} ± {error:.4f}",
        f"{used}/{len(seeds)}",
        f"{boosted.mean():.4f}",
    ]


class NoSearch:
    """Replaces the search for feature scales, and finds none."""

    def __init__(self, samples: Any) -> None:
        self.n_features = samples.X.shape[1]

    def rates(self) -> Any:
        """Return rates of 0: no feature is known to matter."""
        return np.zeros(self.n_features)


@contextmanager
def without_scales() -> Iterator[None]:
    """Return a context in which the race has no kernel with feature scales."""
    search = race_module.RelevanceSearch
    race_module.RelevanceSearch = NoSearch
    try:
        yield
    finally:
        race_module.RelevanceSearch = search


def table_of_arms(seeds: range) -> list[list[str]]:
    """Return mean squared errors: 400 atoms without feature scales, the default, boosting."""
    rows = []
    for name, make in ARMS.items():
        runs = [arm_errors(*make(ARM_ROWS + N_TEST, seed), seed) for seed in seeds]
        before, after, boosted, n_atoms = np.mean(runs, axis=0)
        cells = [f"{before:.5f}", f"{after:.5f}", f"{after / before:.2f}", f"{n_atoms:.0f}"]
        rows.append([name, *cells, f"{boosted:.5f}"])
        print(*rows[-1], flush=True)
    return rows


def arm_errors(X: Any, f: Any, seed: int) -> list[float]:
    y = f + ARM_NOISE * f.std() * np.random.default_rng(seed + 1).normal(size=len(f))
    train, new = slice(ARM_ROWS), slice(ARM_ROWS, None)

    def error(model: Any) -> float:
        found = model.fit(X[train], y[train]).predict(X[new])
        return float(np.mean((found - f[new]) ** 2))

    with without_scales():
        before = error(COLKRegressor(random_state=seed, max_atoms=400))
    model = COLKRegressor(random_state=seed)
    after = error(model)
    return [before, after, error(HistGradientBoostingRegressor(random_state=seed)), model.n_atoms_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--tables", nargs="*", default=["few", "arm", "design", "held_out"])
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    if "few" in arguments.tables:
        header = ["data", "colk", "the five alone", "boosting", "seconds", "seconds of boosting"]
        publish("relevance_few", header, table_of_few(seeds))
    if "arm" in arguments.tables:
        header = ["data", "400 atoms, no scales", "default", "ratio", "atoms", "boosting"]
        publish("relevance_arm", header, table_of_arms(seeds))
    header = ["data", "without scales", "auto", "difference", "scales won", "boosting"]
    for name, sets in (("design", DESIGN), ("held_out", HELD_OUT)):
        if name in arguments.tables:
            rows = []
            for label, make in sets.items():
                rows.append(compared(label, make, seeds))
                print(*rows[-1], flush=True)
            publish(f"relevance_{name}", header, rows)


if __name__ == "__main__":
    main()
