"""Error, time and size of all methods on the real sets and streams of the last published benchmark.

    python -m colk_lab.tables real_sets

The error is relative to colk's on the same rows: a geometric mean over the sets, with a 95 %
interval over the repeats. The sets are the final ones, on which nothing was ever chosen, if the run
was a final one. Time is the median over the sets: seconds of a fit, or microseconds per sample of a
stream. Bytes are the median size of a pickled model. `colk bench` computes the scores.
"""

from collections.abc import Sequence

from colk_lab.bench import TRACKS
from colk_lab.bench.cells import CellScore
from colk_lab.bench.page import medians, number
from colk_lab.bench.scores import headline, ratios, read_csv
from colk_lab.tables.output import ROOT, publish

KEYS = ("regression", "classification", "streams", "label_streams", "intervals")
RUN = ROOT / "docs" / "bench" / "bench.csv"
HEAD = ("data, number of sets", "method", "error / colk's", "time", "bytes")


def rows_of(scores: Sequence[CellScore]) -> list[list[str]]:
    """Return a row for each track and method, from the lowest error on."""
    rows = []
    for track in (TRACKS[key] for key in KEYS):
        own = headline([score for score in scores if score.track == track.key])
        compared = ratios(track, own)
        title = f"{track.title}, {len({score.problem for score in own})}"
        costs = {each.name: medians(own, each) for each in track.measures[1:]}
        times, sizes = costs.get("fit time") or costs.get("time", {}), costs.get("bytes", {})
        for peer in sorted(compared, key=lambda name: compared[name].mean):
            ratio = compared[peer]
            shown = (number(found[peer], 2) if peer in found else "–" for found in (times, sizes))
            rows.append([title, peer, f"{ratio.mean:.3f} ± {ratio.half:.3f}", *shown])
    return rows


def main() -> None:
    rows = rows_of(read_csv(RUN.read_text("utf-8")))
    if not rows:
        raise SystemExit(f"{RUN} has no real sets: run colk bench --final")
    publish("real_sets", HEAD, rows)


if __name__ == "__main__":
    main()
