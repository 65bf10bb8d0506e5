"""Delay and false alarms of drift detectors on known drifts of losses.

    python -m colk_lab.tables drift_events [--seeds 10] [--still 1000000]

The losses are those of a model that does not adapt. Each drift begins after 10,000 samples, and a
detector has 5000 more to find it. "False" counts alarms before the drift in all seeds. The last
rows are losses that do not change: the number of alarms in all seeds. DDM takes losses of 0 and 1
only. Detectors of River have their defaults. Writes docs/tables/drift_events.md; takes about
15 minutes of one core at the defaults, one minute with --still 0.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from river import drift

from colk.learners import DriftDetector
from colk_lab.tables.output import publish

BEFORE, AFTER = 10_000, 5000

Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(scale: float) -> Draw:
    return lambda rng, n: np.abs(scale * rng.normal(size=n))


def wrong(share: float) -> Draw:
    return lambda rng, n: (rng.random(n) < share).astype(float)


def heavy(scale: float) -> Draw:
    return lambda rng, n: scale * np.abs(rng.standard_t(2, size=n))


def squares(scale: float) -> Draw:
    return lambda rng, n: (scale * rng.normal(size=n)) ** 2


# Losses before and after; `gradual` mixes them over 2000 samples.
DRIFTS: dict[str, tuple[Draw, Draw, bool]] = {
    "absolute errors × 1.5": (normal(1.0), normal(1.5), False),
    "absolute errors × 3": (normal(1.0), normal(3.0), False),
    "absolute errors × 2, gradual": (normal(1.0), normal(2.0), True),
    "squared errors × 4": (squares(1.0), squares(2.0), False),
    "heavy tails × 2": (heavy(1.0), heavy(2.0), False),
    "5 % wrong labels, then 15 %": (wrong(0.05), wrong(0.15), False),
    "20 % wrong labels, then 40 %": (wrong(0.2), wrong(0.4), False),
    "10 % wrong labels, then 30 %, gradual": (wrong(0.1), wrong(0.3), True),
}
STILL: dict[str, Draw] = {
    "still, absolute errors": normal(1.0),
    "still, heavy tails": heavy(1.0),
    "still, 10 % wrong labels": wrong(0.1),
    "still, 0.4 % wrong labels": wrong(0.004),
}
METHODS: dict[str, Callable[[], Any]] = {
    "colk": DriftDetector,
    "ADWIN": drift.ADWIN,
    "DDM": drift.binary.DDM,
    "Page–Hinkley": drift.PageHinkley,
}


def alarms(detector: Any, losses: np.ndarray) -> list[int]:
    found = []
    for t, loss in enumerate(losses.tolist()):
        detector.update(loss)
        if detector.drift_detected:
            found.append(t)
    return found


def losses_of(name: str, seed: int) -> np.ndarray:
    early, late, gradual = DRIFTS[name]
    rng = np.random.default_rng(seed)
    before, after = early(rng, BEFORE + AFTER), late(rng, BEFORE + AFTER)
    share = np.clip((np.arange(BEFORE + AFTER) - BEFORE) / 2000.0, 0.0, 1.0)
    changed = share > 0.0 if not gradual else rng.random(BEFORE + AFTER) < share
    changed[BEFORE] = changed[BEFORE] or not gradual
    return np.where(changed, after, before)


def cell(method: str, name: str, seeds: range) -> str:
    """Return the median delay, how often there was none, and the false alarms."""
    if method == "DDM" and "labels" not in name:
        return "–"
    delays, false, missed = [], 0, 0
    for seed in seeds:
        found = alarms(METHODS[method](), losses_of(name, seed))
        false += sum(t < BEFORE for t in found)
        late = [t - BEFORE for t in found if t >= BEFORE]
        missed += not late
        delays += late[:1]
    delay = f"{np.median(delays):.0f}" if delays else "–"
    return f"{delay}; {missed} missed; {false} false"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=2000, help="the first seed")
    parser.add_argument("--still", type=int, default=1_000_000, help="samples that do not change")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    rows = []
    for name in DRIFTS:
        rows.append([name, *(cell(method, name, seeds) for method in METHODS)])
        print(rows[-1], flush=True)
    for name, draw in STILL.items() if arguments.still else ():
        row = [f"{name}, {arguments.still:,} samples"]
        for method, make in METHODS.items():
            if method == "DDM" and "labels" not in name:
                row.append("–")
                continue
            streams = (draw(np.random.default_rng(seed), arguments.still) for seed in seeds)
            row.append(f"{sum(len(alarms(make(), losses)) for losses in streams)} false")
        rows.append(row)
        print(row, flush=True)
    publish("drift_events", ["losses", *METHODS], rows)


if __name__ == "__main__":
    main()
