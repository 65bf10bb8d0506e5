"""Copy the verdicts of `colk reproduce` and two of its figures into the documents.

colk reproduce all --out results && python -m colk_lab.tables verdicts results
"""

import csv
import shutil
import sys
from pathlib import Path

from colk_lab.tables.output import ROOT

DOCS = ROOT / "docs"


def main(results: Path) -> None:
    with (results / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        outcomes = {row["claim"]: (row["where"], row["outcome"]) for row in csv.DictReader(file)}
    lines = ["| claim | where | outcome |", "| --- | --- | --- |"]
    lines += [f"| {claim} | {where} | {outcome} |" for claim, (where, outcome) in outcomes.items()]
    (DOCS / "tables" / "verdicts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("outliers-boxes", "outliers-clips"):
        shutil.copy(results / f"{name}.png", DOCS / "figures" / f"{name.replace('-', '_')}.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
