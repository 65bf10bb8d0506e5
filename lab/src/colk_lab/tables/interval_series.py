"""Intervals on series with published forecasts, and quantile tracking with the best of its rates.

    python -m colk_lab.tables interval_series FOLDER [--write]

FOLDER has .npz files with the targets `y` and forecasts of them by several models, such as those
published with "Conformal PID control for time series prediction" (Angelopoulos, Candès, Tibshirani,
2023). 90 % intervals around each forecast are made one by one; the rows after the first 300 count.
"Quantile tracking" is that paper's tracker for both ends, whose step is a rate times the range of
the last 100 scores; of the rates .005 to .5, that with the least interval score is taken after the
fact. `colk` was tuned on other series; its correction was made firmer after a first look here.

Prints the table, or writes docs/tables/interval_series.md; takes some minutes.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from colk.conformal import AdaptiveInterval
from colk.conformal.rule import IntervalRule
from colk_lab.tables.output import publish, table

COVERAGE, WARM = 0.9, 300
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def by_rule(errors: np.ndarray, rule: IntervalRule) -> np.ndarray:
    """Return the ends of the intervals relative to the forecasts."""
    ends, point, forecast = np.empty((len(errors), 2)), np.zeros((1, 0)), np.zeros((1, 2))
    for t in range(len(errors)):
        ends[t] = rule.ends(COVERAGE, point, forecast)[0]
        rule.learn(point, forecast, errors[t : t + 1])
    return ends


def tracker(scores: np.ndarray, rate: float) -> np.ndarray:
    """Return the upper ends by quantile tracking."""
    share, end, found = 0.5 * (1.0 - COVERAGE), 0.0, np.empty(len(scores))
    for t, score in enumerate(scores):
        found[t] = end
        step = rate * (np.ptp(scores[max(0, t - 100) : t + 1]) if t else 1.0)
        end += step * (float(score > end) - share)
    return found


def by_tracking(errors: np.ndarray) -> np.ndarray:
    """Return the ends by quantile tracking with the best of the rates."""
    ends = [np.column_stack([-tracker(-errors, rate), tracker(errors, rate)]) for rate in RATES]
    return min(ends, key=lambda each: measured(errors, each)[-1])


def measured(errors: np.ndarray, ends: np.ndarray) -> list[float]:
    """Return coverage, widths, infinite widths, longest run of misses and interval score."""
    late, (low, high), y = bool(np.isinf(ends[30:]).any()), ends[WARM:].T, errors[WARM:]
    missed, longest, run = (y < low) | (y > high), 0, 0
    for each in missed:
        run = run + 1 if each else 0
        longest = max(longest, run)
    beyond = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    score = (high - low + 2.0 / (1.0 - COVERAGE) * beyond).mean()
    widths = high - low
    return [1.0 - missed.mean(), np.median(widths), widths.mean(), longest, late, score]


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "`rule=AdaptiveInterval()`": lambda errors: by_rule(
        errors, IntervalRule(COVERAGE, adaptive=AdaptiveInterval())
    ),
    "quantile tracking, best rate": by_tracking,
    "default": lambda errors: by_rule(errors, IntervalRule(COVERAGE)),
    "`series=True`": lambda errors: by_rule(errors, IntervalRule(COVERAGE, series=True)),
}


def rows(folder: Path) -> list[list[str]]:
    lines = []
    for path in sorted(folder.glob("*.npz")):
        series = np.load(path)
        for name in (name for name in series if name != "y"):
            for label, method in METHODS.items():
                errors = series["y"] - series[name]
                coverage, median, mean, longest, late, score = measured(errors, method(errors))
                lines.append(
                    [
                        *(f"{path.stem}, {name}", label, f"{coverage:.3f}", f"{median:.3f}"),
                        *(f"{mean:.3f}", f"{longest}", "yes" if late else "no", f"{score:.3f}"),
                    ]
                )
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="write docs/tables")
    arguments = parser.parse_args()
    columns = ["series", "rule", "coverage", "median width", "mean width", "longest run of misses",
               "infinite after row 30", "interval score"]  # fmt: skip
    lines = rows(arguments.folder)
    if arguments.write:
        publish("interval_series", columns, lines)
    else:
        print(table(columns, lines))


if __name__ == "__main__":
    main()
