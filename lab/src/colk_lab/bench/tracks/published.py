"""Published results, compared with the same method in this run and with colk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from river import datasets, ensemble, forest, preprocessing, tree

from colk import river as colk_river
from colk.compressors import KOMP
from colk.estimators import COLKClassifier
from colk.kernels import Gaussian
from colk.learners import BSGD, NewtonCOLK
from colk.losses import Hinge, Squared
from colk_lab.arrays import Array
from colk_lab.bench.cells import BenchPlan, Cell, CellScore, Measure, Track, cell, guarded, measured
from colk_lab.bench.krls import KRLS
from colk_lab.bench.problems import DRAWN
from colk_lab.bench.published_splits import median_error
from colk_lab.bench.scores import summarise
from colk_lab.bench.splits import Split
from colk_lab.bench.stream_problems import Sample
from colk_lab.bench.tracks.streams import prequential
from colk_lab.tasks import Result

__all__ = ["TRACK", "lorenz"]

_BSGD = "Wang, Crammer and Vucetic, JMLR 13 (2012), one pass, budget of 100."
_UNREAD = (
    "Data of Wang, Crammer and Vucetic, JMLR 13 (2012), drawn again. There is no published number, "
    "because we could not read the paper's table for these data. The rows compare its method with "
    "colk."
)
_RIVER = (
    "River's last published accuracy tables; this is the best method of the table. The first "
    "sample is not counted, because some methods cannot predict it."
)
_AMF = "River's forest has changed since then: "
_SPLIT = "The paper's split of the data is not known; 4,300 rows are drawn for training."
_SETTINGS = "In this run, fifteen settings are compared on a quarter of the training rows."
_KAFBOX = (
    "The demo of the Kernel Adaptive Filtering Toolbox: squared error after 1000 samples. The "
    "series is the third variable of the Lorenz system, computed again by Euler steps of 0.01. "
    "“colk, kernel given” is NewtonCOLK with the kernel of KRLS and the squared loss; prior and "
    "eps were chosen on a series with another start. “colk” has its default settings: a robust "
    "loss, and a kernel that it chooses by the first samples."
)
_CARS = (
    "Medians over ten splits of the set 195_auto_price, from results/results-final.csv of the "
    "repository cavalab/srbench: 159 cars, 15 numbers. The set is a final one, so only a final run "
    "has these rows. "
)
# Start of the toolbox's series, and the bandwidth of its demo.
_START, _LORENZ_BANDWIDTH = (10.0, 7.0, 35.0), 32.0
# Settings of BSGD, compared on a quarter of the training rows.
_BANDWIDTHS, _LAMBDAS = (0.3, 0.5, 0.7, 1.0, 1.5), (3e-4, 1e-3, 3e-3)


@dataclass(frozen=True)
class Published:
    """A published result.

    Parameters
    ----------
    value : float or None
        The published error; smaller is better. None if it could not be checked.
    method : str
        The method with this error.
    source : str
        The publication.
    same, ours : callable
        Measure the same method, and colk, for a seed.
    given : callable, optional
        Measures colk with the kernel of the published method. Default: not measured.
    why : str, default=""
        The reason why the same method may differ in this run by more than the noise over seeds.
    """

    value: float | None
    method: str
    source: str
    same: Callable[[int], float]
    ours: Callable[[int], float]
    given: Callable[[int], float] | None = None
    why: str = ""


def _scaled(model: Any) -> Any:
    return preprocessing.StandardScaler() | model


def _samples(dataset: str) -> list[Sample]:
    return list(getattr(datasets, dataset)())


def _errors(model: Any, dataset: str) -> list[tuple[Any, Any]]:
    """Return predictions and targets of a data set of River, without the first sample."""
    samples = _samples(dataset)
    found, _ = prequential(model, samples)
    return [(value, y) for value, (_, y) in zip(found, samples, strict=True)][1:]


def _mistakes(model: Any, dataset: str) -> float:
    return 100.0 * float(np.mean([label != y for label, y in _errors(model, dataset)]))


def _mae(model: Any, dataset: str) -> float:
    return float(np.mean([abs(value - y) for value, y in _errors(model, dataset)]))


def _classifier() -> Any:
    return _scaled(colk_river.COLKClassifier())


def _regressor() -> Any:
    return _scaled(colk_river.COLKRegressor())


def _drawn(name: str, seed: int) -> Split:
    """Return 10,000 rows for training and 20,000 for testing; a label is -1 or 1."""
    X, label = DRAWN[name](30_000, np.random.default_rng([seed, 5]))
    y = np.where(label == 0, 1.0, -1.0)
    return Split(X[:10_000], y[:10_000], X[10_000:], y[10_000:])


def _bananas(seed: int) -> Split:
    """Return 4300 rows for training and the other 1000 for testing."""
    samples = _samples("Bananas")
    X = np.array([list(x.values()) for x, _ in samples])
    y = np.array([1.0 if label else -1.0 for _, label in samples])
    order = np.random.default_rng([seed, 6]).permutation(len(X))
    first, rest = order[:4300], order[4300:]
    return Split(X[first], y[first], X[rest], y[rest])


def _fitted_bsgd(X: Array, y: Array, bandwidth: float, regularization: float) -> BSGD:
    learner = BSGD(
        Gaussian(bandwidth * (X.shape[1] / 2.0) ** 0.5),
        Hinge(),
        max_atoms=100,
        step_size="pegasos",
        maintenance="merging",
        regularization=regularization,
    )
    return learner.learn(X, y)


def bsgd(rows: Split) -> float:
    """Return mistakes per 100 after one pass, with settings compared on the training rows."""
    mean, scale = rows.X.mean(axis=0), rows.X.std(axis=0)
    X, n = (rows.X - mean) / scale, int(0.75 * len(rows.X))
    mistakes = {
        settings: np.mean(
            np.sign(_fitted_bsgd(X[:n], rows.y[:n], *settings).predict(X[n:])) != rows.y[n:]
        )
        for settings in product(_BANDWIDTHS, _LAMBDAS)
    }
    learner = _fitted_bsgd(X, rows.y, *min(mistakes, key=lambda each: mistakes[each]))
    wrong = np.sign(learner.predict((rows.X_test - mean) / scale)) != rows.y_test
    return 100.0 * float(np.mean(wrong))


def _one_pass(rows: Split) -> float:
    """Return colk's mistakes per 100 after one pass, with at most 100 atoms."""
    model = COLKClassifier(max_atoms=100, random_state=0)
    for first in range(0, len(rows.X), 1000):
        part = slice(first, first + 1000)
        model.partial_fit(rows.X[part], rows.y[part], classes=[-1.0, 1.0])
    return 100.0 * float(np.mean(model.predict(rows.X_test) != rows.y_test))


def _budgeted(value: float | None, draw: Callable[[int], Split], why: str = "") -> Published:
    return Published(
        value,
        "BSGD, merging",
        _UNREAD if value is None else _BSGD,
        lambda seed: bsgd(draw(seed)),
        lambda seed: _one_pass(draw(seed)),
        why=why,
    )


def lorenz(
    n: int, embedding: int = 6, start: tuple[float, float, float] = _START
) -> tuple[Array, Array]:
    """Return the latest values of the Lorenz system's third variable, and the next value.

    The system is computed by Euler steps of 0.01, with σ = 10, ρ = 28 and β = 8/3. Values before
    the first one are 0.

    Examples
    --------
    >>> X, y = lorenz(100)
    >>> X.shape, X[0].tolist(), bool(X[1, 0] == y[0])
    ((100, 6), [35.0, 0.0, 0.0, 0.0, 0.0, 0.0], True)
    """
    x, y, z = start
    series = [0.0] * (embedding - 1) + [z]
    for _ in range(n):
        x, y, z = (
            x + 0.1 * (y - x),
            y + 0.01 * (x * (28.0 - z) - y),
            z + 0.01 * (x * y - 8.0 / 3.0 * z),
        )
        series.append(z)
    windows = np.lib.stride_tricks.sliding_window_view(np.array(series), embedding)
    return windows[:n, ::-1].copy(), np.array(series[embedding:])


def _decibels(errors: list[float]) -> float:
    return 10.0 * float(np.log10(np.mean(np.square(errors[1000:]))))


def _cars(value: float, method: str, why: str) -> Published:
    return Published(
        value,
        method,
        _CARS,
        lambda seed: median_error(method, seed),
        lambda seed: median_error("colk", seed),
        why=why,
    )


def _krls_lorenz(seed: int) -> float:
    X, y = lorenz(9999)
    model, errors = KRLS(_LORENZ_BANDWIDTH, threshold=1e-4), []
    for x, target in zip(X, y, strict=True):
        errors.append(model.predict(x) - float(target))
        model.learn(x, float(target))
    return _decibels(errors)


def newton_lorenz(start: tuple[float, float, float] = _START) -> float:
    """Return NewtonCOLK's error in decibels; prior and eps were chosen for start (-5, 3, 20)."""
    X, y = lorenz(9999, start=start)
    learner = NewtonCOLK(
        Gaussian(_LORENZ_BANDWIDTH), Squared(), prior=1e-6, compressor=KOMP(eps=0.01), trust=100.0
    ).learn(X[:1], y[:1])
    errors = [float(y[0])]
    for x, target in zip(X[1:], y[1:], strict=True):
        errors.append(float(learner.predict(x[None, :])[0]) - float(target))
        learner.learn(x[None, :], [target])
    return _decibels(errors)


def _colk_lorenz(seed: int) -> float:
    X, y = lorenz(9999)
    samples = [
        ({f"x{j}": float(value) for j, value in enumerate(x)}, float(target))
        for x, target in zip(X, y, strict=True)
    ]
    found, _ = prequential(_regressor(), samples)
    return _decibels([value - y for value, (_, y) in zip(found, samples, strict=True)])


ROWS = {
    "Banana (mistakes of 100)": _budgeted(100.0 - 90.17, _bananas, _SPLIT),
    "Gauss (mistakes of 100)": _budgeted(
        100.0 - 81.22, lambda seed: _drawn("Gauss", seed), _SETTINGS
    ),
    "checkerboard (mistakes of 100)": _budgeted(None, lambda seed: _drawn("checkerboard", seed)),
    "waveform, first class or not (mistakes of 100)": _budgeted(
        None, lambda seed: _drawn("waveform", seed)
    ),
    "Bananas (mistakes of 100)": Published(
        100.0 - 88.94, "AMF, here with scaled features", _RIVER,
        lambda seed: _mistakes(_scaled(forest.AMFClassifier(seed=seed)), "Bananas"),
        lambda seed: _mistakes(_classifier(), "Bananas"),
        why=_AMF + "without scaled features, as in the table, it makes 30 mistakes per 100.",
    ),
    "Phishing (mistakes of 100)": Published(
        100.0 - 91.35, "SRP", _RIVER,
        lambda seed: _mistakes(ensemble.SRPClassifier(n_models=10, seed=seed), "Phishing"),
        lambda seed: _mistakes(_classifier(), "Phishing"),
    ),
    "ImageSegments (mistakes of 100)": Published(
        100.0 - 90.17, "AMF", _RIVER,
        lambda seed: _mistakes(forest.AMFClassifier(seed=seed), "ImageSegments"),
        lambda seed: _mistakes(_classifier(), "ImageSegments"),
        why=_AMF + "the table was made with an earlier version.",
    ),
    "TrumpApproval (MAE)": Published(
        0.2685, "AMF", _RIVER,
        lambda seed: _mae(forest.AMFRegressor(seed=seed), "TrumpApproval"),
        lambda seed: _mae(_regressor(), "TrumpApproval"),
        why=_AMF + "the table was made with an earlier version.",
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
    "Lorenz (decibels)": Published(
        -40.17, "KRLS", _KAFBOX, _krls_lorenz, _colk_lorenz, lambda seed: newton_lorenz(),
        why="Nothing is random, so there is no noise over seeds. The condition number of the "
        "kernel matrix is 10¹². KRLS computes in extended precision in this run, but in double "
        "precision in the toolbox, where even the order of sums changes the result.",
    ),
    "prices of cars, boosting (squared error, 10⁶)": _cars(
        3.890, "gradient boosting",
        "The published settings are searched; here they are those chosen most often.",
    ),
    "prices of cars, linear (squared error, 10⁶)": _cars(
        7.514, "linear regression", "The splits of the rows are not published."
    ),
}  # fmt: skip


def _measures(row: Published) -> dict[str, Callable[[int], float]]:
    """Return the peers of a row, with the functions that measure their error for a seed."""
    found = {"colk": row.ours, "published method here": row.same}
    if row.given is not None:
        found["colk, kernel given"] = row.given
    if row.value is not None:
        value = row.value
        found["published"] = lambda seed: value
    return found


@guarded
def run(problem: str, peer: str, seed: int) -> Result:
    """Return a published error, or measure it."""
    return measured(error=_measures(ROWS[problem])[peer](seed))


# Approximate processor seconds of a row.
_SECONDS = {"colk": 0.5, "published method here": 1.2, "colk, kernel given": 0.5, "published": 0.0}


def _cells(plan: BenchPlan) -> list[Cell]:
    return [
        cell(run, name, peer, seed, _SECONDS[peer])
        for name, row in ROWS.items()
        if plan.final or row.source != _CARS
        for peer in _measures(row)
        for seed in (plan.seeds if peer == "published method here" else plan.seeds[:1])
    ]


def verdicts(scores: Sequence[CellScore]) -> list[str]:
    """Return, for each published number, a sentence on whether the same method reaches it here.

    The noise is that of one run: 95 % of other seeds would lie within it.
    """
    found = []
    for name, peers in summarise(scores, "error").items():
        row = ROWS[name]
        if row.value is None or "published method here" not in peers:
            continue
        here = peers["published method here"]
        n_seeds = sum(s.problem == name and s.peer == "published method here" for s in scores)
        noise = here.half * (n_seeds + 1) ** 0.5
        told = f"{name}: {row.method}, {here.mean:.4g} here and {row.value:.4g} published"
        if abs(here.mean - row.value) <= noise:
            found.append(f"{told}, within the noise of a run (±{noise:.2g}).")
        else:
            beyond = f"beyond the noise of a run (±{noise:.2g})" if noise else "which differ"
            found.append(f"{told}, {beyond}. {row.why}".rstrip())
    return found


TRACK = Track(
    "published",
    "Published results",
    "Does the same method reach the published result in this run, and how does colk compare?",
    (Measure("error", "Error in the unit of the heading; smaller is better.", digits=4),),
    _cells,
    {name: f"{row.method}. {row.source}" for name, row in ROWS.items()},
    remarks=verdicts,
)
