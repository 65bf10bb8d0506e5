"""Difficult tables and streams: the error of the defaults and of baselines, and what colk says.

    python -m colk_lab.tables failure_modes

The error is the distance from the truth on new rows, or the mean absolute error before each sample
of a stream is learned, divided by that of the constant, or of the mean so far. Above 1 a method is
worse than the constant; an exception counts as 10. Trees are scikit-learn's boosting on tables and
River's Hoeffding tree on streams. All methods have their defaults. The last column has the
warnings and errors that the user of colk gets. The numbers are means over the seeds of the last
published run of `colk bench`.
"""

from collections.abc import Sequence

import numpy as np

from colk_lab.bench import TRACKS
from colk_lab.bench.cells import CellScore
from colk_lab.bench.scores import read_csv
from colk_lab.tables.output import publish
from colk_lab.tables.real_sets import RUN

PEERS = {
    "hard_tables": ("colk", "linear, tuned", "HistGradientBoosting"),
    "hard_streams": ("colk", "linear", "HoeffdingAdaptiveTree"),
}
HEAD = ("table or stream", "what is difficult", "colk", "linear", "trees", "colk says")


def rows_of(scores: Sequence[CellScore]) -> list[list[str]]:
    """Return a row for each difficult table and stream."""
    rows = []
    for key, peers in PEERS.items():
        for problem, why in TRACKS[key].notes.items():
            own = [score for score in scores if (score.track, score.problem) == (key, problem)]
            if not own:
                continue
            errors = [np.mean([s.values["error"] for s in own if s.peer == peer]) for peer in peers]
            said = {score.texts.get("told", "") for score in own if score.peer == "colk"} - {""}
            shown = "; ".join(sorted(said)).replace("|", "/") or "nothing"
            rows.append([problem, why, *(f"{error:.2f}" for error in errors), shown])
    return rows


def main() -> None:
    rows = rows_of(read_csv(RUN.read_text("utf-8")))
    if not rows:
        raise SystemExit(f"{RUN} has no difficult tables: run colk bench")
    publish("failure_modes", HEAD, rows)


if __name__ == "__main__":
    main()
