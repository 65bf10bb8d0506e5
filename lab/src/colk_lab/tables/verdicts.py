"""Copy the verdicts of `colk reproduce` and two of its figures into the documents.

colk reproduce all --out results && python -m colk_lab.tables verdicts results

A run of one experiment changes its own rows of the table. A claim with new words replaces the one
at the same place of the paper.
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
    path = DOCS / "tables" / "verdicts.md"
    known = [line.strip("| ").split(" | ") for line in path.read_text("utf-8").splitlines()[2:]]
    rows = merged([(claim, where) for claim, where, _ in known], outcomes)
    old = {claim: outcome for claim, _, outcome in known}
    lines = ["| claim | where | outcome |", "| --- | --- | --- |"]
    for claim, where in rows:
        lines.append(f"| {claim} | {where} | {outcomes.get(claim, (where, old.get(claim)))[1]} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("outliers-boxes", "outliers-clips"):
        if (results / f"{name}.png").exists():
            shutil.copy(results / f"{name}.png", DOCS / "figures" / f"{name.replace('-', '_')}.png")
    print("\n".join(lines))


def merged(
    known: list[tuple[str, str]], outcomes: dict[str, tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return claims and places in the order of the table, with those of the run.

    Examples
    --------
    >>> merged([("a", "1"), ("b", "2")], {"c": ("2", "holds"), "d": ("3", "holds")})
    [('a', '1'), ('c', '2'), ('d', '3')]
    """
    rows = list(known)
    for claim, (where, _) in outcomes.items():
        same = [row for row in rows if row[0] == claim]
        stale = [row for row in rows if row[1] == where and row[0] not in outcomes]
        if same or stale:
            rows[rows.index((same or stale)[0])] = (claim, where)
        else:
            rows.append((claim, where))
    return rows


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
