"""What the tasks of `colk reproduce` cost, from a full run: by this the time left is told.

colk reproduce --jobs 1 --out results && python benchmarks/costs.py results
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

COSTS = Path(__file__).parents[1] / "src" / "colk" / "experiments" / "costs.csv"


def main(results: Path) -> None:
    seconds, sizes = defaultdict(float), defaultdict(float)
    with (results / "durations.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seconds[row["name"]] += float(row["seconds"])
            sizes[row["name"]] += float(row["size"])
    with COSTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "seconds"))
        writer.writerows((name, f"{seconds[name] / sizes[name]:.3g}") for name in seconds)
    print(f"{len(seconds)} costs, {sum(seconds.values()):.0f} s in all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
