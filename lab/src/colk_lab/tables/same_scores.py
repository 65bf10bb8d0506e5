"""Compare two runs of the benchmark: all scores but times and memory must be equal.

    colk bench --out ONE && colk bench --out TWO
    python -m colk_lab.tables same_scores ONE TWO

The script prints each value that differs or is missing, and exits with 1 if there is one. Two runs
must not share a folder: the second would take the results of the first from its cache.
"""

import argparse
import math
import sys
from pathlib import Path

from colk_lab.bench import TRACKS
from colk_lab.bench.scores import read_csv

Key = tuple[str, str, str, int, str]


def repeating(folder: Path) -> dict[Key, float]:
    """Return the values of a run that every run must find."""
    kept = {(t.key, m.name) for t in TRACKS.values() for m in t.measures if m.repeats}
    return {
        (score.track, score.problem, score.peer, score.seed, name): value
        for score in read_csv((folder / "bench.csv").read_text("utf-8"))
        for name, value in score.values.items()
        if (score.track, name) in kept
    }


def _is_nan(value: float | None) -> bool:
    return value is not None and math.isnan(value)


def differences(one: dict[Key, float], two: dict[Key, float]) -> list[str]:
    """Return a line for each value that differs or that only one run has."""
    found = []
    for key in sorted(one.keys() | two.keys()):
        first, second = one.get(key), two.get(key)
        if first != second and not (_is_nan(first) and _is_nan(second)):
            found.append(f"{', '.join(map(str, key))}: {first} and {second}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs=2, help="folders of two runs")
    one, two = map(repeating, parser.parse_args().folders)
    found = differences(one, two)
    print(*found, f"{len(one)} values, {len(found)} differ", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
