"""Risks beyond the tail: worst group, shifted test sets, and ranking of rare labels.

    python -m colk_lab.tables new_risks [--seeds 10]

Each model is paired with the default of the same estimator on the same rows. "Group risk" is the
mean absolute error of the worst of two groups; a tenth of the rows belongs to the second, whose
function differs, and the group is not a feature. "Shifted" is the mean squared error with a rare
regime in 5 % of the training rows and in 30 % of the test rows. "AUC" has one positive label in 50.
Intervals are of 95 % over the seeds. Writes docs/tables/new_risks.md.

docs/tables/own_risks.md, which `--streams` writes alone, has one pass of COLK over 10,000 samples,
at one step size that was set by hand. Each risk of an equation and of a spectrum is evaluated on
new data, under itself and under the mean. Losses that are not convex are compared with Huber(0.3)
by the distance to the clean function, where 30 % of the targets are moved up by 2.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from colk import COLK, COLKClassifier, COLKRegressor
from colk.kernels import Gaussian
from colk.losses import Huber, Tukey, Welsch
from colk.risks import (
    AUC,
    KLDRO,
    CertaintyEquivalent,
    ChiSquareDRO,
    ExpectileRisk,
    GroupRisk,
    LossRisk,
    Mean,
    Shortfall,
    Spectral,
)
from colk_lab.tables.output import publish
from colk_lab.tables.risk_pays import interval

Array = NDArray[np.float64]
FIRST_SEED, N_TRAIN, N_STREAM, N_TEST = 5000, 1500, 10_000, 6000


def worst_group(seed: int, risk: Any) -> float:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(N_TRAIN + N_TEST, 2))
    groups = (rng.random(len(X)) < 0.1).astype(int)
    y = np.sin(3.0 * X[:, 0]) + 1.5 * groups * X[:, 1] + 0.2 * rng.normal(size=len(X))
    train, test = slice(None, N_TRAIN), slice(N_TRAIN, None)
    model = COLKRegressor(risk=risk, random_state=0)
    given = {} if risk == "mean" else {"groups": groups[train]}
    error = np.abs(model.fit(X[train], y[train], **given).predict(X[test]) - y[test])
    return float(max(error[groups[test] == g].mean() for g in (0, 1)))


def shifted(seed: int, risk: Any) -> float:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(N_TRAIN + N_TEST, 2))
    share = np.where(np.arange(len(X)) < N_TRAIN, 0.05, 0.3)
    rare = rng.random(len(X)) < share
    y = np.sin(3.0 * X[:, 0]) + 2.0 * rare + 0.2 * rng.normal(size=len(X))
    model = COLKRegressor(risk=risk, loss="squared", random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    return float(np.mean((model.predict(X[N_TRAIN:]) - y[N_TRAIN:]) ** 2))


def missed_pairs(seed: int, risk: Any) -> float:
    """Return 1 − AUC: the share of pairs in the wrong order."""
    rng = np.random.default_rng(seed)
    n = 4000 + N_TEST
    y = (rng.random(n) < 0.02).astype(int)
    X = rng.normal(size=(n, 5))
    X[y == 1, 0] += rng.choice([-1.8, 1.8], size=int(y.sum()))
    X[y == 1, 1] *= 0.5
    model = COLKClassifier(risk=risk, random_state=0)
    model.fit(X[:4000], y[:4000])
    return 1.0 - float(roc_auc_score(y[4000:], model.decision_function(X[4000:])))


class Excess(Shortfall):
    """A shortfall of a user's own."""

    def disutility_at(self, u: float) -> float:  # noqa: D102
        return float(max(u, 0.0) ** 2 + 0.1 * u)

    def disutility_slope_at(self, u: float) -> float:  # noqa: D102
        return 2.0 * max(u, 0.0) + 0.1


class Monotone(CertaintyEquivalent):
    """The mean plus half the variance of losses at most 1 below the mean; a user's own."""

    def disutility_at(self, u: float) -> float:  # noqa: D102
        return float(0.5 * max(u + 1.0, 0.0) ** 2 - 0.5)

    def disutility_slope_at(self, u: float) -> float:  # noqa: D102
        return float(max(u + 1.0, 0.0))


def on_a_stream(judged: LossRisk) -> Callable[[int, Any], float]:
    """Return a measure: this risk of the squared errors on new data, after one pass of COLK."""

    def measure(seed: int, risk: Any) -> float:
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1.0, 1.0, size=(N_STREAM + N_TEST, 2))
        scale = np.where(X[:, 1] > 0.0, 1.0, 0.2)
        y = np.sin(3.0 * X[:, 0]) + scale * (rng.gamma(3.0, 0.5, size=len(X)) - 1.5)
        term = Mean() if risk == "mean" else risk
        learner = COLK(Gaussian(0.5), risk=term, step_size=0.02, regularization=1e-3)
        learner.learn(X[:N_STREAM], y[:N_STREAM])
        return judged.value((learner.predict(X[N_STREAM:]) - y[N_STREAM:]) ** 2)

    return measure


def clean_error(seed: int, loss: Any) -> float:
    """Return the root mean squared distance to the clean function; 30 % of targets are moved up."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(N_STREAM + N_TEST, 2))
    clean = np.sin(3.0 * X[:, 0])
    y = clean + 0.1 * rng.normal(size=len(X)) + 2.0 * (rng.random(len(X)) < 0.3)
    term = Huber(0.3) if loss == "mean" else loss
    learner = COLK(Gaussian(0.5), term, step_size=0.1, regularization=1e-4)
    learner.learn(X[:N_STREAM], y[:N_STREAM])
    return float(np.sqrt(np.mean((learner.predict(X[N_STREAM:]) - clean[N_STREAM:]) ** 2)))


OWN: dict[str, LossRisk] = {
    "ExpectileRisk(0.9)": ExpectileRisk(0.9),
    "Spectral.extremile(4)": Spectral.extremile(4.0),
    "Spectral.exponential(5)": Spectral.exponential(5.0),
    "a shortfall by hand": Excess(0.05),
    "a certainty equivalent by hand": Monotone(),
}
CASES: dict[str, tuple[Callable[[int, Any], float], Any]] = {
    "worst group: GroupRisk()": (worst_group, GroupRisk()),
    "shifted: ChiSquareDRO(1)": (shifted, ChiSquareDRO(1.0)),
    "shifted: KLDRO(0.5)": (shifted, KLDRO(0.5)),
    "1 − AUC: AUC()": (missed_pairs, AUC()),
}
ON_STREAMS: dict[str, tuple[Callable[[int, Any], float], Any]] = {
    **{f"the risk itself: {name}": (on_a_stream(each), each) for name, each in OWN.items()},
    "distance to the clean function: Welsch(0.3)": (clean_error, Welsch(0.3)),
    "distance to the clean function: Tukey(1)": (clean_error, Tukey(1.0)),
}


def show(name: str, cases: dict[str, tuple[Callable[[int, Any], float], Any]], n: int) -> None:
    rows = []
    for case, (measure, term) in cases.items():
        seeds = range(FIRST_SEED, FIRST_SEED + n)
        pairs = [(measure(seed, "mean"), measure(seed, term)) for seed in seeds]
        base, own = np.array(pairs).T
        rows.append([case, interval(base), interval(own), interval(own / base)])
        print(rows[-1], flush=True)
    publish(name, ["objective", "default", "with the term", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--streams", action="store_true", help="only the table of streams")
    given = parser.parse_args()
    if not given.streams:
        show("new_risks", CASES, given.seeds)
    show("own_risks", ON_STREAMS, given.seeds)


if __name__ == "__main__":
    main()
