"""Restarts of NewtonCOLK: alarms of the drift detector against no restart.

    python -m colk_lab.tables restarts

2,500 rows of one relationship are followed by 2,500 of another, or of larger noise, moved inputs or
outliers; "gradual" changes over 1,500 rows. The errors are the mean distances from the noiseless
target of the last 2,500 rows before they are learned, over seeds that were used for no choice.
"Restarts" is their number in a stream, with restarts.
"""

from typing import Any

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK
from colk.losses import Huber, Squared
from colk_lab.statistics import standard_error
from colk_lab.tables.output import publish

SEEDS = range(10, 16)
BEFORE, AFTER, CHUNK = 2500, 2500, 50
CHANGES = (
    "reversal", "other feature", "shift by 1.5", "shift by 0.5", "gradual reversal",
    "moved inputs", "three times the noise", "20 % outliers", "none",
)  # fmt: skip

Array = np.ndarray


def stream(change: str, seed: int) -> tuple[Array, Array, Array]:
    """Draw points, noisy targets, and targets without noise."""
    rng, n = np.random.default_rng(seed), BEFORE + AFTER
    X, is_new = rng.normal(size=(n, 3)), np.arange(n) >= BEFORE
    if change == "moved inputs":
        X[is_new] += 1.5
    old = np.sin(2.0 * X[:, 0]) + X[:, 1]
    other = np.sin(2.0 * X[:, 2]) + X[:, 0]
    new = {
        "reversal": -old, "gradual reversal": -old, "other feature": other,
        "shift by 1.5": old + 1.5, "shift by 0.5": old + 0.5,
    }.get(change, old)  # fmt: skip
    share = np.clip((np.arange(n) - BEFORE) / 1500, 0.0, 1.0)
    weight = share if change == "gradual reversal" else is_new.astype(float)
    truth = (1.0 - weight) * old + weight * new
    scale = np.where(is_new & (change == "three times the noise"), 0.6, 0.2)
    y = truth + scale * rng.normal(size=n)
    if change == "20 % outliers":
        y += 10.0 * rng.normal(size=n) * (is_new & (rng.random(n) < 0.2))
    return X, y, truth


def run(change: str, seed: int, **settings: Any) -> tuple[float, int]:
    """Return the mean error after the change, and the number of restarts."""
    X, y, truth = stream(change, seed)
    learner = NewtonCOLK(Gaussian(1.5), compressor=KOMP(eps=0.02, max_atoms=60), **settings)
    learner.learn(X[:BEFORE], y[:BEFORE])
    errors = []
    for start in range(BEFORE, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        errors.append(np.abs(learner.predict(X[rows]) - truth[rows]).mean())
        learner.learn(X[rows], y[rows])
    return float(np.mean(errors)), learner.restarts


def main() -> None:
    lines = []
    for loss in (Squared(), Huber(0.5)):
        for forgetting in (1.0, "auto"):
            for change in CHANGES:
                common = {"loss": loss, "forgetting": forgetting}
                without = [run(change, seed, restart=False, **common)[0] for seed in SEEDS]
                found = np.array([run(change, seed, restart=True, **common) for seed in SEEDS])
                error, restarts = found.mean(axis=0)
                gap = found[:, 0] - without
                doubt = standard_error(gap)
                lines.append(
                    [type(loss).__name__, str(forgetting), change, f"{np.mean(without):.3f}",
                     f"{error:.3f}", f"{gap.mean():+.3f} ± {doubt:.3f}", f"{restarts:.1f}"]
                )  # fmt: skip
    heads = ["loss", "forgetting", "change", "no restart", "restart", "difference", "restarts"]
    publish("restarts", heads, lines)


if __name__ == "__main__":
    main()
