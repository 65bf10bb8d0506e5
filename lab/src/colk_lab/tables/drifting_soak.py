"""A long stream whose features, target and scales drift, against three baselines.

Three features wander, their scales change by factors up to 10 and the scale of the target by
factors up to 1000, each at random times, about every 20,000 rows; the weights of the function turn
once in 10⁵ rows. River's regressor at its defaults, behind River's scaler, predicts each row before
it learns it. In each block of 500 rows its mean |error| is compared with those of

- no change: the target of the row before,
- the mean of all targets so far,
- a linear model of the 500 rows before the block.

The model is behind in a block if its error is above the least of the three. The script prints the
longest run of blocks in which it is behind, in rows, and where it ended.

    python -m colk_lab.tables drifting_soak 10000000     rows; seed 1
    python -m colk_lab.tables drifting_soak 300000 5     rows and seed
"""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from river.preprocessing import StandardScaler

from colk.model.baselines import Baselines
from colk.river import COLKRegressor

BLOCK, NAMES = 500, ("a", "b", "c")
CHANGE, TURN, WANDER = 1.0 / 20_000, 1e5, 0.01

Array = np.ndarray


def blocks(n_rows: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield points and targets in blocks."""
    rng = np.random.default_rng(seed)
    place, scale, unit = np.zeros(3), np.ones(3), 1.0
    for start in range(0, n_rows, BLOCK):
        if rng.random() < CHANGE * BLOCK:
            scale = 10.0 ** rng.uniform(-1.0, 1.0, size=3)
        if rng.random() < CHANGE * BLOCK:
            unit = 10.0 ** rng.uniform(-3.0, 3.0)
        walk = place + np.cumsum(WANDER * rng.normal(size=(BLOCK, 3)), axis=0)
        place = walk[-1]
        Z = walk + rng.normal(size=(BLOCK, 3))
        angle = 2.0 * np.pi * (start + np.arange(BLOCK)) / TURN
        signal = np.cos(angle) * np.sin(2.0 * Z[:, 0]) + np.sin(angle) * Z[:, 1] + 0.3 * Z[:, 2]
        yield Z * scale, unit * (signal + 0.2 * rng.normal(size=BLOCK))


def columns(X: Array) -> dict[str, Array]:
    """Return the features by name."""
    return dict(zip(NAMES, X.T, strict=True))


def others(X: Array, y: Array, before: tuple[Array, Array], mean: float) -> dict[str, float]:
    """Return the mean |error| of each baseline in a block."""
    sums = Baselines(NAMES, [], is_classification=False)
    sums.add(columns(before[0]), before[1])
    linear = sums.fitted()
    assert linear is not None
    values = {
        "no change": np.append(before[1][-1], y[:-1]),
        "mean": np.full(len(y), mean),
        "linear": linear.scores(columns(X))[:, 0],
    }
    return {name: float(np.abs(y - found).mean()) for name, found in values.items()}


def main() -> None:
    """Run the stream and print the longest run of blocks behind the best baseline."""
    given = [int(each) for each in sys.argv[1:]]
    n_rows, seed = given[0] if given else 10_000_000, given[1] if given[1:] else 1
    warnings.simplefilter("ignore")
    model, before, total = StandardScaler() | COLKRegressor(), None, 0.0
    run = longest = ended = behind = 0
    for place, (X, y) in enumerate(blocks(n_rows, seed)):
        error = 0.0
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            sample = dict(zip(NAMES, row, strict=True))
            error += abs(target - model.predict_one(sample)) / BLOCK
            model.learn_one(sample, target)
        if before is not None:
            best = min(others(X, y, before, total / (place * BLOCK)).values())
            run = run + 1 if error > best else 0
            behind += run > 0
            if run > longest:
                longest, ended = run, (place + 1) * BLOCK
        before, total = (X, y), total + float(y.sum())
        if (place + 1) * BLOCK % 100_000 == 0:
            print(f"{(place + 1) * BLOCK:,} rows: behind in {behind} blocks, longest run "
                  f"{longest * BLOCK:,} rows, up to row {ended:,}", flush=True)  # fmt: skip
    n_blocks = -(-n_rows // BLOCK)
    print(f"{n_rows:,} rows, seed {seed}: behind in {behind} of {n_blocks} blocks; "
          f"longest run {longest * BLOCK:,} rows, up to row {ended:,}")  # fmt: skip


if __name__ == "__main__":
    main()
