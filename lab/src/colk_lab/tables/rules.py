"""What each rule is worth: the loss without it, on development sets, hard tables and streams.

    python -m colk_lab.tables rules [--only TEXT] [--sets A B] [--seeds 3] [--jobs 1]

A rule is switched off by other values of its constants (`rule_tasks.switched`). The same rows are
fitted with and without it. A set needs the rule if its loss without it is higher, by more than the
standard error of the difference over the seeds, which draw the split, the fit and the hard table.
Rules that at least two sets need stay; others need a guarantee, which the last column names.
Results are kept in `--folder`, so that a run that was stopped goes on, and rules can be added.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from colk_lab.data import SETS
from colk_lab.runner import Runner, Watch
from colk_lab.tables.output import publish
from colk_lab.tables.rule_list import RULES, Rule
from colk_lab.tables.rule_tasks import fit_score, stream_score
from colk_lab.tasks import Task

FITS = (
    "airfoil", "boom_bikes", "communities", "concrete", "cpu_performance", "diabetes",
    "medical_cost", "mortgage", "qsar_fish_toxicity", "residential_building", "quake", "wizmir",
    "yacht_hydrodynamics", "german", "hypothyroid", "phoneme", "vehicle", "yeast",
    "heavy-tailed targets", "outliers", "wild cells", "many columns", "only interactions",
    "rotated features", "thresholds", "many categories", "new categories", "gaps", "telling gaps",
    "skewed targets", "only noise", "few-valued features", "rare class", "wrong labels",
)  # fmt: skip
STREAMS = (
    "TrumpApproval", "ChickWeights", "bike rentals", "WaterFlow",
    "electrical_grid_stability, drawn",
    "Bananas", "Phishing", "ImageSegments", "abrupt change", "gradual change", "growing scale",
    "shrinking scale", "gaps arrive", "a feature is replaced", "new categories arrive", "clock",
    "random walk", "bursts", "stuck sensor",
)  # fmt: skip


class Told(Watch):
    """Prints each finished task."""

    def finish(self, name: str, seconds: float, *, found: bool = False) -> None:
        """Print the name of a task that ran."""
        if not found:
            print(name, flush=True)


def tasks_of(rule: Rule, fits: Sequence[str], streams: Sequence[str], seeds: int) -> list[Task]:
    """Return the tasks of a rule; those of no rule are the base of all differences."""
    found = []
    for function, names, kind in ((fit_score, fits, "fit"), (stream_score, streams, "stream")):
        if rule.where in (kind, "both"):
            found += [
                Task(function, {"changes": rule.changes, "name": name, "seed": seed},
                     f"{rule.name}: {name}, {seed}")
                for name in names
                for seed in range(seeds)
            ]  # fmt: skip
    return found


def line(rule: Rule, base: list[Task], found: dict[str, Any], changed: list[Any]) -> list[str]:
    """Return the row of a rule: how many sets need it, and how the loss and the time change."""
    losses: dict[str, list[tuple[float, float]]] = {}
    times = []
    for task, result in zip(base, changed, strict=True):
        known = found[str(task.settings)]
        pair = (float(known["loss"]), float(result["loss"]))
        losses.setdefault(task.settings["name"], []).append(pair)
        times.append(float(known["seconds"]) / float(result["seconds"]))
    logs = {
        name: np.diff(np.log(np.maximum(pairs, 1e-12)), axis=1).ravel()
        for name, pairs in losses.items()
    }
    touched = {name: change for name, change in logs.items() if np.abs(change).max() > 1e-9}
    worse, better = [], []
    for name, change in touched.items():
        error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
        if abs(change.mean()) > error:
            (worse if change.mean() > 0.0 else better).append((float(change.mean()), name))
    mean = 100.0 * np.mean([change.mean() for change in touched.values()]) if touched else 0.0
    least = ", ".join(f"{name} {100 * gain:+.0f} %" for gain, name in sorted(worse)[:-3:-1])
    most = ", ".join(f"{name} {100 * gain:+.0f} %" for gain, name in sorted(better)[:2])
    return [
        rule.name, f"{len(touched)} of {len(logs)}", str(len(worse)), str(len(better)),
        f"{mean:+.1f} %", f"{np.median(times):.2f}", least, most, rule.guarantee,
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rules whose names contain this")
    parser.add_argument("--sets", nargs="*", default=FITS)
    parser.add_argument("--streams", nargs="*", default=STREAMS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("runs", "rules"))
    given = parser.parse_args()
    assert all(SETS[name].part == "development" for name in given.sets if name in SETS)
    run = Runner(given.folder, given.jobs, Told())
    sizes = given.sets, given.streams, given.seeds
    rows = []
    for rule in RULES:
        if given.only not in rule.name:
            continue
        base = tasks_of(Rule("all rules", {}, rule.where), *sizes)
        found = {str(task.settings): result for task, result in zip(base, run(base), strict=True)}
        rows.append(line(rule, base, found, run(tasks_of(rule, *sizes))))
        print(rows[-1], flush=True)
    header = ["without", "sets with a change", "worse", "better", "loss", "time with / without"]
    publish("rules", [*header, "worst", "best", "a guarantee"], rows)


if __name__ == "__main__":
    main()
