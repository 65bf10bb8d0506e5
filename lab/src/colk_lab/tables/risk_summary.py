"""What a risk gains where it pays, and how much of the mean it costs: a summary of two tables.

A risk pays on a set if its value on new data is below that of the model of the mean, and the 95 %
interval over the seeds does not reach 1. Changes are in percent of the model of the mean: the
median over the sets on which the risk pays, and the smallest and the largest change in brackets.
The last column has the largest change of the risk on the other sets.

    python -m colk_lab.tables risk_summary

Reads docs/tables/risk_pays.md and risk_costs.md, which `risk_pays` writes, and writes
risk_summary.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colk_lab.tables.output import TABLES, publish


class Ratio(NamedTuple):
    """A ratio to the model of the mean, and the half width of its interval."""

    value: float
    half: float

    @property
    def percent(self) -> float:
        """The change in percent."""
        return 100.0 * (self.value - 1.0)


def read(name: str) -> dict[str, dict[str, Ratio]]:
    """Return the ratios of a table, by risk and set."""
    lines = (TABLES / f"{name}.md").read_text("utf-8").splitlines()
    header, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    found: dict[str, dict[str, Ratio]] = {risk: {} for risk in header[1:]}
    for name_of_set, *cells in rows:
        if name_of_set.startswith("processor time"):
            continue
        for risk, cell in zip(header[1:], cells, strict=True):
            value, _, half = cell.partition(" ± ")
            found[risk][name_of_set] = Ratio(float(value), float(half or 0.0))
    return found


def spread(changes: Sequence[float]) -> str:
    """Return the median change, and the range in brackets."""
    rounded = np.quantile(changes, [0.0, 0.5, 1.0]).round().astype(int)
    low, middle, high = (f"{each:+d}" if each else "0" for each in rounded)
    return f"{middle} % ({low} to {high} %)".replace("-", "−")


def summarise() -> None:
    """Write the summary of the two tables."""
    risks, costs = read("risk_pays"), read("risk_costs")
    rows = []
    for risk, ratios in risks.items():
        paying = [name for name, ratio in ratios.items() if ratio.value + ratio.half < 1.0]
        others = [ratio.percent for name, ratio in ratios.items() if name not in paying]
        gains = spread([ratios[name].percent for name in paying])
        prices = spread([costs[risk][name].percent for name in paying])
        worst = f"{max(others):+.1f} %".replace("-", "−")
        rows.append([risk, f"{len(paying)} of {len(ratios)}", gains, prices, worst])
    columns = ["risk", "pays on", "change of the risk there", "change of the mean loss there"]
    publish("risk_summary", [*columns, "largest change of the risk elsewhere"], rows)


if __name__ == "__main__":
    summarise()
