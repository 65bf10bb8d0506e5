"""Write the numbers and figures of the README and of the site's home page.

    colk bench --final --jobs 2 --out FOLDER
    python -m colk_lab.tables front_figures FOLDER
    python -m pytest lab/tests/bench/test_front.py

A run of the benchmark is copied to docs/bench, with the site's navigation on its page. The blocks
of README.md and docs/index.md that begin with `<!-- bench: NAME -->` are written from its CSV file,
and the tables of real sets and of failure modes, if the run has their tracks. The block `frame` is
docs/tables/frame.md. Without FOLDER the last copied run is used. Each figure is the last one that
an example of the gallery shows.
"""

import argparse
import math
import re
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

from colk_lab.bench import TRACKS
from colk_lab.bench.cells import CellScore
from colk_lab.bench.scores import read_csv, summarise
from colk_lab.markdown import table
from colk_lab.tables import failure_modes, real_sets
from colk_lab.tables.output import ROOT, TABLES

BENCH = ROOT / "docs" / "bench"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
# Figure: example.
FIGURES = {"bike_stream": "plot_bike_stream_against_a_tree"}
_BLOCK = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- end -->)", re.S)

Means = dict[str, dict[str, float]]


def means(scores: list[CellScore], track: str) -> Means:
    """Return the means over seeds of a track with one problem, by measure and peer."""
    own = [score for score in scores if score.track == track]
    found = {}
    for measure in TRACKS[track].measures:
        (by_peer,) = summarise(own, measure.name).values()
        found[measure.name] = {peer: summary.mean for peer, summary in by_peer.items()}
    return found


def block(head: list[str], rows: list[list[str]]) -> str:
    return table(head, rows) + "\n"


def digits(value: float, n: int = 2) -> str:
    """Write a number with n significant digits and commas."""
    places = n - 1 - (math.floor(math.log10(value)) if value >= 10.0 else 0)
    return f"{float(f'{value:.{n}g}'):,.{max(places, 0)}f}"


def promise(scores: list[CellScore]) -> str:
    found = means(scores, "bike")
    error, covered = found["mae"], found["coverage"]["colk"]
    if error["colk"] > 1.05 * error["HistGradientBoosting, fitted weekly"] or covered < 89.5:
        raise SystemExit(f"the promise does not hold in this run: {error}, {covered:.1f} % covered")
    lines = (TABLES / "frame.md").read_text("utf-8").splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in lines]
    by_hand = min(float(each[2]) for each in cells if each[1] == "by hand")
    (own,) = (float(each[2]) for each in cells if each[0] == "colk")
    if own > 1.1 * by_hand:
        raise SystemExit(f"the promise does not hold on the raw table: {own:g} and {by_hand:g}")
    return (
        "**Kernel models for tables as they come and for streams that drift: within a tenth of the "
        "error of boosting\non features made by hand, without such features; no fitting anew; and "
        "intervals that cover.**\n"
    )


def frame(_: list[CellScore]) -> str:
    return (TABLES / "frame.md").read_text("utf-8")


def bike(scores: list[CellScore]) -> str:
    found = means(scores, "bike")
    rows = [
        [
            peer,
            digits(found["mae"][peer]),
            f"{found['coverage'][peer]:.1f} %",
            digits(found["width"][peer], 3),
            digits(found["time"][peer]),
            digits(found["bytes"][peer]),
        ]
        for peer in sorted(found["mae"], key=lambda peer: found["mae"][peer])
    ]
    head = ["each hour before it is learned", "mean error", "inside the 90 % interval"]
    return block([*head, "width of the interval", "µs an hour", "bytes kept"], rows)


def small(scores: list[CellScore]) -> str:
    found = means(scores, "small")
    names = {"colk": "colk, Newton steps"}
    rows = [
        [
            names.get(peer, peer),
            f"{found['mse'][peer]:.1e}",
            "–" if math.isnan(points) else digits(points, 3 if points > 100 else 2),
            digits(found["time"][peer]),
        ]
        for peer, points in found["points"].items()
    ]
    head = ["24,000 samples, a tenth of them outliers", "squared error"]
    return block([*head, "atoms or support vectors", "µs a sample"], rows)


BLOCKS: dict[str, Callable[[list[CellScore]], str]] = {
    "promise": promise,
    "frame": frame,
    "bike": bike,
    "small": small,
}


def rewritten(page: str, scores: list[CellScore]) -> str:
    """Return a page with its blocks made anew."""
    return _BLOCK.sub(lambda match: f"{match[1]}{BLOCKS[match[2]](scores)}{match[3]}", page)


def published() -> list[CellScore]:
    """Return the scores of the copied run."""
    return read_csv((BENCH / "bench.csv").read_text("utf-8"))


def with_navigation(page: str) -> str:
    """Return the page of a run with links to the site's home page and its parts."""
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    entries = re.findall(r"^[\w/]+$", index.rpartition("```{toctree}")[2], re.M)
    names = {name: name.partition("/")[0].capitalize() for name in entries}
    links = {"index": "colk", **names} | ({"api/index": "API"} if "api/index" in names else {})
    line = " · ".join(f'<a href="{name}.html">{text}</a>' for name, text in links.items())
    return page.replace("<body>", f'<body>\n<nav aria-label="Site">{line}</nav>', 1)


def draw() -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for name, example in FIGURES.items():
        plt.show = lambda: None
        runpy.run_path(str(ROOT / "examples" / f"{example}.py"))
        path = ROOT / "docs" / "figures" / f"{name}.png"
        plt.gcf().savefig(path, dpi=120)
        plt.close("all")
        print(path.relative_to(ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="folder of a run of `colk bench`")
    folder = parser.parse_args().folder
    if folder is not None:
        BENCH.mkdir(exist_ok=True)
        shutil.copyfile(folder / "bench.csv", BENCH / "bench.csv")
        page = with_navigation((folder / "bench.html").read_text("utf-8"))
        (BENCH / "bench.html").write_text(page, "utf-8")
    for page in PAGES:
        page.write_text(rewritten(page.read_text("utf-8"), published()), "utf-8")
        print(page.relative_to(ROOT))
    tracks = {score.track for score in published()}
    if "regression" in tracks:
        real_sets.main()
    if "hard_tables" in tracks:
        failure_modes.main()
    draw()


if __name__ == "__main__":
    main()
