"""A mixture of functions in place of the search for λ, and of the contest of two kernels.

    python -m colk_lab.tables mixtures

colk weights functions by exponentials of their losses with a fixed share. The search for λ
(`prior="auto"`) and the contest (`kernel="auto"` on a stream) instead take the best one. The table
compares both with a mixture: of leader and rival, and of five learners, one for each λ, which
together have as many atoms as the one with the search. The errors are mean absolute errors of the
last 2,000 rows before they are learned, in standard deviations of the targets. They are means over
three seeds that were used for no choice. The last column is processor time.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Matern
from colk.learners import NewtonCOLK
from colk.model import OnlineFit, Recipe, Settings
from colk_lab.statistics import standard_error
from colk_lab.tables.output import publish
from colk_lab.tables.rivals import CHANGES, stream

SEEDS = (71, 72, 73)
JUDGED, STEP, ATOMS = 2000, 10, 60
# The update of the mixture in the engine: rate, fixed share, largest loss in units of the mean.
RATE, SHARE, MOST = 0.5, 0.001, 10.0

Array = np.ndarray
Predict = Callable[[Array], Array]


class MixedFunctions:
    """Weights of functions by exponentials of their losses, with a fixed share."""

    def __init__(self, n: int) -> None:
        self.weights, self.level, self.count = np.full(n, 1.0 / n), 0.0, 0

    def update(self, losses: Array) -> None:
        """Follow one loss of each function."""
        self.count += 1
        mean = float(self.weights @ losses)
        self.level += (mean - self.level) / min(self.count, 1000)
        lost = np.minimum(losses / (MOST * self.level or 1.0), 1.0)
        weights = self.weights * np.exp(-RATE * lost)
        self.weights = (1.0 - SHARE) * weights / weights.sum() + SHARE / len(weights)


def judge(
    parts: Callable[[], list[Predict]], learn: Callable[[Array, Array], Any], X: Array, y: Array
) -> tuple[float, float]:
    """Return the error of the first function, and that of the mixture of all functions."""
    mixture, errors = MixedFunctions(1), []
    for start in range(0, len(X), STEP):
        rows, functions = slice(start, start + STEP), parts()
        if len(functions) != len(mixture.weights):
            mixture = MixedFunctions(len(functions))
        if start:
            found = np.array([predict(X[rows]) for predict in functions])
            for row in range(found.shape[1]):
                mixed = mixture.weights @ found[:, row]
                errors.append([abs(found[0, row] - y[start + row]), abs(mixed - y[start + row])])
                mixture.update((found[:, row] - y[start + row]) ** 2)
        learn(X[rows], y[rows])
    first, mixed = (np.mean(errors[-JUDGED:], axis=0) / y.std()).tolist()
    return first, mixed


def search(X: Array, y: Array) -> tuple[float, float, float, float]:
    """Compare the search for λ with a mixture of five learners."""

    def learner(prior: Any, max_atoms: int = ATOMS) -> NewtonCOLK:
        rule = KOMP(eps=0.02, max_atoms=max_atoms)
        return NewtonCOLK(Matern(3.0, nu=2.5), prior=prior, compressor=rule)

    single = learner("auto")
    begin = time.process_time()
    chosen, _ = judge(lambda: [single.predict], single.learn, X, y)
    alone = time.process_time() - begin
    unit = learner("auto").learn(X[:10], y[:10]).current_prior
    many = [learner(unit * 10.0 ** (0.5 * k), ATOMS // 5) for k in (0, -2, -1, 1, 2)]

    def learn(points: Array, targets: Array) -> None:
        for each in many:
            each.learn(points, targets)

    begin = time.process_time()
    _, mixed = judge(lambda: [each.predict for each in many], learn, X, y)
    return chosen, mixed, alone, time.process_time() - begin


def contest(X: Array, y: Array) -> tuple[float, float, float, float]:
    """Compare the leader of a contest with a mixture of leader and rival."""
    settings = Settings(loss="squared", solver="newton", forgetting="auto")
    online = OnlineFit(Recipe.from_shape(settings, X.shape[1]).learner(), settings)

    def parts() -> list[Predict]:
        rival = None if online.contest is None else online.contest.rival
        return [each.predict for each in (online.learner, rival) if each is not None]

    def learn(points: Array, targets: Array) -> None:
        online.learn(points, targets, np.ones(len(points)))

    begin = time.process_time()
    leader, mixed = judge(parts, learn, X, y)
    spent = time.process_time() - begin
    return leader, mixed, spent, spent


def main() -> None:
    lines = []
    for name, run in (("search for λ", search), ("contest of kernels", contest)):
        for change in CHANGES:
            found = np.array([run(*stream(change, False, seed)) for seed in SEEDS])
            gap = found[:, 1] - found[:, 0]
            error = standard_error(gap)
            chosen, mixed, alone, spent = found.mean(axis=0)
            pace = f"{spent / alone:.1f}" if run is search else "–"
            change_of = f"{gap.mean():+.4f} ± {error:.4f}"
            lines.append([name, change, f"{chosen:.4f}", f"{mixed:.4f}", change_of, pace])
    heads = ["", "change of the stream", "one function", "mixture", "difference", "times the time"]
    publish("mixtures", heads, lines)


if __name__ == "__main__":
    main()
