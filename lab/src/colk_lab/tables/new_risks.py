"""Risks beyond the tail: worst group, shifted test sets, and ranking of rare labels.

    python -m colk_lab.tables new_risks [--seeds 10]

Each model is paired with the default of the same estimator on the same rows. "Group risk" is the
mean absolute error of the worst of two groups; a tenth of the rows belongs to the second, whose
function differs, and the group is not a feature. "Shifted" is the mean squared error with a rare
regime in 5 % of the training rows and in 30 % of the test rows. "AUC" has one positive label in 50.
Intervals are of 95 % over the seeds. Writes docs/tables/new_risks.md.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from colk import COLKClassifier, COLKRegressor
from colk.risks import AUC, KLDRO, ChiSquareDRO, GroupRisk
from colk_lab.tables.output import publish
from colk_lab.tables.risk_pays import interval

Array = NDArray[np.float64]
FIRST_SEED, N_TRAIN, N_TEST = 5000, 1500, 6000


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


CASES: dict[str, tuple[Callable[[int, Any], float], Any]] = {
    "worst group: GroupRisk()": (worst_group, GroupRisk()),
    "shifted: ChiSquareDRO(1)": (shifted, ChiSquareDRO(1.0)),
    "shifted: KLDRO(0.5)": (shifted, KLDRO(0.5)),
    "1 − AUC: AUC()": (missed_pairs, AUC()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    rows = []
    for name, (measure, risk) in CASES.items():
        seeds = range(FIRST_SEED, FIRST_SEED + parser.parse_args().seeds)
        pairs = [(measure(seed, "mean"), measure(seed, risk)) for seed in seeds]
        base, own = np.array(pairs).T
        rows.append([name, interval(base), interval(own), interval(own / base)])
        print(rows[-1], flush=True)
    publish("new_risks", ["objective", "default", "with the risk", "ratio"], rows)


if __name__ == "__main__":
    main()
