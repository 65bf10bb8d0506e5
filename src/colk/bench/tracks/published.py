"""Published results as rows: the same method here, and colk on the same data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk import river as colk_river
from colk._extras import needed_for
from colk._validation import Array
from colk.bench.cells import Cell, Measure, Plan, Track, cell, measured
from colk.bench.krls import KRLS
from colk.bench.tracks.streams import prequential
from colk.experiments.tasks import Result
from colk.kernels import Gaussian
from colk.learners import BSGD
from colk.losses import Hinge

with needed_for("a peer of the benchmark", extra="bench"):
    from river import datasets, ensemble, forest, preprocessing, tree

__all__ = ["TRACK", "lorenz"]

_BSGD = "Wang, Crammer and Vucetic, JMLR 13 (2012), one pass, budget of 100."
_RIVER = "River's last published accuracy tables; the best method of the table."
_KAFBOX = (
    "The demo of the Kernel Adaptive Filtering Toolbox: squared error after 1000 samples. Its "
    "series is a file; this one is integrated here, with another sampling interval, so that the "
    "numbers are not of the same series."
)


@dataclass(frozen=True)
class Published:
    """A published result.

    Parameters
    ----------
    value : float
        The published error; smaller is better.
    method : str
        The method that has it.
    source : str
        Where it was published.
    same, ours : callable
        Measure the same method, and colk, for a seed.
    """

    value: float
    method: str
    source: str
    same: Callable[[int], float]
    ours: Callable[[int], float]


def _scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


def _mistakes(model: Any, dataset: str) -> float:
    samples = list(getattr(datasets, dataset)())
    found, _ = prequential(model, samples)
    wrong = [label != y for label, (_, y) in zip(found, samples, strict=True)]
    return 100.0 * float(np.mean(wrong))


def _mae(model: Any, dataset: str) -> float:
    samples = list(getattr(datasets, dataset)())
    found, _ = prequential(model, samples)
    pairs = zip(found, samples, strict=True)
    # A model that has seen nothing may predict None.
    return float(np.mean([abs((value or 0.0) - y) for value, (_, y) in pairs]))


def _classifier() -> Any:
    return _scaled(colk_river.COLKClassifier())


def _regressor() -> Any:
    return _scaled(colk_river.COLKRegressor())


def _gauss(seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([seed, 5])
    y = np.where(rng.random(30_000) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(30_000, 2))
    X[y < 0] = 2.0 * X[y < 0] + [2.0, 0.0]
    return X, y


def _bsgd_gauss(seed: int) -> float:
    X, y = _gauss(seed)
    learner = BSGD(
        Gaussian(1.0),
        Hinge(),
        max_atoms=100,
        step_size="pegasos",
        maintenance="merging",
        regularization=1e-3,
    ).learn(X[:10_000], y[:10_000])
    return 100.0 * float(np.mean(np.sign(learner.predict(X[10_000:])) != y[10_000:]))


def _colk_gauss(seed: int) -> float:
    from colk.estimators import COLKClassifier

    X, y = _gauss(seed)
    model = COLKClassifier(max_atoms=100, random_state=0)
    for first in range(0, 10_000, 1000):
        model.partial_fit(X[first : first + 1000], y[first : first + 1000], classes=[-1.0, 1.0])
    return 100.0 * float(np.mean(model.predict(X[10_000:]) != y[10_000:]))


def lorenz(n: int, interval: float = 0.01, embedding: int = 6) -> tuple[Array, Array]:
    """Return the last six values of the Lorenz system's first variable, and the next one.

    Integrated by the classical Runge–Kutta method with σ = 10, ρ = 28, β = 8/3.

    Examples
    --------
    >>> X, y = lorenz(100)
    >>> X.shape, bool(X[1, 0] == y[0])
    ((100, 6), True)
    """

    def slope(state: Array) -> Array:
        x, y, z = state
        return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    state, path = np.array([1.0, 1.0, 20.0]), []
    for _ in range(1000 + n + embedding):
        first = slope(state)
        second = slope(state + 0.5 * interval * first)
        third = slope(state + 0.5 * interval * second)
        fourth = slope(state + interval * third)
        state = state + interval / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
        path.append(state[0])
    series = np.array(path[1000:])
    windows = np.lib.stride_tricks.sliding_window_view(series, embedding)[:n, ::-1]
    return windows.copy(), series[embedding : embedding + n]


def _decibels(errors: list[float]) -> float:
    return 10.0 * float(np.log10(np.mean(np.square(errors[1000:]))))


def _krls_lorenz(seed: int) -> float:
    X, y = lorenz(5000)
    model, errors = KRLS(bandwidth=32.0, threshold=1e-4), []
    for x, target in zip(X, y, strict=True):
        errors.append(model.predict(x) - float(target))
        model.learn(x, float(target))
    return _decibels(errors)


def _colk_lorenz(seed: int) -> float:
    X, y = lorenz(5000)
    samples = [
        ({f"x{j}": float(value) for j, value in enumerate(x)}, float(target))
        for x, target in zip(X, y, strict=True)
    ]
    found, _ = prequential(_regressor(), samples)
    return _decibels([value - y for value, (_, y) in zip(found, samples, strict=True)])


ROWS = {
    "Gauss (mistakes of 100)": Published(
        100.0 - 81.22, "BSGD, merging", _BSGD, _bsgd_gauss, _colk_gauss
    ),
    "Bananas (mistakes of 100)": Published(
        100.0 - 88.94, "AMF", _RIVER,
        lambda seed: _mistakes(_scaled(forest.AMFClassifier(seed=seed)), "Bananas"),
        lambda seed: _mistakes(_classifier(), "Bananas"),
    ),
    "Phishing (mistakes of 100)": Published(
        100.0 - 91.35, "SRP", _RIVER,
        lambda seed: _mistakes(ensemble.SRPClassifier(n_models=10, seed=seed), "Phishing"),
        lambda seed: _mistakes(_classifier(), "Phishing"),
    ),
    "ImageSegments (mistakes of 100)": Published(
        100.0 - 90.17, "AMF", _RIVER,
        lambda seed: _mistakes(_scaled(forest.AMFClassifier(seed=seed)), "ImageSegments"),
        lambda seed: _mistakes(_classifier(), "ImageSegments"),
    ),
    "TrumpApproval (MAE)": Published(
        0.2685, "AMF", _RIVER,
        lambda seed: _mae(_scaled(forest.AMFRegressor(seed=seed)), "TrumpApproval"),
        lambda seed: _mae(_regressor(), "TrumpApproval"),
    ),
    "ChickWeights (MAE)": Published(
        23.11, "bagging of adaptive trees", _RIVER,
        lambda seed: _mae(
            _scaled(
                ensemble.BaggingRegressor(
                    tree.HoeffdingAdaptiveTreeRegressor(seed=seed), seed=seed
                )
            ),
            "ChickWeights",
        ),
        lambda seed: _mae(_regressor(), "ChickWeights"),
    ),
    "Lorenz (decibels)": Published(-40.17, "KRLS", _KAFBOX, _krls_lorenz, _colk_lorenz),
}  # fmt: skip


def run(problem: str, peer: str, seed: int) -> Result:
    """Return a published error, or measure it."""
    row = ROWS[problem]
    found = {"published": lambda _: row.value, "the same method here": row.same, "colk": row.ours}
    return measured(error=found[peer](seed))


def _cells(plan: Plan) -> list[Cell]:
    peers = {"colk": 0.6, "the same method here": 2.0, "published": 0.0}
    return [
        cell(run, name, peer, seed, seconds)
        for name in ROWS
        for peer, seconds in peers.items()
        for seed in (plan.seeds if peer == "the same method here" else plan.seeds[:1])
    ]


TRACK = Track(
    "published",
    "Published results",
    "Does the same method reach here what was published, and how does colk compare?",
    (Measure("error", "Error in the unit that the row names; smaller is better.", digits=4),),
    _cells,
    {name: f"{row.method}. {row.source}" for name, row in ROWS.items()},
)
